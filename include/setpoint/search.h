// SPDX-License-Identifier: Apache-2.0
// The search: every way to cut and batch a model on the GPUs at hand, evaluated, filtered by the
// latency promise and ranked. Every candidate ends in exactly one counted bucket.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "model/plan.h"
#include "perfdb/perfdb.h"
#include "setpoint/estimate.h"
#include "setpoint/workload.h"

namespace setpoint::search {

// What a question is about: model, GPU, data and requests, as the user named them.
struct Subject {
  std::string model;                        // what model::read_model takes
  std::string precision;                    // "", bf16, fp8, fp4, int4: the published checkpoint
  std::vector<model::QuantOverride> quant;  // wins over everything
  std::optional<double> alpha;              // expert-load exponent; else the family's
  std::string system;                       // what hw::find_system takes
  std::string system_spec;                  // "mem=48,bw=696,...": `system` is a new name for it
  std::string framework_version;            // "" = the snapshot's current one for the system
  Workload workload;
  perfdb::DataMode data = perfdb::DataMode::hybrid;
  std::filesystem::path database;  // "" = found (perfdb::Request::file)
};

inline constexpr std::int64_t kMostGpus = 1024;  // the largest deployment considered

// How many GPUs: exactly one of the three is set.
struct Target {
  std::int64_t gpus = 0;         // use this many
  double request_rate = 0;       // requests/s to serve with the fewest GPUs
  std::int64_t concurrency = 0;  // requests in flight to serve with the fewest GPUs
};

struct SearchRequest {
  Subject subject;
  std::vector<std::string> frameworks;  // empty = all
  std::string decode_system;            // GPUs of decode workers; "" = subject.system
  Target target;
  Sla sla;
  std::vector<Mode> modes;   // empty = agg and disagg
  std::size_t top = 5;       // configurations to return for each mode
  unsigned threads = 0;      // 0 = as many as the machine has; never changes the answer
  bool keep_points = false;  // give back every point that was priced, not only the best
};

// The question as resolved, for people and for the result file.
struct ResolvedFramework {
  std::string name, version;
  std::string note;            // the asked version had no tables, or other facts were taken; or ""
  bool has_tables = false;     // of its own on `system`
  bool borrows = false;        // without its own: those of other systems and frameworks
  model::Precision precision;  // on `system`; decode workers elsewhere say theirs
};
struct Resolved {
  std::string model, architecture, family;
  bool moe = false;  // has routed experts
  std::int64_t parameters = 0;
  double alpha = 0;
  std::int64_t max_positions = 0;     // longest request that the model's config allows, 0 = open
  std::int64_t mtp_layers = 0;        // draft layers that ship with it
  model::CheckpointQuant checkpoint;  // what `model` holds
  bool checkpoint_assumed = false;    // .. if it were published in this precision; it is not
  std::string system, decode_system;
  std::vector<ResolvedFramework> frameworks;
  std::vector<std::string> warnings;  // assumptions made while reading the model
};

// Ranked best first, and the exact Pareto front (tokens/s/user up, tokens/s/GPU up).
struct ModeResult {
  Mode mode = Mode::agg;
  std::vector<Estimate> configs;   // at most `top`, one per distinct layout, all meeting the SLA
  std::vector<Estimate> frontier;  // over all points that fit, SLA or not
};

// When nothing meets the SLA: which bound binds, how close one can come, and the nearest points.
struct NoAnswer {
  std::string binding_limit;  // a bucket name: "ttft", "out_of_memory", ...
  std::string text;           // one sentence
  std::optional<Ms> best_ttft, best_tpot, best_request_latency;
  std::vector<Estimate> nearest;  // three
};

struct Stats {
  std::int64_t points = 0;      // deployments priced; disaggregated: one for each decode point
  std::int64_t candidates = 0;  // = met + the sum of the buckets
  std::int64_t met = 0;         // candidates that meet the SLA
  double wall_ms = 0, load_ms = 0;
};

struct SearchResult {
  Resolved inputs;
  std::vector<ModeResult> modes;
  std::optional<std::pair<Mode, std::size_t>> best;  // mode and index into its configs
  std::optional<NoAnswer> no_answer;                 // exactly when `best` is empty
  std::map<std::string, std::int64_t> rejected;      // bucket name -> candidates
  std::vector<Estimate> points;                      // with keep_points: all that fit, SLA or not
  std::vector<std::string> missing_data;  // tables whose absence dropped candidates: incomplete
  std::vector<std::string> why;           // sentences: what bound the others, agg against disagg
  Stats stats;

  const ModeResult* mode(Mode wanted) const {
    for (const ModeResult& result : modes) {
      if (result.mode == wanted) return &result;
    }
    return nullptr;
  }
};

}  // namespace setpoint::search
