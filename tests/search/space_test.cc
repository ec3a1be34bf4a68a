// SPDX-License-Identifier: Apache-2.0
#include "search/space.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace {

using namespace setpoint;
using namespace setpoint::search;
using model::Shard;

model::ModelSpec make_model(std::int64_t layers, std::int64_t heads, std::int64_t experts,
                            std::int64_t expert_width) {
  model::ModelSpec model;
  model.hidden = 4096;
  model.vocab = 100000;
  model::LayerGroup group;
  group.count = layers;
  group.attention = {.heads = heads, .kv_heads = 8, .head_dim = 128, .v_head_dim = 128};
  group.ffn.moe = experts > 0;
  group.ffn.inter = expert_width;
  group.ffn.experts = experts;
  group.ffn.topk = experts > 0 ? 8 : 0;
  model.layers = {group};
  return model;
}

framework::Facts every_freedom() { return {}; }

bool holds(const std::vector<Shard>& shards, const Shard& wanted) {
  return std::find(shards.begin(), shards.end(), wanted) != shards.end();
}

TEST(Space, DenseCutsAreAllTensorAndPipelineWidths) {
  const auto shards = list_shards(make_model(36, 40, 0, 12288), every_freedom(), {8, 8});
  for (const Shard& s : shards) {
    EXPECT_EQ(s.dp, 1);
    EXPECT_EQ(s.moe_tp * s.moe_ep, 1);
    EXPECT_LE(s.gpus(), 8);
  }
  EXPECT_TRUE(holds(shards, {.tp = 5}));  // 40 heads over 5
  EXPECT_TRUE(holds(shards, {.tp = 2, .pp = 3}));
  EXPECT_FALSE(holds(shards, {.tp = 3}));
}

TEST(Space, ExpertWidthAlwaysEqualsAttentionWidth) {
  const auto shards = list_shards(make_model(60, 64, 128, 1536), every_freedom(), {64, 8});
  for (const Shard& s : shards) {
    EXPECT_EQ(s.moe_tp * s.moe_ep, s.tp * s.dp * s.cp);
    EXPECT_LE(s.tp, 8);
    EXPECT_LE(s.moe_tp, 8);
    EXPECT_LE(s.gpus(), 64);
  }
  EXPECT_TRUE(holds(shards, {.tp = 1, .dp = 64, .moe_tp = 1, .moe_ep = 64}));
  EXPECT_TRUE(holds(shards, {.tp = 2, .dp = 4, .moe_tp = 4, .moe_ep = 2}));
  EXPECT_TRUE(std::adjacent_find(shards.begin(), shards.end()) == shards.end());
}

// AIConfigurator 0.12.0 enumerates num_gpu 1..16 x tp x dp x moe_tp x moe_ep of powers of two.
TEST(Space, HoldsEveryFusedCutThePeerTriesWithinANode) {
  const auto shards = list_shards(make_model(94, 64, 128, 1536), every_freedom(), {8, 8});
  for (int tp = 1; tp <= 8; tp *= 2) {
    for (int dp = 1; tp * dp <= 8; dp *= 2) {
      for (int ep = 1; ep <= tp * dp; ep *= 2) {
        EXPECT_TRUE(holds(shards, {.tp = tp, .dp = dp, .moe_tp = tp * dp / ep, .moe_ep = ep}));
      }
    }
  }
}

TEST(Space, ASmallModelStaysInsideOneNode) {
  hw::System node;
  node.gpu.memory = Bytes(std::int64_t{141} << 30);
  node.node.gpus = 8;
  const auto small = make_model(48, 32, 128, 768);    // about 30 B parameters in 16 bits
  const auto large = make_model(61, 128, 256, 2048);  // hundreds of billions
  model::Precision precision;
  EXPECT_EQ(space_limits(small, precision, node, 64).gpus, 8);
  EXPECT_EQ(space_limits(small, precision, node, 4).gpus, 4);
  EXPECT_EQ(space_limits(large, precision, node, 64).gpus, 64);
  node.node.gpus = 4;
  node.node.gpus_per_rack = 72;
  EXPECT_EQ(space_limits(small, precision, node, 64).domain, 72);
}

}  // namespace
