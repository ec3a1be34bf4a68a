// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "judge/defects.h"
#include "judge/register.h"

namespace setpoint::judge {
namespace {

TEST(ShippedRegister, LoadsWithItsDefects) {
  EXPECT_EQ(register_names(), (std::vector<std::string>{"deepspeed", "generic", "megatron-bridge",
                                                        "megatron-core", "torchtitan"}));
  for (const std::string& name : register_names()) {
    const auto by = load_register(name);
    ASSERT_TRUE(by) << by.error().text;
    const auto defects = shipped_defects(*by);
    ASSERT_TRUE(defects) << defects.error().text;
    EXPECT_FALSE(defects->all.empty()) << name;
  }
}

}  // namespace
}  // namespace setpoint::judge
