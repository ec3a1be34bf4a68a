// SPDX-License-Identifier: Apache-2.0
// What a device event does, from its name: kernels of communication libraries, copies by direction;
// everything else computes.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace setpoint::profile {

enum class Kind : std::uint8_t {
  compute,
  communication,
  copy_host,   // between host and GPU
  copy_peer,   // between GPUs
  copy_local,  // inside one GPU, and filling memory
};
inline constexpr std::size_t kKindCount = 5;

Kind kind_of_kernel(std::string_view name);
// "Memcpy HtoD (Pageable -> Device)", "CopyDeviceToHost", "Memset (Device)"
Kind kind_of_copy(std::string_view name);
// CUPTI's and ROCm's numbers of copy directions (CUpti_ActivityMemcpyKind).
Kind kind_of_copy(std::int64_t cupti_kind);
// Point-to-point transfers between pipeline stages, whose kernels also hold the stage's bubble.
bool is_send_receive(std::string_view name);

}  // namespace setpoint::profile
