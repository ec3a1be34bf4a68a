// SPDX-License-Identifier: Apache-2.0
// One given configuration, priced by the very functions that the search uses: a row of a search
// given back yields the same digits.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/recent.h"
#include "search/backend.h"
#include "serve/engine.h"
#include "setpoint/estimate.h"
#include "setpoint/result.h"
#include "setpoint/search.h"
#include "step/step.h"

namespace setpoint::search {

// A kind of worker as a user gives it. Of moe_tp and moe_ep a missing one follows from
// moe_tp * moe_ep = tp * dp * cp (model::complete_shard).
struct WorkerSpec {
  int tp = 1, pp = 1, dp = 1, cp = 1;
  std::optional<int> moe_tp, moe_ep;
  std::optional<std::int64_t> batch;  // requests at once per data-parallel rank
  std::int64_t workers = 1;           // of this kind in one replica
};

// Settings of the engine that replace the framework's defaults.
struct EngineSettings {
  std::optional<std::int64_t> chunk_tokens;    // prompt tokens of one step
  std::optional<std::int64_t> max_num_tokens;  // all tokens of one step: bounds chunk_tokens
  std::optional<std::int64_t> max_num_seqs;    // requests at once per rank
  std::optional<double> memory_fraction;       // as the framework's own flag counts it
  std::optional<std::int64_t> kv_tokens;       // the engine's own figure of its KV pool, per rank
  std::optional<int> poll_steps;               // carried for the queueing model
  std::optional<bool> prompt_cache;            // carried for the queueing model
};

// How requests arrive. Until a queueing model answers it, steady state is answered and said.
struct Load {
  enum class Kind : std::uint8_t { steady, closed, open } kind = Kind::steady;
  std::int64_t waves = 10;  // closed: requests per client, all clients started at once
  double len_ratio = 1;     // closed: mean true length over nominal length
  double rate = 0;          // open: Poisson arrivals per second
};

struct EstimateRequest {
  Subject subject;
  std::string framework;      // "": every one is tried and the best answers, said in the inputs
  std::string decode_system;  // "" = subject.system
  Mode mode = Mode::agg;
  WorkerSpec worker;                        // agg, static
  WorkerSpec prefill, decode;               // disagg
  std::optional<std::int64_t> concurrency;  // in flight over the whole deployment; else batches
  std::int64_t gpus = 0;                    // rates per GPU count over these; 0 = one replica's
  EngineSettings settings;
  Load load;
  bool breakdown = false;
};

// Why a configuration cannot run: memory, with the figures that would change it.
struct Refusal {
  std::string text;  // one line
  Role role = Role::mixed;
  MemoryUse memory;                 // of the fullest GPU at the asked batch
  Bytes kv_per_sequence{};          // on that GPU
  std::int64_t largest_batch = 0;   // that fits at these lengths; 0 = not even one request
  std::int64_t longest_length = 0;  // tokens per request that fit at the asked batch; 0 = none
};

struct Breakdown {
  std::string phase;  // "mixed step", "decode step", "prefill"
  std::vector<step::OpTime> ops;
};

struct EstimateAnswer {
  Resolved inputs;
  std::optional<Estimate> estimate;  // exactly one of the two
  std::optional<Refusal> refusal;
  std::vector<Breakdown> breakdown;
};

// The question whose answer is this row of a search about `subject`, to the last digit.
EstimateRequest request_of(const Subject& subject, const Estimate& row);

// Estimates many configurations. What they share (models, tables, workers) is remembered, the most
// recent ones only: memory does not grow with the number of questions.
class Estimator {
 public:
  Result<EstimateAnswer> answer(const EstimateRequest& request);

 private:
  struct Ready {  // a worker's engine and what it stands on
    Backend backend;
    serve::Engine engine;
  };
  Result<EstimateAnswer> answer_by(const EstimateRequest& request, const std::string& framework);
  Result<std::shared_ptr<Ready>> ready(const EstimateRequest& request, const std::string& framework,
                                       const std::string& system, const WorkerSpec& spec);
  Loader loader_;
  base::Recent<Ready> ready_{48};
};
Result<EstimateAnswer> estimate(const EstimateRequest& request);

// One line of `estimate --requests` (docs/cli.md): unknown keys and impossible values are errors
// that name the key and what would be right. Its id, of any kind, is the reader's.
Result<EstimateRequest> parse_request(const base::JsonView& line);
Result<EstimateRequest> parse_request(std::string_view json, const std::string& where);

}  // namespace setpoint::search
