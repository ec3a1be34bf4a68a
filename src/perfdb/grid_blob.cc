// SPDX-License-Identifier: Apache-2.0
#include "perfdb/grid_blob.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace setpoint::perfdb {
namespace {

static_assert(std::endian::native == std::endian::little);

// Above this share of measured cells the bitmap costs more than the empty cells (1 bit against 32)
// saves little; a plain copy is read faster.
constexpr double kDenseFrom = 0.95;
constexpr std::size_t kMostCells = std::size_t{1} << 28;  // no table comes near: damaged bytes do

void append(std::vector<std::byte>& to, const void* data, std::size_t size) {
  const auto* const bytes = static_cast<const std::byte*>(data);
  to.insert(to.end(), bytes, bytes + size);
}

Result<std::int64_t> take(std::span<const std::byte>& from) {
  std::int32_t value = 0;
  if (from.size() < sizeof value) return Error::bad_input("damaged grid: axes end too early");
  std::memcpy(&value, from.data(), sizeof value);
  from = from.subspan(sizeof value);
  if (value < 0) return Error::bad_input("damaged grid: negative coordinate");
  return std::int64_t{value};
}

Result<void> decode_axes(std::span<const std::byte> bytes,
                         const std::vector<std::vector<std::string>>& columns, Slice& slice) {
  slice.axes.clear();
  for (const std::vector<std::string>& names : columns) {
    SP_TRY(const std::int64_t size, take(bytes));
    const std::size_t count = static_cast<std::size_t>(size) * names.size();
    if (count > bytes.size() / sizeof(std::int32_t)) {
      return Error::bad_input("damaged grid: axes end too early");
    }
    Axis axis{names, std::vector<std::int64_t>(count)};
    for (std::int64_t& coordinate : axis.coordinates) {
      SP_TRY(coordinate, take(bytes));
    }
    slice.axes.push_back(std::move(axis));
  }
  if (!bytes.empty()) return Error::bad_input("damaged grid: bytes after the axes");
  return {};
}

Result<void> decode_packed(std::span<const std::byte> bytes, std::vector<float>& cells) {
  const std::size_t bitmap = (cells.size() + 7) / 8;
  if (bytes.size() < bitmap) return Error::bad_input("damaged grid: bitmap ends too early");
  std::span<const std::byte> values = bytes.subspan(bitmap);
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if ((bytes[i / 8] >> (i % 8) & std::byte{1}) == std::byte{0}) continue;
    if (values.size() < sizeof(float)) return Error::bad_input("damaged grid: values end early");
    std::memcpy(&cells[i], values.data(), sizeof(float));
    values = values.subspan(sizeof(float));
  }
  if (!values.empty()) return Error::bad_input("damaged grid: more values than measured cells");
  return {};
}

}  // namespace

GridBlob encode_grid(const Slice& slice) {
  GridBlob blob;
  for (const Axis& axis : slice.axes) {
    const auto size = static_cast<std::int32_t>(axis.size());
    append(blob.axes, &size, sizeof size);
    for (const std::int64_t coordinate : axis.coordinates) {
      const auto narrow = static_cast<std::int32_t>(coordinate);
      append(blob.axes, &narrow, sizeof narrow);
    }
  }
  std::vector<std::byte> bitmap((slice.latency_ms.size() + 7) / 8);
  std::vector<float> measured;
  for (std::size_t i = 0; i < slice.latency_ms.size(); ++i) {
    if (std::isnan(slice.latency_ms[i])) continue;
    bitmap[i / 8] |= std::byte{1} << (i % 8);
    measured.push_back(slice.latency_ms[i]);
  }
  blob.packed = static_cast<double>(measured.size()) <
                kDenseFrom * static_cast<double>(slice.latency_ms.size());
  if (blob.packed) blob.latency = std::move(bitmap);
  const std::vector<float>& cells = blob.packed ? measured : slice.latency_ms;
  append(blob.latency, cells.data(), cells.size() * sizeof(float));
  return blob;
}

Result<void> decode_grid(std::span<const std::byte> axes, bool packed,
                         std::span<const std::byte> latency,
                         const std::vector<std::vector<std::string>>& columns, Slice& slice) {
  SP_CHECK(decode_axes(axes, columns, slice));
  std::size_t cells = 1;
  for (const Axis& axis : slice.axes) {
    if (axis.size() == 0 || axis.size() > kMostCells / cells) {
      return Error::bad_input("damaged grid: impossible size");
    }
    cells *= axis.size();
  }
  slice.latency_ms.assign(cells, std::numeric_limits<float>::quiet_NaN());
  if (packed) return decode_packed(latency, slice.latency_ms);
  if (latency.size() != cells * sizeof(float)) {
    return Error::bad_input("damaged grid: size does not fit its axes");
  }
  std::memcpy(slice.latency_ms.data(), latency.data(), latency.size());
  return {};
}

}  // namespace setpoint::perfdb
