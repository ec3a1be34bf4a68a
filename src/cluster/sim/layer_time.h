// SPDX-License-Identifier: Apache-2.0
// The parts of one layer's time for one micro-batch on one GPU. Forward parts only; how much the
// backward pass adds is stated beside each.
#pragma once

#include "cluster/sim/step_time.h"

namespace setpoint::cluster {

struct LayerTime {
  Ms gemm;          // backward: twice that
  Ms experts;       // likewise; apart because imbalance stretches it
  Ms attention;     // backward: constants.attention_backward times that
  Ms passes;        // backward: constants.backward_passes times that
  Ms tp, cp, ep;    // exposed communication of both passes together
  Ms host;          // of both passes: what the host needs to launch them, beside the GPU's work
  Ms host_exposed;  // of both passes: launches that the GPU waits for
};
LayerTime layer_time(const TrainModel& model, const Layout& layout, const Machine& machine,
                     const Layer& layer);
// The output head with the loss, on the stage that has it.
LayerTime head_time(const TrainModel& model, const Layout& layout, const Machine& machine);

// Tokens of one micro-batch on one GPU, before tensor parallelism shares them out.
double micro_tokens(const Layout& layout);

// Bandwidth of the links that a group of `span` neighbouring GPUs needs, with the share of it that
// collectives reach.
BytesPerS group_bw(const Machine& machine, std::int64_t span);
// GPUs that NVLink joins: the rack where it does, else the node.
std::int64_t nvlink_domain(const hw::System& system);

}  // namespace setpoint::cluster
