// SPDX-License-Identifier: Apache-2.0
// From numbers to what people and files see: a deployment with its memory, KV pool, evidence and
// warnings. The only maker of an Estimate, for searches and single estimates alike.
#pragma once

#include <vector>

#include "search/backend.h"
#include "search/candidate.h"
#include "serve/engine.h"
#include "setpoint/estimate.h"

namespace setpoint::search {

// Workers of one kind and what they run on.
struct Placed {
  serve::Engine* engine = nullptr;
  const Backend* backend = nullptr;
  Part part;
};

// One replica's numbers, then `replicas` of them counted over `gpus_asked` GPUs (0: those in use).
// `clients` (0: as many as the pools hold when both are busy) counts for disaggregated workers
// only: requests in flight over all replicas.
Estimate describe(Mode mode, const std::vector<Placed>& workers, const Workload& w,
                  std::int64_t replicas, std::int64_t gpus_asked, std::int64_t clients = 0);

}  // namespace setpoint::search
