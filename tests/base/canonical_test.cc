// SPDX-License-Identifier: Apache-2.0
#include "base/canonical.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/sha256.h"

namespace setpoint::base {
namespace {

std::string canonical(const std::string& text) {
  return canonical_json(parse_json(text, "test").value()).value();
}

// NIST's example vectors of FIPS 180-4, and the empty text.
TEST(Sha256, GivesTheDigestsOfTheStandard) {
  EXPECT_EQ(sha256_hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256_hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(sha256_hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256_hex(std::string(1000000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, KnowsTheFormOfADigest) {
  EXPECT_TRUE(is_sha256_hex(sha256_hex("")));
  EXPECT_FALSE(is_sha256_hex(""));
  EXPECT_FALSE(is_sha256_hex(std::string(64, 'A')));
  EXPECT_FALSE(is_sha256_hex(std::string(63, 'a')));
}

TEST(Canonical, SortsKeysAndLeavesOutSpaces) {
  EXPECT_EQ(canonical(R"( {"b": [1, {"z": null, "a": true}], "a" : "x", "B": {}, "c": []} )"),
            R"({"B":{},"a":"x","b":[1,{"a":true,"z":null}],"c":[]})");
}

TEST(Canonical, WritesEachNumberOnceInItsShortestForm) {
  EXPECT_EQ(canonical("[1.0, 1, 10e2, -0.0, 0.10, 1e-5, 0.1e21, 9007199254740993, -7]"),
            "[1,1,1000,0,0.1,1e-05,1e+20,9007199254740993,-7]");
  EXPECT_EQ(canonical("[5e-324, 1.7976931348623157e308, 2.5]"),
            "[5e-324,1.7976931348623157e+308,2.5]");
}

TEST(Canonical, IsAFixedPoint) {
  for (const char* text : {"[1e21,123456789012345680000,18446744073709551615,18446744073709551616]",
                           R"(["é\u00e9\n\u0001\"\\/",0.30000000000000004,1e16])"}) {
    const std::string once = canonical(text);
    EXPECT_EQ(canonical(once), once);
  }
}

TEST(Canonical, RefusesWhatJsonCannotHold) {
  EXPECT_FALSE(canonical_json(Json{{"a", std::nan("")}}).ok());
  EXPECT_FALSE(canonical_json(Json{{"a", INFINITY}}).ok());
  EXPECT_FALSE(canonical_json(Json{{"a", "\xff"}}).ok());
  EXPECT_FALSE(canonical_json(Json{{"\xc3", 1}}).ok());
}

}  // namespace
}  // namespace setpoint::base
