// SPDX-License-Identifier: Apache-2.0
#include "cluster/sim/trace.h"

#include <fmt/format.h>

#include "base/json.h"

namespace setpoint::cluster {
namespace {

constexpr int kSlices = 8;  // of the step's micro-batches; enough to look like one
constexpr double kUsPerMs = 1000;
constexpr double kLaunchUs = 5;  // from the launching call to its kernel

// One device stream and the host thread that feeds it.
class Writer {
 public:
  void device(const char* category, const char* name, Ms duration, const char* collective = "") {
    if (duration.value() <= 0) return;
    ++correlation_;
    // Launched long before it runs, unless the host was late.
    const double call = late_ ? at_ - kLaunchUs : std::max(0.0, at_ - 50 * kLaunchUs);
    host("cuda_runtime", "cudaLaunchKernel", call, 2.0, correlation_);
    base::Json args{{"device", 0}, {"stream", 7}, {"correlation", correlation_}};
    if (*collective != '\0') args["Collective name"] = collective;
    add(category, name, at_, duration.value() * kUsPerMs, 7, std::move(args));
    at_ += duration.value() * kUsPerMs;
    late_ = false;
  }
  // Nothing runs: the next launch comes only at the end of it.
  void host_gap(Ms duration) {
    if (duration.value() <= 0) return;
    at_ += duration.value() * kUsPerMs;
    late_ = true;
  }
  std::string text(std::int64_t step) {
    const std::string name = fmt::format("ProfilerStep#{}", step);
    add("gpu_user_annotation", name.c_str(), 0, at_, 7, base::Json::object());
    add("user_annotation", name.c_str(), 0, at_, 1, base::Json::object());
    return base::json_text(base::Json{{"schemaVersion", 1},
                                      {"distributedInfo", {{"backend", "nccl"}, {"rank", 0}}},
                                      {"traceEvents", events_}});
  }

 private:
  void host(const char* category, const char* name, double ts, double us, std::int64_t id) {
    add(category, name, ts, us, 1, base::Json{{"correlation", id}});
  }
  void add(const char* category, const char* name, double ts, double us, int tid, base::Json args) {
    events_.push_back({{"ph", "X"},
                       {"cat", category},
                       {"name", name},
                       {"pid", 0},
                       {"tid", tid},
                       {"ts", ts},
                       {"dur", us},
                       {"args", std::move(args)}});
  }
  base::Json events_ = base::Json::array();
  double at_ = 0;
  std::int64_t correlation_ = 0;
  bool late_ = false;
};

}  // namespace

std::string kineto_trace(const StepTerms& terms, std::int64_t step) {
  Writer to;
  const double part = 1.0 / kSlices;
  to.host_gap(terms.gaps);
  for (int i = 0; i < kSlices; ++i) {
    to.device("kernel", "nvjet_gemm_bf16", (terms.compute + terms.recompute) * part);
    to.device("kernel", "vectorized_elementwise_kernel", terms.memory_passes * part);
    to.device("kernel", "ncclDevKernel_AllGather_RING_LL", terms.tp * part, "all_gather");
    to.device("kernel", "ncclDevKernel_SendRecv", terms.cp * part, "send");
    to.host_gap(terms.host * part);
    to.device("kernel", "deep_ep::dispatch_combine", (terms.ep + terms.imbalance) * part,
              "all_to_all");
    to.device("kernel", "ncclDevKernel_SendRecv", (terms.pp + terms.bubble) * part, "recv");
  }
  to.device("kernel", "ncclDevKernel_ReduceScatter_RING_LL", terms.dp, "reduce_scatter");
  to.device("kernel", "multi_tensor_apply_kernel", terms.optimizer);
  // Half of an optimizer on the host is copies, half its own arithmetic.
  to.device("gpu_memcpy", "Memcpy DtoH (Device -> Pinned)", terms.offload / 2);
  to.host_gap(terms.offload / 2);
  to.device("gpu_memcpy", "Memcpy HtoD (Pinned -> Device)", terms.offload * 1e-6);
  return to.text(step);
}

}  // namespace setpoint::cluster
