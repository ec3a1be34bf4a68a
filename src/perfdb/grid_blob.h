// SPDX-License-Identifier: Apache-2.0
// The two BLOBs of a grid (docs/formats/perfdb.md). Axes: for each its size and coordinates as
// int32. Values: float32 cells, innermost axis fastest; when packed, a bitmap of the measured cells
// (least significant bit first) stands before the values of those only. All little-endian.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "perfdb/slice.h"
#include "setpoint/result.h"

namespace setpoint::perfdb {

struct GridBlob {
  std::vector<std::byte> axes, latency;
  bool packed = false;
};

GridBlob encode_grid(const Slice& slice);

// Fills axes and latency_ms of a slice whose axis columns are `columns`. Sizes that do not fit the
// bytes are an error: the file may have been damaged.
Result<void> decode_grid(std::span<const std::byte> axes, bool packed,
                         std::span<const std::byte> latency,
                         const std::vector<std::vector<std::string>>& columns, Slice& slice);

}  // namespace setpoint::perfdb
