// SPDX-License-Identifier: Apache-2.0
// Hundreds of variations of one recipe, from tables that were written without looking at the
// register: what only moves work must pass, what trains something else must not, alone, beside a
// harmless lever and behind one that moves it.
#include <set>

#include "cases.h"

namespace setpoint::judge {
namespace {

using Json = base::Json;

class Variations : public testing::Test {
 protected:
  const Json table_ = case_file("variations.json");
  const Judges& judges_ = judges_of("megatron-core");
  const recipe::Run base_ = base_of(Json{{"base", table_["base"]}, {"version", "0.20.0"}});

  GateReport judged(std::initializer_list<Json> changes) const {
    recipe::Run candidate = base_;
    for (const Json& change : changes) put(change, candidate.values.parameters);
    return gate_before({base_}, {candidate}, judges_.by, judges_.defects);
  }
};

// Every cut of 64 GPUs that the recipe's sizes allow, with what has to move along.
std::vector<Json> splits() {
  std::vector<Json> out;
  constexpr int kGpus = 64, kLayers = 48, kBatch = 256;
  for (const int tp : {1, 2, 4, 8}) {
    for (const int pp : {1, 2, 4, 8}) {
      for (const int cp : {1, 2}) {
        for (const int ep : {1, 2, 4, 8, 16}) {
          for (const int chunks : {1, 2, 3}) {
            const int dp = kGpus / (tp * pp * cp);
            if (dp < 1 || ep * pp > kGpus || (chunks > 1 && pp == 1)) continue;
            if (kLayers % (pp * chunks) != 0 || (kBatch / dp) % pp != 0) continue;
            Json split{{"tensor_model_parallel_size", tp},
                       {"pipeline_model_parallel_size", pp},
                       {"transformer_pipeline_model_parallel_size", pp},
                       {"context_parallel_size", cp},
                       {"expert_model_parallel_size", ep},
                       {"data_parallel_size", dp},
                       {"sequence_parallel", tp > 1}};
            if (chunks > 1) split["virtual_pipeline_model_parallel_size"] = chunks;
            out.push_back(split);
          }
        }
      }
    }
  }
  return out;
}

TEST_F(Variations, ThatOnlyMoveWorkPass) {
  std::set<std::string> distinct;
  int passed = 0, all = 0;
  const auto check = [&](const GateReport& report, const Json& what) {
    if (report.verdict == Outcome::unchanged) return;
    ++all;
    const bool pass = report.verdict == Outcome::pass;
    passed += pass;
    if (pass) distinct.insert(report.effective_hash);
    EXPECT_TRUE(pass) << what << shown(report);
  };
  const auto cuts = splits();
  for (const Json& split : cuts) check(judged({split}), split);
  for (const Json& lever : table_["levers"]) {
    check(judged({lever}), lever);
    for (std::size_t i = 3; i < cuts.size(); i += 37) check(judged({cuts[i], lever}), lever);
  }
  RecordProperty("passed", passed);
  EXPECT_EQ(passed, all);
  EXPECT_GE(distinct.size(), 460U);
}

TEST_F(Variations, ThatTrainSomethingElseAreRejectedAlone) {
  int count = 0;
  for (const Json& change : table_["trained"]) {
    const GateReport report = judged({change});
    EXPECT_EQ(report.verdict, Outcome::reject) << change << shown(report);
    ++count;
  }
  RecordProperty("count", count);
  EXPECT_GE(count, 100);
}

TEST_F(Variations, ThatTrainSomethingElseAreRejectedBesideAHarmlessLever) {
  int count = 0;
  const Json& levers = table_["levers"];
  for (const Json& change : table_["trained"]) {
    const GateReport report =
        judged({levers[static_cast<std::size_t>(count) % levers.size()], change});
    EXPECT_EQ(report.verdict, Outcome::reject) << change << shown(report);
    ++count;
  }
  EXPECT_GE(count, 100);
}

TEST_F(Variations, ThatMoveBehindALeverAreRejectedWhoeverAskedForIt) {
  for (const Json& hidden : table_["hidden"]) {
    recipe::Run candidate = base_;
    recipe::FinalValues asked = base_.values;
    put(hidden["lever"], asked.parameters);
    put(hidden["lever"], candidate.values.parameters);
    put(hidden["moves"], candidate.values.parameters);
    const GateReport report =
        gate_before({base_, &base_.values}, {candidate, &asked}, judges_.by, judges_.defects);
    EXPECT_EQ(report.verdict, Outcome::reject) << hidden << shown(report);
    bool flagged = false;
    for (const Finding& finding : report.findings) {
      flagged |= finding.unasked && hidden["moves"].contains(finding.name);
    }
    EXPECT_TRUE(flagged) << hidden << shown(report);
  }
}

}  // namespace
}  // namespace setpoint::judge
