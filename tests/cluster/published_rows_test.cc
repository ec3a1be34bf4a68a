// SPDX-License-Identifier: Apache-2.0
// The step-time model against published throughput: tests/golden/train/published_rows.json holds
// Megatron-Bridge's performance pages (containers 25.09 to 26.08), each row with the settings of
// the performance recipe of its release.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "base/file.h"
#include "cluster/sim/step_time.h"
#include "rank_correlation.h"

namespace setpoint::cluster {
namespace {

struct Row {
  std::string model, container, system, precision;
  std::int64_t gpus = 0;
  double published = 0, tflops = 0, computed = 0, flops_per_token = 0, memory_share = 0;
  StepTerms terms;
};

Row computed(const base::Json& json) {
  Row row;
  row.model = json["model"];
  row.container = json["container"];
  row.system = json["system"];
  row.precision = json["precision"].is_null() ? "" : json["precision"].get<std::string>();
  row.gpus = json["gpus"];
  row.published = json["tokens_per_s_per_gpu"];
  row.tflops = json["tflops_per_gpu"].is_null() ? 0 : json["tflops_per_gpu"].get<double>();
  auto values = shipped_model(row.model);
  EXPECT_TRUE(values.ok());
  for (const auto& [name, value] : json["settings"].items()) values->parameters[name] = value;
  const auto model = read_train_model(*values);
  EXPECT_TRUE(model.ok()) << model.error().text;
  const auto layout = read_layout(*values, model.value(), row.gpus);
  EXPECT_TRUE(layout.ok()) << json.dump() << layout.error().text;
  const auto system = hw::find_system(row.system);
  EXPECT_TRUE(system.ok());
  if (!layout.ok()) return row;
  const Machine machine{system.value(), {}};
  row.terms = step_time(model.value(), layout.value(), machine);
  row.computed = tokens_per_s_per_gpu(layout.value(), row.terms.total());
  row.flops_per_token = model.value().flops_per_token(layout.value().sequence);
  row.memory_share = memory(model.value(), layout.value(), machine).total() /
                     static_cast<double>(machine.system.gpu.memory.value());
  return row;
}

std::map<std::string, std::vector<Row>> rows_by_model() {
  const auto text =
      base::read_file(std::string(SETPOINT_SOURCE_DIR) + "/tests/golden/train/published_rows.json");
  EXPECT_TRUE(text.ok());
  const auto json = base::parse_json(text.value(), "published_rows.json");
  EXPECT_TRUE(json.ok());
  std::map<std::string, std::vector<Row>> rows;
  for (const base::Json& row : json.value()) rows[row["model"]].push_back(computed(row));
  return rows;
}

void print(const Row& row) {
  const StepTerms& t = row.terms;
  const double total = t.total().value();
  const auto share = [&](Ms term) { return 100 * (term.value() / total); };
  fmt::print(
      "{:16} {:8} {:9} {:6} {:5} published {:8.0f} computed {:8.0f} {:+6.1f} %  memory {:3.0f} % | "
      "compute {:2.0f} again {:2.0f} passes {:2.0f} tp {:2.0f} cp {:2.0f} ep {:2.0f} pp {:2.0f} dp "
      "{:2.0f} bubble {:2.0f} imb {:2.0f} host {:2.0f} opt {:2.0f} gaps {:2.0f}\n",
      row.model, row.container, row.system, row.precision, row.gpus, row.published, row.computed,
      100 * (row.computed / row.published - 1), 100 * row.memory_share, share(t.compute),
      share(t.recompute), share(t.memory_passes), share(t.tp), share(t.cp), share(t.ep),
      share(t.pp), share(t.dp), share(t.bubble), share(t.imbalance), share(t.host),
      share(t.optimizer), share(t.gaps));
}

TEST(PublishedRows, AreOrderedWithinEveryModelOfAtLeastEightRows) {
  int models = 0;
  for (const auto& [model, rows] : rows_by_model()) {
    std::vector<double> published, ours;
    for (const Row& row : rows) {
      print(row);
      published.push_back(row.published);
      ours.push_back(row.computed);
    }
    const double rho = rank_correlation(published, ours);
    fmt::print("{}: {} rows, Spearman {:.3f}\n", model, rows.size(), rho);
    if (rows.size() < 8) continue;
    ++models;
    EXPECT_GE(rho, 0.9) << model;
  }
  EXPECT_EQ(models, 7);
}

TEST(PublishedRows, StateTheRateThatTheWorkPerTokenGives) {
  for (const auto& [model, rows] : rows_by_model()) {
    double sum = 0;
    int count = 0;
    for (const Row& row : rows) {
      if (row.tflops <= 0) continue;
      const double error = row.flops_per_token * row.published / 1e12 / row.tflops - 1;
      EXPECT_LT(std::abs(error), 0.025) << model << row.container << row.system;
      sum += error;
      ++count;
    }
    fmt::print("{}: work per token {:+.2f} % over {} rows\n", model, 100 * sum / count, count);
    EXPECT_LT(std::abs(sum / count), 0.011) << model;
  }
}

TEST(PublishedRows, FitTheirGpus) {
  for (const auto& [model, rows] : rows_by_model()) {
    for (const Row& row : rows) {
      // The page lists this row as plain data parallelism over 64 GPUs, which holds 18 bytes per
      // weight on none of them.
      if (model == "llama3_70b" && row.container == "26.02.01") continue;
      EXPECT_LT(row.memory_share, 1.0) << model << row.container << row.system << row.precision;
    }
  }
}

}  // namespace
}  // namespace setpoint::cluster
