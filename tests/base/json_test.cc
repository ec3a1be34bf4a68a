// SPDX-License-Identifier: Apache-2.0
#include "base/json.h"

#include <gtest/gtest.h>

#include <limits>

#include "base/embedded.h"
#include "base/text.h"

namespace setpoint::base {
namespace {

TEST(Json, ErrorsNameThePathAndTheWantedRange) {
  const Json json = parse_json(R"({"layers":[{"heads":-3}]})", "config.json").value();
  const JsonView root(json, "config.json");
  const auto heads = root.at("layers")->items()->at(0).at("heads")->integer(1, 1000);
  ASSERT_FALSE(heads.ok());
  EXPECT_EQ(heads.error().text,
            "config.json.layers[0].heads: expected a whole number from 1 to 1000, found -3");
  EXPECT_EQ(heads.error().code, ErrorCode::bad_input);
}

TEST(Json, NullCountsAsAbsent) {
  const Json json = parse_json(R"({"a":null})", "x").value();
  EXPECT_FALSE(JsonView(json, "x").find("a").has_value());
  EXPECT_EQ(JsonView(json, "x").at("a").error().text, "x: key \"a\" is missing");
}

TEST(Json, RefusesWhatIsNoWholeNumberInRange) {
  for (const char* text : {"1.5", "1e30", "18446744073709551615", "\"7\"", "true", "[]", "1e999"}) {
    const auto json = parse_json(text, "x");
    if (!json.ok()) continue;  // out of a double's range: refused by the parser already
    EXPECT_FALSE(JsonView(*json, "x").integer(0, 1'000'000).ok()) << text;
  }
  const Json fine = parse_json("8.0", "x").value();
  EXPECT_EQ(JsonView(fine, "x").integer(0, 10).value(), 8);
}

TEST(Json, DeepNestingIsRefusedInsteadOfOverflowingTheStack) {
  const auto deep = parse_json(std::string(100'000, '[') + std::string(100'000, ']'), "bomb");
  ASSERT_FALSE(deep.ok());
  EXPECT_NE(deep.error().text.find("nested deeper than"), std::string::npos);
}

TEST(Json, UnknownKeyNamesTheNearest) {
  const Json json = parse_json(R"({"modle":1})", "request").value();
  const std::vector<std::string> known{"model", "system"};
  const auto checked = JsonView(json, "request").only(known);
  ASSERT_FALSE(checked.ok());
  EXPECT_EQ(checked.error().text, "request: unknown key \"modle\": nearest known: model, system");
}

TEST(Text, NearestPutsContainingNamesAndSmallEditsFirst) {
  const std::vector<std::string> known{"b200_sxm", "h100_sxm", "h200_sxm", "l40s"};
  EXPECT_EQ(nearest("h20", known, 1).front(), "h200_sxm");
  EXPECT_EQ(nearest("H10_sxm", known, 1).front(), "h100_sxm");
}

TEST(Embedded, UnknownPathIsAbsent) { EXPECT_FALSE(embedded_file("perfdb/none.json").has_value()); }

}  // namespace
}  // namespace setpoint::base
