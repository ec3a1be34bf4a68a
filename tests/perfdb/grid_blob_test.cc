// SPDX-License-Identifier: Apache-2.0
#include "perfdb/grid_blob.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "perfdb/store.h"

namespace setpoint::perfdb {
namespace {

constexpr float kNone = std::numeric_limits<float>::quiet_NaN();
const std::vector<std::vector<std::string>> kColumns{{"n", "k"}, {"m"}};

Slice slice(std::vector<std::int64_t> sites, std::vector<std::int64_t> m,
            std::vector<float> cells) {
  Slice s;
  s.op = "gemm";
  s.axes = {Axis{kColumns[0], std::move(sites)}, Axis{kColumns[1], std::move(m)}};
  s.latency_ms = std::move(cells);
  return s;
}

void expect_same_cells(const std::vector<float>& a, const std::vector<float>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_TRUE(a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i]))) << i;
  }
}

Slice round_trip(const Slice& from) {
  const GridBlob blob = encode_grid(from);
  Slice to;
  EXPECT_TRUE(decode_grid(blob.axes, blob.packed, blob.latency, kColumns, to).ok());
  return to;
}

TEST(GridBlob, AFullGridComesBackAndIsStoredAsPlainCells) {
  const Slice from = slice({64, 32, 128, 32}, {1, 2, 4}, {1, 2, 3, 4, 5, 6});
  EXPECT_FALSE(encode_grid(from).packed);
  EXPECT_EQ(encode_grid(from).latency.size(), 6 * sizeof(float));
  const Slice to = round_trip(from);
  EXPECT_EQ(to.axes[0].coordinates, from.axes[0].coordinates);
  EXPECT_EQ(to.axes[1].coordinates, from.axes[1].coordinates);
  expect_same_cells(to.latency_ms, from.latency_ms);
}

TEST(GridBlob, AGridWithGapsIsStoredAsABitmapAndItsValues) {
  const Slice from = slice({64, 32, 128, 32}, {1, 2, 4}, {1, kNone, 3, kNone, kNone, 6});
  EXPECT_TRUE(encode_grid(from).packed);
  EXPECT_EQ(encode_grid(from).latency.size(), 1 + 3 * sizeof(float));
  expect_same_cells(round_trip(from).latency_ms, from.latency_ms);
}

TEST(GridBlob, DamagedBytesAreAnErrorNeverACrash) {
  for (const Slice& from : {slice({64, 32, 128, 32}, {1, 2, 4}, {1, 2, 3, 4, 5, 6}),
                            slice({64, 32}, {1, 2, 4}, {1, kNone, 3})}) {
    const GridBlob whole = encode_grid(from);
    for (std::size_t size = 0; size < whole.latency.size(); ++size) {
      Slice to;
      EXPECT_FALSE(
          decode_grid(whole.axes, whole.packed, std::span(whole.latency).first(size), kColumns, to)
              .ok());
    }
    for (std::size_t i = 0; i < whole.axes.size(); ++i) {
      std::vector<std::byte> axes = whole.axes;
      axes[i] ^= std::byte{0xff};
      Slice to;  // may still decode (another coordinate) but must not read outside
      (void)decode_grid(axes, whole.packed, whole.latency, kColumns, to);
    }
  }
}

TEST(Merge, PartsCompleteEachOtherAndTheEarlierWins) {
  const Slice first = slice({64, 32}, {1, 4}, {10, kNone});
  const Slice second = slice({64, 32, 16, 8}, {2, 4}, {20, 40, 5, 6});
  const Slice parts[] = {first, second};
  const Slice whole = merge(parts);
  EXPECT_EQ(whole.axes[0].coordinates, (std::vector<std::int64_t>{64, 32, 16, 8}));
  EXPECT_EQ(whole.axes[1].coordinates, (std::vector<std::int64_t>{1, 2, 4}));
  expect_same_cells(whole.latency_ms, {10, 20, 40, kNone, 5, 6});
}

TEST(Merge, ThePointThatBothHoldIsTheEarlierParts) {
  const Slice parts[] = {slice({64, 32}, {1}, {7}), slice({64, 32}, {1}, {9})};
  expect_same_cells(merge(parts).latency_ms, {7});
}

}  // namespace
}  // namespace setpoint::perfdb
