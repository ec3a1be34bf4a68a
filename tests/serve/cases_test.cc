// SPDX-License-Identifier: Apache-2.0
// Memory cases reported from the field, on the models and GPUs they were reported for. Memory needs
// no operator tables.
#include <gtest/gtest.h>

#include "model/read.h"
#include "serve/engine.h"

namespace setpoint::serve {
namespace {

struct Deployment {
  model::ModelSpec model;
  std::unique_ptr<Engine> engine;
};

Deployment deploy(const std::string& id, const hw::System& system, const std::string& framework,
                  const std::string& kv) {
  Deployment d{model::read_model(id, "", system.gpu.sm).value(), nullptr};
  const framework::Facts facts = framework::find_facts(framework, "").value();
  const auto precision =
      model::resolve_precision(d.model, facts, system, {model::QuantOverride{"kv", kv}}).value();
  const model::Plan plan = model::plan({d.model, {}, precision, facts, system, 0});
  perfdb::Request request;
  request.system = system;
  request.framework = framework;
  request.mode = perfdb::DataMode::roofline;
  const perfdb::PerfDb db = perfdb::PerfDb::open(request).value();
  d.engine = std::make_unique<Engine>(Engine{nullptr,
                                             {},
                                             precision,
                                             facts,
                                             system,
                                             plan,
                                             StepCache(step::BoundPlan::bind(plan, db).value()),
                                             {}});
  return d;
}

// gpt-oss-120b, one B200, bf16 KV, 64 requests of 65536/1024. 18 of 36 layers keep every token, 18
// keep 128, at 2 x 8 x 64 x 2 bytes a layer: 2.29 GiB each. The model fits, the batch does not.
TEST(Case, TheBatchDoesNotFitButTheModelDoes) {
  Deployment d =
      deploy("openai/gpt-oss-120b", hw::find_system("b200_sxm").value(), "vllm", "bfloat16");
  d.engine->model = &d.model;
  const MemoryQuestion q{Role::mixed, 64, 8192, 65536 + 1024, 0};
  EXPECT_NEAR(gib(kv_bytes(*d.engine, q.kv_tokens)), 2.29, 0.005);
  EXPECT_FALSE(fits(*d.engine, memory_use(*d.engine, q), q));
  const std::int64_t most = largest_batch(*d.engine, q);
  EXPECT_GT(most, 0);
  EXPECT_LT(most, 64);
  MemoryQuestion shorter = q;
  shorter.kv_tokens = longest_request(*d.engine, q);
  EXPECT_EQ(largest_batch(*d.engine, shorter), 64);
}

// Qwen3-32B-FP8 on one H100, TensorRT-LLM, bf16 KV, 4000/1000. By hand: 32.76 G parameters, of
// which 1.556 G in 16 bits (embedding and head), 31.95 GiB; activations of 8192 tokens
// 2 x 8192 x 8192 x 11 B = 1.375 GiB; reserve 3.5 GiB; the pool is 0.9 x 0.9653 of the other 43.2
// GiB; a request takes 5024 tokens of 256 KiB. That is 30.6 requests.
TEST(Case, CapacityIsWithinOneRequestOfTheCalculation) {
  Deployment d =
      deploy("Qwen/Qwen3-32B-FP8", hw::find_system("h100_sxm").value(), "trtllm", "bfloat16");
  d.engine->model = &d.model;
  EXPECT_NEAR(gib(d.engine->plan.weights), 31.95, 0.15);
  EXPECT_NEAR(static_cast<double>(largest_batch(*d.engine, {Role::mixed, 1, 4000, 5000, 0})), 30,
              1);
}

// Llama-3.1-8B on a 24 GB card: total x 0.9 less the weights alone would hold 54,400 tokens, the
// engine reported 41,408. Activations and context are subtracted, and the engine's figure may be
// pinned.
TEST(Case, ActivationsAndContextAreSubtractedFromThePool) {
  const hw::System card =
      hw::parse_system_spec("rtx4090", "mem=23.99,bw=1008,bf16=165,sm=89").value();
  Deployment d = deploy("meta-llama/Meta-Llama-3.1-8B", card, "vllm", "bfloat16");
  d.engine->model = &d.model;
  d.engine->pins.memory_fraction = 0.9;
  const MemoryQuestion q{Role::mixed, 8, 2048, 2048, 0};
  EXPECT_LT(pool_tokens(*d.engine, memory_use(*d.engine, q)), 54400);
  d.engine->pins.pool_tokens = 41408;
  EXPECT_EQ(pool_tokens(*d.engine, memory_use(*d.engine, q)), 41408);
  EXPECT_EQ(largest_batch(*d.engine, q), 20);  // 41408 / 2048
}

// gpt-oss-120b, 4 prompts of 65536: drafts do not swell a prefill.
TEST(Case, DraftTokensDoNotScalePrefillActivations) {
  Deployment d =
      deploy("openai/gpt-oss-120b", hw::find_system("b200_sxm").value(), "sglang", "bfloat16");
  d.engine->model = &d.model;
  const MemoryQuestion plain{Role::prefill, 4, 4 * 65536, 65537, 0};
  MemoryQuestion drafts = plain;
  drafts.nextn = 3;
  EXPECT_EQ(memory_use(*d.engine, plain).activations, memory_use(*d.engine, drafts).activations);
}

}  // namespace
}  // namespace setpoint::serve
