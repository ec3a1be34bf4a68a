// SPDX-License-Identifier: Apache-2.0
#include "cli/op_query.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "base/text.h"

namespace setpoint::cli {
namespace {

constexpr std::int64_t kMost = std::int64_t{1} << 31;
constexpr double kMostAlpha = 8;  // beyond it one expert takes everything

// Reads members by name, remembers which there are and the first thing that is wrong.
class Fields {
 public:
  explicit Fields(const base::JsonView& json) : json_(json) {}

  std::int64_t integer(const char* name, std::optional<std::int64_t> fallback = {},
                       std::int64_t least = 1) {
    return value(name, fallback, [&](const base::JsonView& v) { return v.integer(least, kMost); });
  }
  double number(const char* name, std::optional<double> fallback, double least, double most) {
    return value(name, fallback, [&](const base::JsonView& v) { return v.number(least, most); });
  }
  bool boolean(const char* name, std::optional<bool> fallback = {}) {
    return value(name, fallback, [](const base::JsonView& v) { return v.boolean(); });
  }
  std::string text(const char* name, const std::optional<std::string>& fallback = {}) {
    return value(name, fallback, [](const base::JsonView& v) { return v.string(); });
  }
  ops::Quant quant(const char* name, std::optional<ops::Quant> fallback = {}) {
    return value(name, fallback, [&](const base::JsonView& v) -> Result<ops::Quant> {
      SP_TRY(const std::string text, v.string());
      if (const auto known = ops::parse_quant(text)) return *known;
      std::vector<std::string> names;
      for (const ops::QuantInfo& info : ops::kQuants) names.emplace_back(info.name);
      return v.error(base::unknown_name("number format", text, names));
    });
  }
  ops::CollectiveKind collective(const char* name) {
    return value(name, std::optional<ops::CollectiveKind>(),
                 [&](const base::JsonView& v) -> Result<ops::CollectiveKind> {
                   SP_TRY(const std::string text, v.string());
                   const auto& names = ops::kCollectiveNames;
                   const auto it = std::find(names.begin(), names.end(), text);
                   if (it != names.end()) {
                     return static_cast<ops::CollectiveKind>(it - names.begin());
                   }
                   return v.error(base::unknown_name(
                       "collective", text, std::vector<std::string>(names.begin(), names.end())));
                 });
  }

  void tokens() { point.tokens = number("tokens", {}, 1, static_cast<double>(kMost)); }
  void prompt() {
    sequence();
    point.prefix = number("prefix", 0, 0, static_cast<double>(kMost));
  }
  void sequence() {
    point.batch = number("batch", {}, 1, static_cast<double>(kMost));
    point.seq = number("seq", {}, 1, static_cast<double>(kMost));
  }

  Result<void> finish() const {
    if (error_) return *error_;
    return json_.only(names_);
  }

  ops::Point point;

 private:
  template <class T, class Read>
  T value(const char* name, const std::optional<T>& fallback, Read read) {
    names_.emplace_back(name);
    const auto member = json_.find(name);
    if (!member && fallback) return *fallback;
    Result<T> got =
        member
            ? read(*member)
            : Result<T>(Error::bad_input(fmt::format("{}: \"{}\" is missing", json_.path(), name)));
    if (got.ok()) return std::move(got).value();
    if (!error_) error_ = got.error();
    return T{};
  }

  const base::JsonView& json_;
  std::vector<std::string> names_;
  std::optional<Error> error_;
};

constexpr auto kBf16 = ops::Quant::bfloat16;

ops::Op gemm(Fields& f) {
  f.tokens();
  return ops::Gemm{f.quant("quant"), f.integer("n"), f.integer("k")};
}
ops::Op context_attention(Fields& f) {
  f.prompt();
  const auto heads = f.integer("heads"), kv_heads = f.integer("kv_heads");
  const auto head_dim = f.integer("head_dim"), window = f.integer("window", 0, 0);
  return ops::ContextAttention{
      heads, kv_heads, head_dim, window, f.quant("kv", kBf16), f.quant("fmha", kBf16)};
}
ops::Op generation_attention(Fields& f) {
  f.sequence();
  const auto heads = f.integer("heads"), kv_heads = f.integer("kv_heads");
  const auto head_dim = f.integer("head_dim"), window = f.integer("window", 0, 0);
  return ops::GenerationAttention{heads, kv_heads, head_dim, window, f.quant("kv", kBf16)};
}
ops::Op encoder_attention(Fields& f) {
  f.sequence();
  const auto heads = f.integer("heads"), head_dim = f.integer("head_dim");
  return ops::EncoderAttention{heads, head_dim, f.quant("fmha", kBf16)};
}
ops::Op context_mla(Fields& f) {
  f.prompt();
  return ops::ContextMla{f.integer("heads"), f.quant("kv", kBf16), f.quant("fmha", kBf16)};
}
ops::Op generation_mla(Fields& f) {
  f.sequence();
  return ops::GenerationMla{f.integer("heads"), f.quant("kv", kBf16)};
}
template <class Module>
ops::Op mla_module(Fields& f) {
  const auto heads = f.integer("heads"), native = f.integer("native_heads", 128);
  return Module{heads, native, f.quant("gemm", kBf16), f.quant("kv", kBf16),
                f.quant("fmha", kBf16)};
}
ops::Op mla_context_module(Fields& f) {
  f.prompt();
  return mla_module<ops::MlaContextModule>(f);
}
ops::Op mla_generation_module(Fields& f) {
  f.sequence();
  return mla_module<ops::MlaGenerationModule>(f);
}
ops::Op mla_bmm(Fields& f) {
  f.tokens();
  return ops::MlaBmm{f.integer("heads"), f.boolean("pre"), f.quant("quant", kBf16)};
}
ops::Op moe(Fields& f) {
  f.tokens();
  ops::Moe op;
  op.hidden = f.integer("hidden");
  op.inter = f.integer("inter");
  op.topk = f.integer("topk");
  op.experts = f.integer("experts");
  op.tp = f.integer("tp", 1);
  op.ep = f.integer("ep", 1);
  op.quant = f.quant("quant");
  op.gated = f.boolean("gated", true);
  op.alpha = f.number("alpha", 0, 0, kMostAlpha);
  return op;
}
ops::Op custom_allreduce(Fields& f) {
  f.tokens();
  return ops::CustomAllReduce{f.integer("hidden"), f.integer("ranks")};
}
ops::Op nccl(Fields& f) {
  f.tokens();
  const auto kind = f.collective("kind");
  const double elements = f.number("elements", {}, 1, static_cast<double>(kMost));
  return ops::Collective{kind, elements, f.integer("ranks"), f.quant("quant", ops::Quant::half)};
}
ops::Op p2p(Fields& f) {
  f.tokens();
  return ops::P2p{f.integer("hidden"), f.integer("span", 2, 2)};
}
ops::Op elementwise(Fields& f) {
  f.tokens();
  return ops::Elementwise{f.number("bytes_per_token", {}, 0, static_cast<double>(kMost))};
}
ops::Op embedding(Fields& f) {
  f.tokens();
  return ops::Embedding{f.integer("hidden")};
}

struct Builder {
  const char* op;
  ops::Op (*build)(Fields&);
};
constexpr std::array kBuilders{Builder{"gemm", gemm},
                               Builder{"context_attention", context_attention},
                               Builder{"generation_attention", generation_attention},
                               Builder{"encoder_attention", encoder_attention},
                               Builder{"context_mla", context_mla},
                               Builder{"generation_mla", generation_mla},
                               Builder{"mla_context_module", mla_context_module},
                               Builder{"mla_generation_module", mla_generation_module},
                               Builder{"mla_bmm", mla_bmm},
                               Builder{"moe", moe},
                               Builder{"custom_allreduce", custom_allreduce},
                               Builder{"nccl", nccl},
                               Builder{"p2p", p2p},
                               Builder{"elementwise", elementwise},
                               Builder{"embedding", embedding}};

}  // namespace

Result<OpQuery> parse_op_query(const base::JsonView& json) {
  if (!json.is_object()) return json.error("is not an object");
  Fields fields(json);
  OpQuery query;
  const std::string op = fields.text("op");
  query.system = fields.text("system");
  query.framework = fields.text("framework");
  query.version = fields.text("version", "");
  (void)fields.text("id", "");
  const auto builder = std::find_if(kBuilders.begin(), kBuilders.end(),
                                    [&op](const Builder& b) { return b.op == op; });
  if (builder == kBuilders.end()) {
    std::vector<std::string> known;
    for (const Builder& b : kBuilders) known.emplace_back(b.op);
    return json.error(base::unknown_name("operator", op, known));
  }
  query.op = builder->build(fields);
  SP_CHECK(fields.finish());
  query.point = fields.point;
  return query;
}

}  // namespace setpoint::cli
