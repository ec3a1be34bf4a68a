// SPDX-License-Identifier: Apache-2.0
// Golden operator queries (tests/golden/operators.jsonl, made by tools/reshape_operators.py) as
// operators and points.
#pragma once

#include <fstream>
#include <string>
#include <vector>

#include "base/json.h"
#include "ops/op.h"

namespace setpoint::perfdb {

struct GoldenQuery {
  std::string id, tag, gpu, framework, version, mode;
  ops::Op op;
  std::vector<ops::Point> at;  // the golden time is the mean over these
  double ms = 0;
};

inline ops::Op golden_op(const std::string& family, const base::Json& s) {
  const auto i = [&](const char* key) { return s.at(key).get<std::int64_t>(); };
  const auto q = [&](const char* key) { return *ops::parse_quant(s.at(key).get<std::string>()); };
  if (family == "gemm") return ops::Gemm{q("quant"), i("n"), i("k")};
  if (family == "context_attention") {
    return ops::ContextAttention{i("heads"),  i("kv_heads"), i("head_dim"),
                                 i("window"), q("kv"),       q("fmha")};
  }
  if (family == "generation_attention") {
    return ops::GenerationAttention{i("heads"), i("kv_heads"), i("head_dim"), i("window"), q("kv")};
  }
  if (family == "encoder_attention") {
    return ops::EncoderAttention{i("heads"), i("head_dim"), q("fmha")};
  }
  if (family == "context_mla") return ops::ContextMla{i("heads"), q("kv"), q("fmha")};
  if (family == "generation_mla") return ops::GenerationMla{i("heads"), q("kv")};
  if (family == "mla_context_module") {
    return ops::MlaContextModule{i("heads"), i("native_heads"), q("gemm"), q("kv"), q("fmha")};
  }
  if (family == "mla_generation_module") {
    return ops::MlaGenerationModule{i("heads"), i("native_heads"), q("gemm"), q("kv"), q("fmha")};
  }
  if (family == "mla_bmm") return ops::MlaBmm{i("heads"), s.at("pre").get<bool>(), q("quant")};
  if (family == "moe") {
    return ops::Moe{i("hidden"),
                    i("inter"),
                    i("topk"),
                    i("experts"),
                    i("tp"),
                    i("ep"),
                    q("quant"),
                    s.at("gated").get<bool>(),
                    s.at("alpha").get<double>()};
  }
  if (family == "custom_allreduce") return ops::CustomAllReduce{i("hidden"), i("ranks")};
  return ops::Collective{static_cast<ops::CollectiveKind>(i("kind")),
                         s.at("elements").get<double>(), i("ranks"), q("quant")};
}

inline GoldenQuery golden_query(const std::string& line) {
  const auto json = base::Json::parse(line);
  const auto text = [&](const char* key) { return json.at(key).get<std::string>(); };
  GoldenQuery query{text("id"),
                    text("tag"),
                    text("gpu"),
                    text("framework"),
                    text("version"),
                    text("mode"),
                    golden_op(text("op"), json.at("shape")),
                    {},
                    json.at("ms").get<double>()};
  const auto& at = json.at("at");
  const auto number = [&](const char* key) { return at.value(key, 0.0); };
  ops::Point point{number("tokens"), number("batch"), 0, number("prefix")};
  const bool several = at.contains("seq") && at.at("seq").is_array();
  const auto lengths =
      several ? at.at("seq").get<std::vector<double>>() : std::vector<double>{number("seq")};
  for (const double length : lengths) {
    point.seq = length;
    query.at.push_back(point);
  }
  return query;
}

inline std::vector<GoldenQuery> read_golden(const std::string& file) {
  std::vector<GoldenQuery> queries;
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) queries.push_back(golden_query(line));
  return queries;
}

}  // namespace setpoint::perfdb
