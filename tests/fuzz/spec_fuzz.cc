// SPDX-License-Identifier: Apache-2.0
// Any text as `--spec`: an error line or a system with memory, bandwidth and a bf16 peak.
#include <cstdlib>

#include "hw/system.h"

using namespace setpoint;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto system = hw::parse_system_spec("mine", {reinterpret_cast<const char*>(data), size});
  if (!system) return 0;
  const hw::Gpu& gpu = system->gpu;
  if (gpu.memory.value() <= 0 || gpu.memory_bw.value() <= 0 || gpu.peak[0].value() <= 0)
    std::abort();
  return 0;
}
