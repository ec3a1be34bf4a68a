// SPDX-License-Identifier: Apache-2.0
// Memory by hand: 100 GiB, 20 GiB of weights, 100 kB of KV a token, context 3.5 GiB, one GPU.
#include <cmath>

#include "fake_engine.h"

namespace setpoint::serve {
namespace {

constexpr double kGib = 1024.0 * 1024 * 1024;

MemoryQuestion question(Role role, std::int64_t batch, std::int64_t step_tokens,
                        std::int64_t kv_tokens, int nextn = 0) {
  return {role, batch, step_tokens, kv_tokens, nextn};
}

double bytes(Bytes b) { return static_cast<double>(b.value()); }

// bf16, 4096 wide, 11 elements a token at tp 1; the floor is 70 MiB.
TEST(Memory, ActivationsFollowTheLargestStep) {
  const Engine vllm = fake_engine("vllm", {});
  expect_close(bytes(memory_use(vllm, question(Role::mixed, 100, 8000, 5000)).activations),
               2.0 * 8100 * 4096 * 11);
  expect_close(bytes(memory_use(vllm, question(Role::decode, 10, 8000, 5000)).activations),
               70.0 * 1024 * 1024);
  // TensorRT-LLM's engine is built for 8192 tokens whatever it is asked, unless that is more.
  const Engine trtllm = fake_engine("trtllm", {});
  expect_close(bytes(memory_use(trtllm, question(Role::mixed, 1, 100, 5000)).activations),
               2.0 * 8192 * 4096 * 11);
  expect_close(bytes(memory_use(trtllm, question(Role::mixed, 100, 16384, 5000)).activations),
               2.0 * 16484 * 4096 * 11);
}

// Draft tokens are decode tokens: a prefill step of 4 x 65536 tokens has none.
TEST(Memory, DraftTokensNeverScalePrefillActivations) {
  for (const std::string& name : framework::framework_names()) {
    const Engine engine = fake_engine(name, {});
    EXPECT_EQ(memory_use(engine, question(Role::prefill, 4, 4 * 65536, 65537, 3)).activations,
              memory_use(engine, question(Role::prefill, 4, 4 * 65536, 65537, 0)).activations);
  }
  const Engine engine = fake_engine("vllm", {});
  expect_close(bytes(memory_use(engine, question(Role::mixed, 1000, 8000, 5000, 3)).activations),
               2.0 * 12000 * 4096 * 11);
}

TEST(Memory, KvIsHeldInWholeBlocks) {
  EXPECT_EQ(kv_bytes(fake_engine("vllm", {}), 5001), Bytes(5008 * 100000));    // blocks of 16
  EXPECT_EQ(kv_bytes(fake_engine("trtllm", {}), 5001), Bytes(5024 * 100000));  // of 32
  EXPECT_EQ(kv_bytes(fake_engine("sglang", {}), 5001), Bytes(5001 * 100000));  // of 1
}

// vLLM shares the total, TensorRT-LLM what is free, SGLang's share leaves the activations out.
TEST(Memory, EachFrameworkSizesItsPoolInItsOwnWay) {
  const MemoryQuestion q = question(Role::mixed, 8, 8192, 5000);
  const double hundred = 100 * kGib, weights = 20 * kGib, context = 3.5 * kGib;
  const Engine vllm = fake_engine("vllm", {});
  const MemoryUse v = memory_use(vllm, q);
  expect_close(bytes(kv_budget(vllm, v)),
               std::round((hundred * 0.92 - weights - context - bytes(v.activations)) * 0.98));
  const Engine trtllm = fake_engine("trtllm", {});
  const MemoryUse t = memory_use(trtllm, q);
  expect_close(bytes(kv_budget(trtllm, t)),
               std::round((hundred - weights - context - bytes(t.activations)) * 0.9 * 0.9653));
  // SGLang: 102400 MiB, chunk 8192, graphs 256: 1 - 13440/102400 = 0.869.
  const Engine sglang = fake_engine("sglang", {});
  const MemoryUse s = memory_use(sglang, q);
  expect_close(bytes(kv_budget(sglang, s)),
               std::round((hundred * 0.869 - weights - context * 1.2) * 0.98));
}

// The solved batch fits, one more does not; the engine's blocks are counted.
TEST(Memory, TheLargestBatchIsTheLargestThatFits) {
  for (const std::string& name : framework::framework_names()) {
    const Engine engine = fake_engine(name, {});
    for (const Role role : {Role::mixed, Role::decode}) {
      for (const std::int64_t length : {33, 5000, 70001}) {
        MemoryQuestion q = question(role, 1, 8192, length);
        q.batch = largest_batch(engine, q);
        EXPECT_GT(q.batch, 0);
        EXPECT_TRUE(fits(engine, memory_use(engine, q), q));
        ++q.batch;
        EXPECT_FALSE(fits(engine, memory_use(engine, q), q));
      }
    }
  }
}

// By hand for vLLM: (92 - 20 - 3.5) GiB less activations of 8192 + b tokens, 2 %, over 500.8 MB.
TEST(Memory, TheLargestBatchByHand) {
  const Engine engine = fake_engine("vllm", {});
  const double free = 68.5 * kGib;
  const double per_request = 5008 * 100000.0, width = 2.0 * 4096 * 11;
  const double expected = (free - 8192 * width) * 0.98 / (per_request + 0.98 * width);
  EXPECT_EQ(largest_batch(engine, question(Role::mixed, 1, 8192, 5001)),
            static_cast<std::int64_t>(expected));
}

// What a refusal has to name: how much one request holds, how many fit, what length would fit.
TEST(Memory, TheLongestRequestIsTheLongestThatFits) {
  const Engine engine = fake_engine("vllm", {});
  MemoryQuestion q = question(Role::mixed, 64, 8192, 65536 + 1024);
  EXPECT_FALSE(fits(engine, memory_use(engine, q), q));
  EXPECT_LT(largest_batch(engine, q), 64);
  const std::int64_t longest = longest_request(engine, q);
  q.kv_tokens = longest;
  EXPECT_EQ(largest_batch(engine, q), 64);
  q.kv_tokens = longest + 16;
  EXPECT_LT(largest_batch(engine, q), 64);
}

TEST(Memory, AModelThatDoesNotFitHoldsNoRequest) {
  Engine engine = fake_engine("vllm", {});
  engine.plan.weights = Bytes(std::int64_t{95} << 30);
  const MemoryQuestion q = question(Role::mixed, 1, 8192, 10);
  EXPECT_LE(kv_budget(engine, memory_use(engine, q)).value(), 0);
  EXPECT_EQ(largest_batch(engine, q), 0);
  EXPECT_EQ(longest_request(engine, q), 0);
}

// The engine's own figure or share, as its log prints it, wins over the model of it.
TEST(Memory, TheUserMayPinThePoolOrTheShare) {
  Engine engine = fake_engine("vllm", {});
  engine.pins.pool_tokens = 41408;
  const MemoryQuestion q = question(Role::mixed, 1, 8192, 1000);
  EXPECT_EQ(largest_batch(engine, q), 41408 / 1008);
  EXPECT_EQ(pool_tokens(engine, memory_use(engine, q)), 41408);
  Engine shared = fake_engine("vllm", {});
  const std::int64_t by_default = largest_batch(shared, q);
  shared.pins.memory_fraction = 0.5;
  EXPECT_LT(largest_batch(shared, q), by_default);
}

TEST(Memory, AbsurdQuestionsStayFinite) {
  const Engine engine = fake_engine("vllm", {});
  EXPECT_EQ(largest_batch(engine, question(Role::mixed, 1, 8192, std::int64_t{1} << 40)), 0);
  EXPECT_EQ(largest_batch(engine, question(Role::mixed, 1, std::int64_t{1} << 40, 100)), 0);
}

}  // namespace
}  // namespace setpoint::serve
