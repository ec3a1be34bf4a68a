// SPDX-License-Identifier: Apache-2.0
// The records of a small campaign, in order, as a judge would write them: five baseline runs of 8
// GPUs for half an hour, one trial that beats the baseline and is confirmed, one that runs out of
// memory.
#pragma once

#include <fmt/format.h>

#include "base/sha256.h"
#include "ledger/ledger.h"

namespace setpoint::test {

using base::Json;
using ledger::Actor;
using ledger::Draft;

inline std::string digest(const std::string& of) { return base::sha256_hex(of); }

inline Json contract_fields() {
  return {{"format", 1},
          {"name", "glm45-b200"},
          {"recipe", digest("recipe")},
          {"model", "GLM-4.5"},
          {"checkpoint", "none"},
          {"data", "mock"},
          {"data_order", "seed 1"},
          {"sequence_length", 4096},
          {"examples_per_step", 256},
          {"precision", "bf16"},
          {"optimizer", "adam"},
          {"cluster", {{"kind", "sim"}, {"seed", 7}}},
          {"gpus", 8},
          {"framework", "megatron-bridge"},
          {"framework_version", "0.6.2"},
          {"container", "none"},
          {"register_hash", digest("register")},
          {"defect_hash", digest("defects")},
          {"steps", 20},
          {"warmup_steps", 5},
          {"score_rule", "total tokens / total time of the scored steps / GPUs"},
          {"time_limit_s", 7200},
          {"time_limit_factor", 2},
          {"budget_gpu_hours", 120},
          {"baseline_purse_gpu_hours", 128},
          {"baseline_runs", 5},
          {"seeds", {1}}};
}

class Records {
 public:
  std::vector<Draft> all;

  void add(const std::string& kind, Json fields, Actor actor = Actor::judge) {
    all.push_back({kind, std::move(fields), actor});
  }
  void phase(const std::string& to) { add("phase", {{"to", to}, {"reason", "test"}}); }

  void intent(const std::string& trial, const std::string& purpose, const std::string& proposal,
              const std::string& recipe, double limit_s) {
    Json fields{{"trial", trial},
                {"purpose", purpose},
                {"snapshot", digest("snapshot of " + recipe)},
                {"effective_hash", digest(recipe)},
                {"gpus", 8},
                {"time_limit_s", limit_s},
                {"reserve_gpu_hours", 8 * limit_s / 3600},
                {"lease", "lease-" + trial}};
    if (!proposal.empty()) fields["proposal"] = proposal;
    add("intent", fields);
  }
  // Allocated, run, released and charged: 8 GPUs for `seconds`.
  void launch(const std::string& trial, const std::string& purpose, const std::string& outcome,
              double seconds) {
    const std::string purse = purpose == "baseline" ? "baseline" : "campaign";
    const std::string id = "job-" + trial;
    add("allocation",
        {{"allocation", id},
         {"trial", trial},
         {"nodes", Json::array({{{"node", "n" + trial}, {"gpus", 8}, {"start_s", clock}}})},
         {"cluster_now_s", clock}},
        Actor::cluster);
    add("run", {{"trial", trial},
                {"outcome", outcome},
                {"exit", outcome == "done" ? 0 : 1},
                {"start_s", clock + 10},
                {"end_s", clock + seconds - 5}});
    clock += seconds;
    const bool by_cluster = outcome == "preempted" || outcome == "node_failure";
    Json release{{"allocation", id},
                 {"nodes", Json::array({{{"node", "n" + trial}, {"end_s", clock}}})},
                 {"how", by_cluster ? outcome : "released"},
                 {"cluster_now_s", clock}};
    if (outcome == "node_failure") release["health_record"] = "n" + trial + ": GPU 3, Xid 79";
    add("release", release, Actor::cluster);
    const double hours = 8 * seconds / 3600;
    spent[purse] += hours;
    add("charge", {{"trial", trial},
                   {"allocation", id},
                   {"gpu_hours", hours},
                   {"category", purpose},
                   {"purse", purse},
                   {"total_gpu_hours", spent[purse]},
                   {"overrun", false}});
  }
  void gate2(const std::string& trial, const std::string& verdict = "ok") {
    add("gate2", {{"trial", trial}, {"signals", Json::array()}, {"verdict", verdict}});
  }
  void score(const std::string& trial, double score, double threshold) {
    add("score", {{"trial", trial},
                  {"tokens_per_s_per_gpu", score},
                  {"steps", {6, 20}},
                  {"compared_with", "baseline"},
                  {"threshold", threshold},
                  {"beats", score > threshold},
                  {"parked", false}});
  }
  void propose(const std::string& id, const std::string& recipe) {
    add("hypothesis",
        {{"id", "h-" + id},
         {"bottleneck", "communication"},
         {"why", "the profile says 40 %"},
         {"expected_gain_percent", 8},
         {"lever", "tp"},
         {"parameters", Json::array()},
         {"parent", "baseline"}},
        Actor::agent);
    add("proposal",
        {{"id", id},
         {"hypothesis", "h-" + id},
         {"diff", {{"tp", 1}}},
         {"requested_hash", digest("requested " + recipe)},
         {"levers", {"tp"}}},
        Actor::agent);
    add("gate1", {{"proposal", id},
                  {"effective_hash", digest(recipe)},
                  {"differences", Json::array()},
                  {"unknown", Json::array()},
                  {"defects", Json::array()},
                  {"verdict", "pass"}});
  }

  double clock = 1000;
  std::map<std::string, double> spent;
};

inline std::vector<Draft> whole_campaign() {
  Records r;
  r.add("contract", contract_fields(), Actor::person);
  r.phase("baseline");
  Json runs = Json::array();
  int index = 0;
  for (const double score : {1000.0, 1004.0, 996.0, 1008.0, 992.0}) {
    const std::string id = fmt::format("b{}", ++index);
    r.intent(id, "baseline", "", "baseline", 7200);
    r.launch(id, "baseline", "done", 1800);
    r.gate2(id);
    r.add("baseline_run", {{"trial", id},
                           {"machines", {"n" + id}},
                           {"valid", true},
                           {"tokens_per_s_per_gpu", score},
                           {"wall_s", 1800}});
    runs.push_back(id);
  }
  r.add("noise", {{"n", 5},
                  {"mean", 1000},
                  {"sd", 6.324555320336759},
                  {"sigma", 0.006324555320336759},
                  {"band", 0.03},
                  {"runs", runs}});
  r.phase("ready");
  r.phase("searching");
  r.propose("p1", "tp1");
  r.intent("t1", "trial", "p1", "tp1", 3600);
  r.launch("t1", "trial", "done", 1700);
  r.gate2("t1");
  r.score("t1", 1060, 1030);
  r.intent("t2", "confirm", "p1", "tp1", 3600);
  r.launch("t2", "confirm", "done", 1700);
  r.gate2("t2");
  r.score("t2", 1050, 1030);
  r.add("promotion", {{"trial", "t1"},
                      {"confirming_trial", "t2"},
                      {"mean", 1055},
                      {"threshold", 1030},
                      {"replaced", true}});
  r.propose("p2", "too big");
  r.intent("t3", "trial", "p2", "too big", 3600);
  r.launch("t3", "trial", "out_of_memory", 300);
  r.add("assumption", {{"question", "May I change the data?"}, {"default", "no"}}, Actor::agent);
  r.phase("finishing");
  r.add("report", {{"files", {{"report.md", digest("report")}}}});
  r.phase("reported");
  return r.all;
}

// Written through the ledger itself; the clock counts seconds.
inline ledger::Ledger::Clock counting_clock() {
  return [now = 1.8e9]() mutable { return now += 1; };
}
inline Result<void> write_all(ledger::Ledger& ledger, const std::vector<Draft>& drafts) {
  for (const Draft& draft : drafts) {
    if (draft.kind == "intent" || draft.kind == "contract") {
      SP_CHECK(ledger.append_synced(draft));
    } else {
      SP_CHECK(ledger.append(draft));
    }
  }
  return ledger.sync();
}

}  // namespace setpoint::test
