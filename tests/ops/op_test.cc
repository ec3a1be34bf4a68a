// SPDX-License-Identifier: Apache-2.0
#include "ops/op.h"

#include <gtest/gtest.h>

namespace setpoint::ops {
namespace {

TEST(Op, KnowsItsTable) {
  EXPECT_EQ(family(Gemm{}), "gemm");
  EXPECT_EQ(family(MlaGenerationModule{}), "mla_generation_module");
  EXPECT_EQ(family(CustomAllReduce{}), "custom_allreduce");
  EXPECT_EQ(family(Embedding{}), "embedding");
}

}  // namespace
}  // namespace setpoint::ops
