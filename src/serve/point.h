// SPDX-License-Identifier: Apache-2.0
// The closed serving formulas: throughput and latencies of one operating point (Algorithms 1 to 3
// of the AIConfigurator paper, with the corrections listed in docs/accuracy.md).
#pragma once

#include <cstdint>

#include "perfdb/answer.h"
#include "setpoint/estimate.h"
#include "setpoint/units.h"
#include "setpoint/workload.h"
#include "step/step.h"

namespace setpoint::serve {

struct Engine;

// Of one worker. Rates are of the whole worker (all ranks and stages). A request yields osl output
// tokens in every mode.
struct Point {
  Ms ttft{};
  Ms tpot{};  // 0: there is no second token (osl 1)
  Ms request_latency{};
  Ms kv_transfer{};  // prefill workers: one request's KV over the link to a decode worker
  double requests_per_s = 0;
  double concurrency = 0;
  perfdb::Evidence evidence;  // of the step time behind one request
  // Of given clients: mean time before the busier pool takes a request; within ttft.
  struct Waiting {
    Ms time{};
    Role role = Role::prefill;
    double busy = 0;  // share of its time, 0..1
  } waiting{};
};

// Static batching, Algorithm 1: `batch` requests per rank prefilled together, then decoded
// together.
Point static_batch(Engine& engine, const Workload& w, std::int64_t batch);
// Continuous batching, Algorithm 2: batch per rank, at most `budget` prompt tokens per step.
Point aggregated(Engine& engine, const Workload& w, std::int64_t batch, std::int64_t budget);
// The two kinds of step behind that point, for breakdowns.
struct RoundSteps {
  step::StepShape mixed, decode;
  double mixed_count = 0, decode_count = 0;  // steps of one round
};
RoundSteps aggregated_steps(const Engine& engine, const Workload& w, std::int64_t batch,
                            std::int64_t budget);
// Algorithm 3, one side each: a prefill worker's rate and TTFT (its request latency is one batch's
// prefill alone), a decode worker's rate and TPOT. With osl 1 a decode worker has nothing to do:
// its rate is infinite. A mean batch need not be whole.
Point prefill(Engine& engine, const Workload& w, std::int64_t batch);
Point decode(Engine& engine, const Workload& w, double batch);
// x prefill and y decode workers matched, all busy: the slower side sets the rate.
Point disaggregated(const Point& prefill, std::int64_t x, const Point& decode, std::int64_t y,
                    const Workload& w);
// The same workers, at most `places` requests at once on a decode rank, serving this many clients
// of whom each sends its next request when the last one ends.
Point closed_loop(const Point& prefill, std::int64_t x, Engine& decode, std::int64_t y,
                  std::int64_t places, const Workload& w, double clients);

}  // namespace setpoint::serve
