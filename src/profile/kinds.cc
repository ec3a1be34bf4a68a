// SPDX-License-Identifier: Apache-2.0
#include "profile/kinds.h"

#include <algorithm>
#include <cctype>
#include <string>

namespace setpoint::profile {
namespace {

// Parts of the names of kernels that move data between GPUs. NCCL and RCCL: nccl*, ncclDevKernel_*;
// others are kernels that a search by NCCL's prefix alone would take for computation: NVSHMEM,
// DeepEP, MSCCL++, symmetric memory, Transformer Engine's user buffers, custom all-reduces of
// serving and training frameworks. Names are compared in lower case.
constexpr std::array<std::string_view, 18> kCommunication{"nccl",
                                                          "rccl",
                                                          "hccl",
                                                          "mscclkernel",
                                                          "mscclpp",
                                                          "nvshmem",
                                                          "deep_ep::",
                                                          "deepep",
                                                          "userbuffers",
                                                          "one_shot_all_reduce",
                                                          "two_shot_all_reduce",
                                                          "multimem_all_reduce",
                                                          "multimem_one_shot",
                                                          "cross_device_reduce",
                                                          "allreduce_fusion_kernel",
                                                          "moe_alltoall",
                                                          "quickreduce",
                                                          "symm_mem"};

std::string lower(std::string_view name) {
  std::string out(name);
  std::transform(out.begin(), out.end(), out.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return out;
}

bool has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

}  // namespace

Kind kind_of_kernel(std::string_view name) {
  const std::string text = lower(name);
  const bool moves = std::any_of(kCommunication.begin(), kCommunication.end(),
                                 [&](std::string_view part) { return has(text, part); });
  return moves ? Kind::communication : Kind::compute;
}

Kind kind_of_copy(std::string_view name) {
  const std::string text = lower(name);
  if (has(text, "ptop") || has(text, "peer")) return Kind::copy_peer;
  const bool host = has(text, "htod") || has(text, "dtoh") || has(text, "hosttodevice") ||
                    has(text, "devicetohost") || has(text, "htoh") || has(text, "host");
  return host ? Kind::copy_host : Kind::copy_local;
}

Kind kind_of_copy(std::int64_t cupti_kind) {
  constexpr std::int64_t kDeviceToDevice = 8, kPeerToPeer = 10;
  constexpr std::int64_t kArrayToArray = 5, kArrayToDevice = 6, kDeviceToArray = 7;
  switch (cupti_kind) {
    case kPeerToPeer:
      return Kind::copy_peer;
    case kDeviceToDevice:
    case kArrayToArray:
    case kArrayToDevice:
    case kDeviceToArray:
      return Kind::copy_local;
    default:
      return Kind::copy_host;
  }
}

bool is_send_receive(std::string_view name) {
  const std::string text = lower(name);
  return has(text, "sendrecv") || has(text, "send_recv");
}

}  // namespace setpoint::profile
