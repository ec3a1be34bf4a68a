// SPDX-License-Identifier: Apache-2.0
// Our operator lists, KV bytes and weights beside AIConfigurator 0.12.0's for 127 estimates
// (tests/golden/ops_lists.json). They are equal except for the differences in kDifferences, each of
// which is applied to the reference's list before comparing and names its cause.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "base/file.h"
#include "base/json.h"
#include "model/plan.h"
#include "model/read.h"

namespace setpoint::model {
namespace {

using base::Json;
using Counts = std::map<std::string, double>;  // operator with its dimensions -> executions

constexpr double kTpOf128Heads = 128;  // the reference's literal

struct Key {
  std::string operator()(const ops::Gemm& o) const {
    return fmt::format("gemm {} {}x{}", ops::name(o.quant), o.n, o.k);
  }
  std::string operator()(const ops::ContextAttention& o) const {
    return fmt::format("context_attention {} {} {} {} {} {}", o.heads, o.kv_heads, o.head_dim,
                       o.window, ops::name(o.kv), ops::name(o.fmha));
  }
  std::string operator()(const ops::GenerationAttention& o) const {
    return fmt::format("generation_attention {} {} {} {} {}", o.heads, o.kv_heads, o.head_dim,
                       o.window, ops::name(o.kv));
  }
  std::string operator()(const ops::ContextMla& o) const {
    return fmt::format("context_mla {} {} {}", o.heads, ops::name(o.kv), ops::name(o.fmha));
  }
  std::string operator()(const ops::GenerationMla& o) const {
    return fmt::format("generation_mla {} {}", o.heads, ops::name(o.kv));
  }
  std::string operator()(const ops::MlaContextModule& o) const {
    return fmt::format("mla_context_module {} {} {} {} {}", o.heads, o.native_heads,
                       ops::name(o.gemm), ops::name(o.kv), ops::name(o.fmha));
  }
  std::string operator()(const ops::MlaGenerationModule& o) const {
    return fmt::format("mla_generation_module {} {} {} {} {}", o.heads, o.native_heads,
                       ops::name(o.gemm), ops::name(o.kv), ops::name(o.fmha));
  }
  std::string operator()(const ops::MlaBmm& o) const {
    return fmt::format("mla_bmm {} {} {}", o.heads, o.pre, ops::name(o.quant));
  }
  std::string operator()(const ops::Moe& o) const {
    return fmt::format("moe {} {} {} {} {} {} {} {}", o.hidden, o.inter, o.topk, o.experts, o.tp,
                       o.ep, ops::name(o.quant), o.alpha);
  }
  std::string operator()(const ops::CustomAllReduce& o) const {
    return fmt::format("all_reduce {} {}", o.hidden, o.ranks);
  }
  std::string operator()(const ops::Collective& o) const {
    return fmt::format("{} {} {}", ops::kCollectiveNames[static_cast<std::size_t>(o.kind)],
                       o.elements, o.ranks);
  }
  std::string operator()(const ops::P2p& o) const { return fmt::format("p2p {}", o.hidden); }
  std::string operator()(const ops::Elementwise& o) const {
    return fmt::format("elementwise {}", o.bytes_per_token);
  }
  std::string operator()(const ops::Embedding& o) const {
    return fmt::format("embedding {}", o.hidden);
  }
  std::string operator()(const ops::EncoderAttention&) const { return "encoder"; }
};
std::string key(const ops::Op& op) { return std::visit(Key{}, op); }

enum class Side : std::uint8_t { prefill, decode };

struct Record {
  Json json;
  ModelSpec spec;
  hw::System system;
  framework::Facts facts;
  Shard shard;
  Precision precision;
  int nextn = 0;

  PlanInput input() const { return {spec, shard, precision, facts, system, nextn}; }
  bool latent() const { return spec.layers.front().attention.kind == AttentionKind::mla; }
  double layers() const { return static_cast<double>(spec.layer_count()); }
  double dense_layers() const {
    return spec.is_moe() && !spec.layers.front().ffn.moe
               ? static_cast<double>(spec.layers.front().count)
               : 0;
  }
  std::string name() const {
    return fmt::format("{} {} {} tp{} pp{} dp{} etp{} ep{} nextn{}", spec.id, facts.name,
                       system.name, shard.tp, shard.pp, shard.dp, shard.moe_tp, shard.moe_ep,
                       nextn);
  }
};

Record record(const Json& json) {
  Record r;
  r.json = json;
  r.spec = read_model(json["model"], "", 90).value();
  r.system = hw::find_system(json["system"]).value();
  const std::string framework = json["framework"];
  const auto version = framework::current_version(framework, r.system.name).value();
  r.facts = framework::find_facts(framework, version).value();
  const auto s = json["shard"].get<std::vector<int>>();
  r.shard = {s[0], s[1], s[2], s[3], s[4], s[5]};
  r.nextn = json["nextn"];
  const Json& q = json["quant"];
  std::vector<QuantOverride> modes{
      {"moe", q["moe"]}, {"kv", q["kvcache"]}, {"fmha", q["fmha"]}, {"gemm", q["gemm"]}};
  r.precision = resolve_precision(r.spec, r.facts, r.system, modes).value();
  return r;
}

// The reference's dispatch entry as the collectives it stands for: its rule table, written down
// from its documentation and not from our code.
std::vector<std::string> dispatch(const Record& r, Side phase, bool before,
                                  bool attention_reduced) {
  const auto h = static_cast<double>(r.spec.hidden);
  const int n = r.shard.moe_tp * r.shard.moe_ep;
  const int dp = r.shard.dp;
  const int a = n / dp;
  const std::string reduce = fmt::format("all_reduce {} {}", h, n);
  const auto side = [&](double share) {
    return before ? fmt::format("all_gather {} {}", h * dp * share, n)
                  : fmt::format("reduce_scatter {} {}", h * dp, n);
  };
  std::vector<std::string> out;
  if (r.shard.cp > 1) {  // prompts are gathered and scattered, decodes summed
    if (phase == Side::prefill) return {side(1)};
    return before ? std::vector<std::string>{} : std::vector{reduce};
  }
  if (r.facts.name == "vllm") {
    // the sum after attention: the reference says n ranks, though only a share the same tokens
    if (before && a > 1 && !attention_reduced) out.push_back(fmt::format("all_reduce {} {}", h, a));
    if (!before && a > 1) out.push_back(reduce);
    if (dp > 1) out.push_back(side(1));
  } else if (r.facts.name == "sglang" && a > 1 && dp > 1) {
    out.push_back(fmt::format("{} {} {}", before ? "reduce_scatter" : "all_gather", h, a));
    out.push_back(side(1));
  } else if (r.facts.name == "trtllm" && r.system.gpu.sm == 100 && dp > 1) {
    const std::string moe = r.json["quant"]["moe"];
    out.push_back(side(moe == "nvfp4" ? 0.28125 : moe.starts_with("fp8") ? 0.5 : 1));
  } else if (a > 1) {
    out.push_back(reduce);
  } else if (dp > 1) {
    out.push_back(side(1));
  }
  return out;
}

// [name, count, kind, dimensions ...] -> key; empty for what is expanded or dropped elsewhere.
std::string reference_key(const Json& o) {
  const std::string kind = o[2];
  const auto rest = [&](std::size_t from, std::size_t to) {
    std::string text = kind;
    for (std::size_t i = from; i < to; ++i) {
      text += " " + (o[i].is_string()         ? o[i].get<std::string>()
                     : o[i].is_number_float() ? fmt::format("{}", o[i].get<double>())
                                              : o[i].dump());
    }
    return text;
  };
  if (kind == "gemm") {
    return fmt::format("gemm {} {}x{}", o[3].get<std::string>(), o[4].get<int>(), o[5].get<int>());
  }
  if (kind == "embedding") return rest(3, 4);
  if (kind == "moe") {
    const std::string load = o[10];
    return rest(3, 10) + " " + load.substr(load.rfind('_') + 1);
  }
  const bool marked = o.back() == "primary" || o.back() == "fallback";
  return rest(3, o.size() - (marked ? 1 : 0));
}

// What changes between the reference's list and ours, and why.
struct Difference {
  const char* cause;
  bool (*applies)(const Record&, Side);
  void (*apply)(const Record&, Side, Counts&);
};

void add(Counts& c, const std::string& k, double n) {
  if (n != 0) c[k] += n;
}

const std::vector<Difference> kDifferences{
    {"the reference's prefill of MoE models has no LM head",
     [](const Record& r, Side s) { return r.spec.is_moe() && !r.latent() && s == Side::prefill; },
     [](const Record& r, Side, Counts& c) {
       add(c, fmt::format("gemm bfloat16 {}x{}", r.spec.vocab / r.shard.tp, r.spec.hidden), 1);
     }},
    {"the first layers of DeepSeek and Kimi models are dense, not MoE",
     [](const Record& r, Side) { return r.dense_layers() > 0; },
     [](const Record& r, Side, Counts& c) {
       const double n = r.dense_layers();
       const auto quant = ops::name(r.precision.dense_ffn);
       const auto inter = r.spec.layers.front().ffn.inter / r.shard.tp;
       add(c, fmt::format("gemm {} {}x{}", quant, 2 * inter, r.spec.hidden), n);
       add(c, fmt::format("gemm {} {}x{}", quant, r.spec.hidden, inter), n);
       add(c, fmt::format("elementwise {}", 6 * inter), n);
       if (r.shard.tp > 1)
         add(c, fmt::format("all_reduce {} {}", r.spec.hidden, r.shard.tp), 2 * n);
     }},
    {"norms of queries and keys: the reference prices launches that no token adds to, in prefill",
     [](const Record& r, Side) { return r.spec.layers.front().attention.qk_norm; },
     [](const Record& r, Side, Counts& c) {
       const Attention& a = r.spec.layers.front().attention;
       const std::int64_t kv = std::max<std::int64_t>(a.kv_heads / r.shard.tp, 1);
       add(c, fmt::format("elementwise {}", 4 * (a.heads / r.shard.tp + kv) * a.head_dim),
           r.layers());
     }},
    {"a vocabulary cut by tp needs an all-reduce after the embedding in MLA models too",
     [](const Record& r, Side) { return r.latent() && r.shard.tp > 1; },
     [](const Record& r, Side, Counts& c) {
       add(c, fmt::format("all_reduce {} {}", r.spec.hidden, r.shard.tp), 1);
     }},
};

// Entries that the reference takes from literals or counts twice; "" drops them.
std::string corrected(const Record& r, const std::string& name, const std::string& k) {
  // two all-reduces a layer beside those that dispatch already holds
  if (name == "tp_allreduce") return "";
  const std::int64_t heads = r.spec.layers.front().attention.heads;
  // 128 heads whatever the model has
  const auto literal = static_cast<std::int64_t>(kTpOf128Heads) / r.shard.tp;
  const auto real = heads / r.shard.tp;
  for (const char* kind : {"context_mla ", "generation_mla "}) {
    const std::string from = kind + std::to_string(literal) + " ";
    if (k.starts_with(from)) return kind + std::to_string(real) + " " + k.substr(from.size());
  }
  return k;
}

// vLLM's latent attention is priced by the reference as plain attention over full heads where it
// has no module; ours runs on the latent, with the absorbed products in decode.
bool plain_for_latent(const Record& r, const std::string& kind) {
  return r.latent() && (kind == "context_attention" || kind == "generation_attention");
}
void add_latent(const Record& r, Side side, double n, Counts& c) {
  const std::int64_t heads = r.spec.layers.front().attention.heads / r.shard.tp;
  const auto kv = ops::name(r.precision.kv);
  if (side == Side::prefill) {
    add(c, fmt::format("context_mla {} {} {}", heads, kv, ops::name(r.precision.fmha)), n);
    return;
  }
  const auto bmm = r.precision.attn_kv == ops::Quant::bfloat16 ? "bfloat16" : "fp8";
  add(c, fmt::format("mla_bmm {} true {}", heads, bmm), n);
  add(c, fmt::format("generation_mla {} {}", heads, kv), n);
  add(c, fmt::format("mla_bmm {} false {}", heads, bmm), n);
}

bool of_experts(const std::string& name) {
  return name == "router_gemm" || name.starts_with("moe") || name.starts_with("shared_");
}

Counts reference(const Record& r, const Json& list, Side side) {
  Counts out;
  // multi-token prediction: the reference scales decode by (layers + nextn) / layers; ours lists
  // the draft layers apart
  const double mtp = side == Side::decode ? (r.layers() + r.nextn) / r.layers() : 1;
  const std::string wanted = r.facts.mla_module_tables ? "primary" : "fallback";
  for (const Json& o : list) {
    if ((o.back() == "primary" || o.back() == "fallback") && o.back() != wanted) continue;
    const std::string name = o[0];
    double n = o[1].get<double>() / mtp;
    if (of_experts(name)) n *= (r.layers() - r.dense_layers()) / r.layers();
    if (o[2] == "dispatch") {
      for (const auto& k : dispatch(r, side, o[3] == "pre", o[4].get<bool>())) add(out, k, n);
    } else if (plain_for_latent(r, o[2])) {
      add_latent(r, side, n, out);
    } else if (const auto k = corrected(r, name, reference_key(o)); !k.empty()) {
      if (!(k.starts_with("all_reduce") && k.ends_with(" 1"))) add(out, k, n);
    }
  }
  for (const Difference& d : kDifferences) {
    if (d.applies(r, side)) d.apply(r, side, out);
  }
  return out;
}

Counts ours(const Plan& plan, Side side) {
  Counts out;
  const Phase other = side == Side::prefill ? Phase::decode : Phase::prefill;
  for (const PlanOp& op : plan.ops) {
    if (op.phase == other || op.name.starts_with("draft_")) continue;
    add(out, key(op.op), op.count);
  }
  return out;
}

void expect_equal(const Record& r, Side side, const Counts& want, const Counts& have) {
  const char* phase = side == Side::prefill ? "prefill" : "decode";
  for (const auto& [k, n] : want) {
    const auto it = have.find(k);
    EXPECT_NEAR(it == have.end() ? 0 : it->second, n, 1e-3)  // the fixture has six decimals
        << r.name() << " " << phase << ": " << k;
  }
  for (const auto& [k, n] : have) {
    EXPECT_TRUE(want.contains(k)) << r.name() << " " << phase << ": only ours: " << k << " x " << n;
  }
}

// Stages: the reference divides weights by pp and KV not at all.
double stage_share(const Record& r) { return std::ceil(r.layers() / r.shard.pp) / r.layers(); }

// Bytes of the reference's weights with its differences undone.
double corrected_weights(const Record& r) {
  double bytes = r.json["weights"].get<double>();
  const auto h = static_cast<double>(r.spec.hidden);
  const double table = static_cast<double>(r.spec.vocab) * h * 2;
  const double pp = r.shard.pp;
  if (!r.spec.is_moe()) return bytes;
  const Ffn& f = r.spec.layers.back().ffn;
  const double expert_elements = static_cast<double>(f.experts) / r.shard.moe_ep * 3 * h *
                                 static_cast<double>(f.inter) / r.shard.moe_tp;
  const double moe_layers = r.layers() - r.dense_layers();
  if (!r.latent()) bytes += table / r.shard.tp / pp;           // no LM head
  if (r.latent()) bytes -= (table - table / r.shard.tp) / pp;  // whole vocabulary on every GPU
  if (r.dense_layers() > 0) {                                  // priced as expert layers
    const double moe =
        expert_elements * ops::bytes(r.precision.moe) +
        3 * h * static_cast<double>(f.shared_inter) / r.shard.tp * ops::bytes(r.precision.shared) +
        h * static_cast<double>(f.experts) * 2;
    const double dense = 3 * h * static_cast<double>(r.spec.layers.front().ffn.inter) / r.shard.tp *
                         ops::bytes(r.precision.dense_ffn);
    bytes += r.dense_layers() * (dense - moe) / pp;
  }
  // scales of 32-element groups are part of such checkpoints: a byte (mxfp4), 16 bits (int4)
  if (r.precision.moe == ops::Quant::w4a16_mxfp4) bytes += moe_layers * expert_elements / 32 / pp;
  if (r.precision.moe == ops::Quant::int4_wo) bytes += moe_layers * expert_elements / 16 / pp;
  return bytes;
}

TEST(Operators, EqualTheReferenceListsButForNamedDifferences) {
  const auto text = base::read_file(SETPOINT_SOURCE_DIR "/tests/golden/ops_lists.json").value();
  const Json golden = base::parse_json(text, "ops_lists.json").value();
  int compared = 0;
  for (const Json& json : golden["records"]) {
    const Record r = record(json);
    if (const auto why = infeasible_reason(r.input()); !why.empty()) {
      // the one kind of cut that the reference prices and the framework cannot run
      EXPECT_TRUE(r.facts.name == "trtllm" && r.shard.dp > 1 && r.shard.tp > 1) << r.name() << why;
      continue;
    }
    ++compared;
    const Plan p = plan(r.input());
    const Json& lists = golden["lists"];
    expect_equal(r, Side::prefill,
                 reference(r, lists[json["context"].get<std::size_t>()], Side::prefill),
                 ours(p, Side::prefill));
    expect_equal(r, Side::decode,
                 reference(r, lists[json["generation"].get<std::size_t>()], Side::decode),
                 ours(p, Side::decode));
    if (r.nextn == 0) {
      for (const auto& [tokens, bytes] : json["kv"].items()) {
        const double want = bytes.get<double>() * stage_share(r);
        EXPECT_NEAR(p.kv.bytes(std::stod(tokens)) / want, 1, 1e-9) << r.name() << " at " << tokens;
      }
      // norms, biases, block scales; uneven stages at pp 2
      const double tolerance = r.shard.pp > 1 && r.latent() ? 0.06 : 0.006;
      EXPECT_NEAR(static_cast<double>(p.weights.value()) / corrected_weights(r), 1, tolerance)
          << r.name();
    }
  }
  EXPECT_GE(compared, 110);
}

}  // namespace
}  // namespace setpoint::model
