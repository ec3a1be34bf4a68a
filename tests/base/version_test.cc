// SPDX-License-Identifier: Apache-2.0
#include "base/version.h"

#include <gtest/gtest.h>

namespace setpoint::base {
namespace {

TEST(Version, ReleasesFollowTheirCandidates) {
  const char* ascending[] = {"0.1.dev19262", "0.5.6",  "0.5.6.post2", "0.5.9",
                             "0.5.10rc0",    "0.5.10", "1.2.0rc5",    "1.3.0rc10",
                             "1.3.0rc20",    "1.3.0",  "1.10"};
  for (std::size_t i = 1; i < std::size(ascending); ++i) {
    EXPECT_LT(parse_version(ascending[i - 1]), parse_version(ascending[i])) << ascending[i];
  }
  EXPECT_EQ(parse_version("1.2"), parse_version("1.2.0"));
}

TEST(Version, OtherTextIsNoVersion) {
  for (const char* text : {"", ".", "1.", "rc1", "v1.0", "1.0-beta", "1.0rc", "1.0rc1.2", "1 .0"}) {
    EXPECT_FALSE(parse_version(text)) << text;
  }
}

}  // namespace
}  // namespace setpoint::base
