// SPDX-License-Identifier: Apache-2.0
// Launch files for what the golden searches find (tests/golden/search.jsonl): each of the best five
// of both modes gets a plan that passes its check, from the result's own JSON.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "deployments.h"
#include "report/json.h"
#include "search/label.h"
#include "search/search.h"

namespace {

using namespace setpoint;
using namespace setpoint::generate;
using namespace setpoint::generate_test;
using base::Json;

std::filesystem::path database() {
  if (const char* given = std::getenv("SETPOINT_DB")) return given;
  return SETPOINT_BINARY_DIR "/share/setpoint/perfdb.db";
}

search::SearchRequest request_of(const Json& golden) {
  Json common = golden["search"];
  common["quant"] = golden["quant"];
  const auto base = must(search::parse_request(common.dump(), "golden"), "golden");
  search::SearchRequest out;
  out.subject = base.subject;
  out.frameworks = {base.framework};
  out.target.gpus = base.gpus;
  const auto bound = [&](const char* key) {
    const Json& sla = golden["sla"];
    return sla.contains(key) ? std::optional<Ms>(Ms(sla[key].get<double>())) : std::nullopt;
  };
  out.sla = {bound("ttft_ms"), bound("tpot_ms"), bound("request_latency_ms")};
  return out;
}

TEST(Golden, EachOfTheBestFiveOfEverySearchGetsAPlan) {
  if (!std::filesystem::exists(database())) {
    GTEST_SKIP() << "no imported database at " << database() << ": run scripts/test";
  }
  std::ifstream in(SETPOINT_SOURCE_DIR "/tests/golden/search.jsonl");
  search::Estimator estimator;
  std::size_t searches = 0, plans = 0;
  for (std::string line; std::getline(in, line); ++searches) {
    const Json golden = Json::parse(line);
    const auto request = request_of(golden);
    const auto result = must(search::search(request), line);
    const Json document = Json::parse(report::search_json(request, {}, result).dump());
    for (const search::ModeResult& mode : result.modes) {
      for (std::size_t rank = 1; rank <= mode.configs.size(); ++rank) {
        const std::string what = fmt::format("{} {} {}: {}", golden["id"].get<std::string>(),
                                             kModeNames[std::size_t(mode.mode)], rank,
                                             search::label(mode.configs[rank - 1]));
        const auto saved =
            must(read_saved(base::JsonView(document, "result.json"), {mode.mode, rank}), what);
        const Deployment d = must(price(estimator, saved), what);
        EXPECT_TRUE(d.notes.empty()) << what << d.notes[0];
        Options options;
        if (!settings(d, options)) options.model_path = "/models/in-the-formats-that-were-priced";
        const auto able = targets_for(d, options);
        ASSERT_FALSE(able.empty()) << what << ": " << generate::generate(d, options).error().text;
        for (const Target target : able) {
          options.target = target;
          const auto files = generate::generate(d, options);
          EXPECT_TRUE(files.ok()) << what << ": " << (files ? "" : files.error().text);
          ++plans;
        }
      }
    }
  }
  EXPECT_EQ(searches, 14u);
  EXPECT_GE(plans, 14u * 5);
  fmt::print("{} plans for {} searches\n", plans, searches);
}

}  // namespace
