// SPDX-License-Identifier: Apache-2.0
// Any bytes as the two BLOBs of a slice: an error line, or axes whose product is the cell count.
// The first byte says how many axes, whether packed, and how the rest is divided.
#include <cstdlib>
#include <span>

#include "perfdb/grid_blob.h"

using namespace setpoint;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const std::size_t axes = 1 + (data[0] & 3U);
  const bool packed = (data[0] & 4U) != 0;
  const auto bytes = std::as_bytes(std::span(data + 2, size - 2));
  const std::size_t split = bytes.size() * data[1] / 255;
  std::vector<std::vector<std::string>> columns(axes, {"a"});
  if ((data[0] & 8U) != 0) columns.front() = {"a", "b"};
  perfdb::Slice slice;
  const auto read =
      perfdb::decode_grid(bytes.first(split), packed, bytes.subspan(split), columns, slice);
  if (!read) return 0;
  std::size_t cells = 1;
  for (const perfdb::Axis& axis : slice.axes) cells *= axis.size();
  if (cells != slice.latency_ms.size()) std::abort();
  return 0;
}
