// SPDX-License-Identifier: Apache-2.0
#include "report/text.h"

#include <gtest/gtest.h>

#include <cmath>
#include <sstream>

#include "base/text.h"
#include "report/plot.h"
#include "report/recorded.h"
#include "report/table.h"
#include "search/label.h"

namespace setpoint::report {
namespace {

TEST(Text, NumbersCarryTheDigitsThatMatter) {
  EXPECT_EQ(number(2.314), "2.31");
  EXPECT_EQ(number(29.24), "29.2");
  EXPECT_EQ(number(823.14), "823.1");
  EXPECT_EQ(number(12345.6), "12,346");
  const std::vector<double> column{2.314, 1234.5, std::nan("")};
  EXPECT_EQ(numbers(column), (std::vector<std::string>{"2", "1234", "n/a"}));
  EXPECT_EQ(base::grouped(1234567), "1,234,567");
  EXPECT_EQ(base::grouped(-123), "-123");
  EXPECT_EQ(milliseconds(Ms(30'000)), "30.0 s");
}

TEST(Text, EvidenceNamesTheSourcesLargestFirst) {
  EXPECT_EQ(evidence({0.18, 0, 0, 0, 0, 0.82}), "82 % roofline, 18 % measured");
  EXPECT_EQ(evidence({0.999, 0, 0.001, 0, 0, 0}), "100 % measured");
  EXPECT_EQ(evidence({}), "none");
}

TEST(Text, AShardIsNamedByWhatIsCut) {
  EXPECT_EQ(search::label(model::Shard{4, 1, 1, 4, 1, 1}), "tp4");
  EXPECT_EQ(search::label(model::Shard{2, 2, 4, 1, 8, 1}), "tp2pp2dp4ep8");
  EXPECT_EQ(search::label(model::Shard{8, 1, 1, 4, 2, 1}), "tp8ep2mtp4");
}

TEST(Text, WrappingNeverExceedsTheWidthNorLosesAWord) {
  const std::string text = "one two three four five six seven eight " + std::string(70, 'x');
  const std::string out = wrapped(text, 40, 4);
  EXPECT_LE(report_test::widest_line(out), 40);
  std::string squeezed = out, original = text;
  std::erase_if(squeezed, [](char c) { return c == ' ' || c == '\n'; });
  std::erase_if(original, [](char c) { return c == ' '; });
  EXPECT_EQ(squeezed, original);
}

TEST(Table, DropsTheMostDispensableColumnsUntilItFits) {
  const std::vector<Column> columns{{"name", "", {"a"}, 0, true},
                                    {std::string(30, 'b'), "", {"1"}, 1},
                                    {std::string(30, 'c'), "", {"2"}, 2},
                                    {"last", "", {"3"}}};
  const std::string out = table({80, false, false}, columns);
  EXPECT_NE(out.find("ccc"), std::string::npos);
  const std::string narrow = table({60, false, false}, columns);
  EXPECT_EQ(narrow.find("ccc"), std::string::npos);
  EXPECT_NE(narrow.find("bbb"), std::string::npos);
  EXPECT_NE(narrow.find("last"), std::string::npos);
}

TEST(Plot, PutsAPointWhereItsValuesSay) {
  Plot plot;
  plot.x_label = "x";
  plot.y_label = "y";
  plot.rows = 5;
  plot.series = {{"corner", 'o', "o", Ink::plain, {{100, 10}}}};
  const std::string out = draw({60, false, false}, plot);
  std::istringstream lines(out);
  std::string label, top;
  std::getline(lines, label);
  std::getline(lines, top);
  EXPECT_EQ(top.back(), 'o');  // both at their axis' end: last column of the top row
  EXPECT_EQ(draw({60, false, false}, Plot{}), "");
}

TEST(Plot, LeavesOutWhatCannotBeDrawn) {
  Plot plot;
  plot.series = {{"bad", 'o', "o", Ink::plain, {{std::nan(""), 1}, {1, INFINITY}, {-1, 2}}}};
  EXPECT_EQ(draw({80, false, false}, plot), "");
}

}  // namespace
}  // namespace setpoint::report
