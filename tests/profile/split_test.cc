// SPDX-License-Identifier: Apache-2.0
// Hand-made traces whose split is known by arithmetic on paper.
#include "profile/split.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace setpoint::profile {
namespace {

// A step from 0 to 100 us on the device:
//   compute        10-40        60-70
//   communication      30-50 (SendRecv 45-50 within)
//   host copy                 50-55
//   gaps: 0-10 (its kernel was launched at 4: the host until 4, then queued), 55-60 (launched at
//   20, long before: idle), 70-100 (nothing follows: idle)
Trace example() {
  Trace t;
  t.events = {{{10, 40}, Kind::compute, false, 1},
              {{30, 45}, Kind::communication, false, 2},
              {{45, 50}, Kind::communication, true, 3},
              {{50, 55}, Kind::copy_host, false, 4},
              {{60, 70}, Kind::compute, false, 5}};
  t.launches = {{1, {4, 5}}, {2, {6, 7}}, {3, {8, 9}}, {4, {9, 10}}, {5, {20, 21}}};
  t.device_steps = {{7, {0, 100}}};
  return t;
}

TEST(Split, AddsUpToTheStepAndCountsOverlapOnce) {
  const auto steps = split_steps(example());
  ASSERT_EQ(steps.size(), 1u);
  EXPECT_EQ(steps[0].number, 7);
  const Split& s = steps[0].split;
  EXPECT_DOUBLE_EQ(s.total_ms, 0.100);
  EXPECT_DOUBLE_EQ(s.compute_ms, 0.040);        // 30 + 10
  EXPECT_DOUBLE_EQ(s.communication_ms, 0.010);  // 40-50 alone
  EXPECT_DOUBLE_EQ(s.all_communication_ms, 0.020);
  EXPECT_DOUBLE_EQ(s.hidden_communication_ms, 0.010);  // 30-40
  EXPECT_DOUBLE_EQ(s.overlap(), 0.5);
  EXPECT_DOUBLE_EQ(s.send_receive_ms, 0.005);
  EXPECT_DOUBLE_EQ(s.host_copy_ms, 0.005);
  // The quickest launch takes 6 us from call to kernel: the host's part of the first gap is 4 + 6.
  EXPECT_DOUBLE_EQ(s.host_ms, 0.005 + 0.010);
  EXPECT_DOUBLE_EQ(s.idle_ms, 0.005 + 0.030);
  EXPECT_DOUBLE_EQ(s.compute_ms + s.communication_ms + s.host_ms + s.idle_ms, s.total_ms);
}

TEST(Split, WorkQueuedBeforeTheGapIsNotTheHostsFault) {
  Trace t;
  t.events = {{{0, 10}, Kind::compute, false, 1}, {{50, 60}, Kind::compute, false, 2}};
  t.launches = {{1, {-5, -4}}, {2, {5, 6}}};
  t.device_steps = {{0, {0, 60}}};
  const Split s = split_steps(t)[0].split;
  EXPECT_DOUBLE_EQ(s.host_ms, 0);
  EXPECT_DOUBLE_EQ(s.idle_ms, 0.040);
}

TEST(Split, CopiesBetweenGpusAreCommunicationAndInsideOneComputation) {
  Trace t;
  t.events = {{{0, 10}, Kind::copy_peer, false, 0}, {{20, 35}, Kind::copy_local, false, 0}};
  t.device_steps = {{0, {0, 40}}};
  const Split s = split_steps(t)[0].split;
  EXPECT_DOUBLE_EQ(s.communication_ms, 0.010);
  EXPECT_DOUBLE_EQ(s.peer_copy_ms, 0.010);
  EXPECT_DOUBLE_EQ(s.compute_ms, 0.015);
  EXPECT_DOUBLE_EQ(s.idle_ms, 0.015);
}

TEST(Split, HostMarksAreMovedToWhereTheirWorkBegins) {
  Trace t;
  t.host_steps = {{1, {0, 100}}, {2, {100, 200}}};
  t.events = {{{50, 130}, Kind::compute, false, 1}, {{140, 260}, Kind::compute, false, 2}};
  t.launches = {{1, {10, 11}}, {2, {110, 111}}};
  const auto steps = split_steps(t);
  ASSERT_EQ(steps.size(), 2u);
  EXPECT_DOUBLE_EQ(steps[0].split.total_ms, 0.090);  // 50 to 140
  EXPECT_DOUBLE_EQ(steps[0].split.compute_ms, 0.080);
  EXPECT_DOUBLE_EQ(steps[1].split.total_ms, 0.120);
  const auto host = split_steps(t, Window::host);
  EXPECT_DOUBLE_EQ(host[0].split.total_ms, 0.100);
  EXPECT_DOUBLE_EQ(host[0].split.compute_ms, 0.050);
}

// The same split by brute force: every microsecond looked at on its own.
TEST(Split, EqualsACountOfEveryMicrosecond) {
  std::mt19937 random(5);
  for (int round = 0; round < 200; ++round) {
    Trace t;
    const int window = 200;
    std::array<std::array<bool, 200>, kKindCount> busy{};
    for (int i = 0; i < 12; ++i) {
      const auto kind = random() % kKindCount;
      const int begin = static_cast<int>(random() % 220) - 10;
      const int end = begin + static_cast<int>(random() % 40);
      t.events.push_back({{double(begin), double(end)}, static_cast<Kind>(kind), false, 0});
      for (int us = std::max(0, begin); us < std::min(window, end); ++us) {
        busy[kind][static_cast<std::size_t>(us)] = true;
      }
    }
    std::sort(t.events.begin(), t.events.end(),
              [](const auto& a, const auto& b) { return a.when.begin < b.when.begin; });
    int compute = 0, communication = 0, host = 0, idle = 0;
    for (std::size_t us = 0; us < 200; ++us) {
      if (busy[0][us]) {
        ++compute;
      } else if (busy[1][us]) {
        ++communication;
      } else if (busy[2][us]) {
        ++host;
      } else if (busy[3][us]) {
        ++communication;
      } else if (busy[4][us]) {
        ++compute;
      } else {
        ++idle;
      }
    }
    const Split s = split(t, {0, double(window)});
    EXPECT_NEAR(s.compute_ms, compute / 1000.0, 1e-12);
    EXPECT_NEAR(s.communication_ms, communication / 1000.0, 1e-12);
    EXPECT_NEAR(s.host_ms, host / 1000.0, 1e-12);
    EXPECT_NEAR(s.idle_ms, idle / 1000.0, 1e-12);
  }
}

TEST(Kinds, KernelsOfCommunicationLibrariesAreKnownByName) {
  for (const char* name :
       {"ncclKernel_AllReduce_RING_LL_Sum_float(ncclWorkElem)",
        "ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
        "void deep_ep::intranode::dispatch<8, 768, 8192>", "nvshmemi_proxy_quiet_entrypoint",
        "void vllm::cross_device_reduce_1stage<__nv_bfloat16, 8>"}) {
    EXPECT_EQ(kind_of_kernel(name), Kind::communication) << name;
  }
  for (const char* name : {"void cutlass::Kernel<gemm>", "hipblaslt_gemm", "flash_fwd_kernel"}) {
    EXPECT_EQ(kind_of_kernel(name), Kind::compute) << name;
  }
  EXPECT_EQ(kind_of_copy("Memcpy HtoD (Pageable -> Device)"), Kind::copy_host);
  EXPECT_EQ(kind_of_copy("CopyDeviceToHost"), Kind::copy_host);
  EXPECT_EQ(kind_of_copy("Memcpy PtoP (Device -> Device)"), Kind::copy_peer);
  EXPECT_EQ(kind_of_copy("Memcpy DtoD (Device -> Device)"), Kind::copy_local);
  EXPECT_EQ(kind_of_copy("Memset (Device)"), Kind::copy_local);
  EXPECT_TRUE(is_send_receive("ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(ncclWorkElem)"));
}

}  // namespace
}  // namespace setpoint::profile
