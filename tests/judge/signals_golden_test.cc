// SPDX-License-Identifier: Apache-2.0
// The measured runs of tests/golden/gate_signals.csv through the limits: what is caught, what is
// not, and that no legitimate run is refused.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <sstream>

#include "judge/signals.h"

namespace setpoint::judge {
namespace {

struct Row {
  std::string scenario, kind, run, caught;
  Distances distances;
};

std::vector<std::string> cells(const std::string& line) {
  std::vector<std::string> out;
  std::stringstream in(line);
  for (std::string cell; std::getline(in, cell, ',');) out.push_back(cell);
  if (line.ends_with(',')) out.emplace_back();
  return out;
}

std::vector<Row> rows() {
  std::ifstream in(SETPOINT_SOURCE_DIR "/tests/golden/gate_signals.csv");
  std::vector<std::string> head;
  std::vector<Row> out;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with('#')) continue;
    const auto values = cells(line);
    if (head.empty()) {
      head = values;
      continue;
    }
    Row& row = out.emplace_back();
    row.scenario = values[0];
    row.kind = values[1];
    row.run = values[2];
    row.caught = values.back();
    for (std::size_t i = 3; i + 1 < values.size(); ++i) {
      if (values[i].empty()) continue;
      const double value = std::stod(values[i]);
      if (head[i] == "gradient") row.distances.gradients["largest"] = value;
      for (const SignalInfo& info : signal_table()) {
        if (info.name == head[i]) row.distances[info.signal] = value;
      }
    }
  }
  return out;
}

std::vector<Distances> variants(const std::vector<Row>& all, const std::string& scenario) {
  std::vector<Distances> out;
  for (const Row& row : all) {
    if (row.scenario == scenario && row.kind == "variant") out.push_back(row.distances);
  }
  return out;
}

std::map<std::string, std::string> failing(const std::vector<Row>& all, const Row& row) {
  std::map<std::string, std::string> out;
  const bool single = row.scenario.ends_with("fp32");
  const auto legitimate = variants(all, row.scenario);
  for (const auto& found : judge_signals(row.distances, {legitimate, {}, single})) {
    if (found.sign == Sign::fail)
      out[std::string(signal_table()[static_cast<std::size_t>(found.signal)].name)] = found.where;
  }
  return out;
}

TEST(GateSignals, RefuseNoLegitimateRun) {
  const auto all = rows();
  int legitimate = 0;
  for (const Row& row : all) {
    if (row.kind == "fault") continue;
    ++legitimate;
    const auto found = failing(all, row);
    EXPECT_TRUE(found.empty()) << row.scenario << " " << row.run << ": " << found.begin()->first;
  }
  EXPECT_EQ(legitimate, 102);
}

// Per tensor the experiment caught 217 of the 221 (the other four changed nothing, or not that the
// signals can tell). Here only the largest gradient distance of a run is known, so the limit is
// that of the worst tensor: what is lost by that is counted apart.
TEST(GateSignals, CatchThePlantedFaults) {
  const auto all = rows();
  int faults = 0, caught = 0, only_per_tensor = 0, not_caught = 0;
  for (const Row& row : all) {
    if (row.kind != "fault") continue;
    ++faults;
    const bool here = !failing(all, row).empty();
    caught += here;
    if (here) {
      EXPECT_NE(row.caught, "") << row.scenario << " " << row.run;
    } else if (row.caught == "grad") {
      ++only_per_tensor;
    } else {
      ++not_caught;
      EXPECT_EQ(row.caught, "") << row.scenario << " " << row.run;
    }
  }
  EXPECT_EQ(faults, 221);
  EXPECT_EQ(caught + only_per_tensor, 217);
  EXPECT_EQ(not_caught, 4);
  RecordProperty("caught", caught);
  RecordProperty("only_per_tensor", only_per_tensor);
  EXPECT_GE(caught, 212) << only_per_tensor;
}

// With a log alone and no variants, the table of a campaign without calibration: far less is seen,
// which is why missing signals lower the gate's power.
TEST(GateSignals, ALogAloneSeesFarLess) {
  const auto all = rows();
  int caught = 0, wrong = 0;
  for (const Row& row : all) {
    Distances log;
    for (const Signal s : {Signal::loss, Signal::norm, Signal::later_loss, Signal::later_norm})
      log[s] = row.distances[s];
    bool fails = false;
    for (const auto& found : judge_signals(log, {})) fails |= found.sign == Sign::fail;
    (row.kind == "fault" ? caught : wrong) += fails;
  }
  EXPECT_EQ(wrong, 0);
  EXPECT_GT(caught, 11);   // the 5 % rule on the first loss alone
  EXPECT_LT(caught, 157);  // the calibrated limits on the same four numbers
  RecordProperty("caught", caught);
}

}  // namespace
}  // namespace setpoint::judge
