// SPDX-License-Identifier: Apache-2.0
#include "generate/deployment.h"

#include <gtest/gtest.h>

#include "deployments.h"
#include "report/json.h"
#include "search/search.h"

namespace {

using namespace setpoint;
using namespace setpoint::generate;
using namespace setpoint::generate_test;
using base::Json;
using base::JsonView;

// A search's document as a file would hold it.
const Json& searched() {
  static const Json document = [] {
    search::SearchRequest request;
    request.subject.model = "Qwen/Qwen3-32B-FP8";
    request.subject.system = "h200_sxm";
    request.subject.data = perfdb::DataMode::roofline;
    request.subject.workload = {.isl = 4000, .osl = 500};
    request.frameworks = {"vllm"};
    request.target.gpus = 8;
    request.sla.tpot = Ms(30);
    const auto result = must(setpoint::search::search(request), "search");
    return Json::parse(report::search_json(request, {}, result).dump());
  }();
  return document;
}

Json estimated(const std::string& json) {
  auto request = must(search::parse_request(json, "request"), json);
  request.subject.data = perfdb::DataMode::roofline;
  const auto answer = must(search::estimate(request), json);
  return Json::parse(report::estimate_json(request, {}, answer).dump());
}

Result<Saved> read(const Json& document, const Choice& choice = {}) {
  return read_saved(JsonView(document, "result.json"), choice);
}
std::string refusal(const Json& document, const Choice& choice = {}) {
  const auto saved = read(document, choice);
  return saved ? std::string("read") : saved.error().text;
}
Deployment priced(const Json& document, const Choice& choice = {}) {
  search::Estimator estimator;
  return must(price(estimator, must(read(document, choice), "read")), "price");
}

TEST(Saved, EveryRowOfASearchIsPricedAgainToTheSameDigits) {
  for (const Mode mode : {Mode::agg, Mode::disagg}) {
    const auto name = std::string(kModeNames[static_cast<std::size_t>(mode)]);
    const auto& rows = searched()[name]["configs"];
    ASSERT_GE(rows.size(), 3u) << name;
    for (std::size_t rank = 1; rank <= rows.size(); ++rank) {
      const Deployment d = priced(searched(), {mode, rank});
      EXPECT_TRUE(d.notes.empty()) << d.notes[0];
      EXPECT_FALSE(d.stated);
      EXPECT_EQ(report::config_json(d.estimate), rows[rank - 1]);
    }
  }
}

TEST(Saved, TheBestRowIsTheDefault) {
  const Json& best = searched()["best"];
  EXPECT_EQ(kModeNames[static_cast<std::size_t>(priced(searched()).estimate.mode)], best["mode"]);
  Json none = searched();
  none["best"] = nullptr;
  const auto saved = read(none);
  ASSERT_FALSE(saved.ok());
  EXPECT_EQ(saved.error().code, ErrorCode::no);
  EXPECT_EQ(saved.error().text, "result.json: best: the search found no configuration");
  EXPECT_EQ(refusal(searched(), {Mode::agg, 99}).substr(0, 40),
            "result.json.agg.configs: rank 99: there ");
}

// Its own GPU, pinned engine settings and a queue: everything that an estimate was asked with.
TEST(Saved, AnEstimateIsPricedAgainToTheSameDigits) {
  for (
      const char* json :
      {R"({"model": "Qwen/Qwen3-32B", "system": "h200_sxm", "isl": 4000, "osl": 500, "tp": 2,
            "framework": "trtllm", "concurrency": 900, "memory_fraction": 0.8})",
       R"({"model": "Qwen/Qwen3-30B-A3B", "system": "h200_sxm", "isl": 4000, "osl": 500, "tp": 1,
            "dp": 4, "framework": "sglang", "batch": 8, "chunk_tokens": 2048, "gpus": 8,
            "nextn": 0, "quant": {"kv": "fp8"}, "alpha": 1.1})",
       R"({"model": "Qwen/Qwen3-32B", "system": "h200_sxm", "decode_system": "h100_sxm", "isl": 4000,
            "osl": 500, "framework": "vllm", "framework_version": "0.33.0", "mode": "disagg",
            "prefix": 1000, "prefill": {"tp": 1, "batch": 1, "workers": 3},
            "decode": {"tp": 2, "batch": 40}})"}) {
    const Deployment d = priced(estimated(json));
    EXPECT_TRUE(d.notes.empty()) << d.notes[0];
  }
}

TEST(Saved, AnEditedFigureIsSaidAndKept) {
  Json edited = searched();
  edited["agg"]["configs"][0]["tpot_ms"] = 1.5;
  edited["agg"]["configs"][0]["workers"][0]["quant"]["kv"] = "fp8";
  const Deployment d = priced(edited, {Mode::agg, 1});
  ASSERT_EQ(d.notes.size(), 1u);
  EXPECT_NE(d.notes[0].find("tpot_ms \"1.5\" in the file"), std::string::npos) << d.notes[0];
  EXPECT_NE(d.notes[0].find("workers[0].quant.kv"), std::string::npos) << d.notes[0];
  ASSERT_TRUE(d.stated);
  EXPECT_EQ((*d.stated)["tpot_ms"], 1.5);
  EXPECT_NE(d.estimate.performance.tpot.value(), 1.5);
}

TEST(Saved, AnEditedLayoutOrBatchIsJudgedByTheModel) {
  search::Estimator estimator;
  Json cut = searched();
  cut["agg"]["configs"][0]["workers"][0]["tp"] = 3;
  const auto bad = price(estimator, must(read(cut, {Mode::agg, 1}), "read"));
  ASSERT_FALSE(bad.ok());
  EXPECT_EQ(bad.error().code, ErrorCode::bad_input);
  Json full = searched();
  full["agg"]["configs"][0]["workers"][0]["batch"] = 100000;
  full["agg"]["configs"][0]["workers"][0]["max_num_tokens"] = 108192;
  const auto no = price(estimator, must(read(full, {Mode::agg, 1}), "read"));
  ASSERT_FALSE(no.ok());
  EXPECT_EQ(no.error().code, ErrorCode::no);
  EXPECT_NE(no.error().text.find("the largest batch that fits"), std::string::npos);
}

TEST(Saved, AMissingWrongOrUnknownKeyIsNamed) {
  const auto with = [&](const std::string& pointer, const Json& value) {
    Json document = searched();
    document[Json::json_pointer(pointer)] = value;
    return refusal(document, {Mode::agg, 1});
  };
  EXPECT_EQ(refusal(Json::array()), "result.json: expected the JSON of a search or an estimate");
  EXPECT_NE(with("/inputs/model", nullptr).find("model"), std::string::npos);
  EXPECT_NE(with("/inputs/isl", -1).find("inputs.isl"), std::string::npos);
  EXPECT_NE(with("/inputs/isl", 1e30).find("inputs.isl"), std::string::npos);
  EXPECT_NE(with("/inputs/prefix", 4000).find("prefix"), std::string::npos);
  EXPECT_NE(with("/inputs/data", "guess").find("data"), std::string::npos);
  EXPECT_NE(with("/inputs/colour", 1).find("colour"), std::string::npos);
  EXPECT_NE(with("/colour", 1).find("colour"), std::string::npos);
  EXPECT_NE(with("/agg/configs", 7).find("agg.configs"), std::string::npos);
  const std::string row = "/agg/configs/0";
  EXPECT_NE(with(row + "/colour", 1).find("colour"), std::string::npos);
  EXPECT_NE(with(row + "/framework", "tgi").find("framework"), std::string::npos);
  EXPECT_NE(with(row + "/gpus_asked", 0).find("gpus_asked"), std::string::npos);
  EXPECT_NE(with(row + "/workers", Json::array()).find("workers"), std::string::npos);
  EXPECT_NE(with(row + "/workers/0/tp", "2").find("workers[0].tp"), std::string::npos);
  EXPECT_NE(with(row + "/workers/0/tp", nullptr).find("tp"), std::string::npos);
  EXPECT_NE(with(row + "/workers/0/role", "decode").find("expected mixed"), std::string::npos);
  EXPECT_NE(with(row + "/workers/0/colour", 1).find("colour"), std::string::npos);
}

}  // namespace
