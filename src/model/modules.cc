// SPDX-License-Identifier: Apache-2.0
#include "model/modules.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <regex>

namespace setpoint::model {
namespace {

constexpr std::size_t kLongestPattern = 300;

// `*` stands for any text, dots included; linear in text x pattern.
bool glob(std::string_view pattern, std::string_view text) {
  std::size_t p = 0, t = 0, star = std::string_view::npos, mark = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      mark = t;
    } else if (p < pattern.size() && pattern[p] == text[t]) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++mark;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', p) == std::string_view::npos;
}

// Dot-separated parts of `pattern` stand in a row somewhere in `module`.
bool contains_parts(std::string_view module, std::string_view pattern) {
  if (pattern.empty()) return false;
  return fmt::format(".{}.", module).find(fmt::format(".{}.", pattern)) != std::string::npos;
}

bool regex_matches(const std::string& pattern, std::string_view module) {
  try {
    // __polynomial: libstdc++'s breadth-first matcher, so that no pattern takes exponential time.
    const std::regex compiled(pattern, std::regex::ECMAScript | std::regex_constants::__polynomial);
    std::match_results<std::string_view::const_iterator> match;
    // anchored at the front only, as the reference implementation of the format does
    return std::regex_search(module.begin(), module.end(), match, compiled,
                             std::regex_constants::match_continuous);
  } catch (const std::regex_error&) {
    return false;
  }
}

struct Leaf {
  Part part;
  std::string_view name;  // inside a layer
};
constexpr std::array kLeaves{
    Leaf{Part::attn_q, "self_attn.q_proj"},
    Leaf{Part::attn_q, "self_attn.q_a_proj"},
    Leaf{Part::attn_q, "self_attn.q_b_proj"},
    Leaf{Part::attn_q, "self_attn.qkv_proj"},
    Leaf{Part::attn_kv, "self_attn.k_proj"},
    Leaf{Part::attn_kv, "self_attn.v_proj"},
    Leaf{Part::attn_kv, "self_attn.kv_a_proj_with_mqa"},
    Leaf{Part::attn_kv, "self_attn.kv_b_proj"},
    Leaf{Part::attn_kv, "self_attn.qkv_proj"},
    Leaf{Part::attn_o, "self_attn.o_proj"},
    Leaf{Part::dense_ffn, "mlp.gate_proj"},
    Leaf{Part::dense_ffn, "mlp.up_proj"},
    Leaf{Part::dense_ffn, "mlp.down_proj"},
    Leaf{Part::dense_ffn, "mlp.gate_up_proj"},
    Leaf{Part::experts, "mlp.experts.0.gate_proj"},
    Leaf{Part::experts, "mlp.experts.0.down_proj"},
    Leaf{Part::experts, "mlp.experts.gate_up_proj"},
    Leaf{Part::experts, "block_sparse_moe.experts.0.w1"},
    Leaf{Part::shared, "mlp.shared_experts.gate_proj"},
    Leaf{Part::shared, "mlp.shared_experts.down_proj"},
    Leaf{Part::shared, "mlp.shared_expert.gate_proj"},
};

}  // namespace

bool module_matches(const std::string& pattern, std::string_view module) {
  if (pattern.size() > kLongestPattern) return false;
  if (pattern.starts_with("re:")) return regex_matches(pattern.substr(3), module);
  if (pattern.find('*') == std::string::npos) return contains_parts(module, pattern);
  // a wildcard that names a block covers what is inside it
  return glob(pattern, module) || glob(pattern + ".*", module);
}

std::vector<std::string> module_names(Part part, std::int64_t layer) {
  if (part == Part::head) return {"lm_head", "language_model.lm_head", "model.lm_head"};
  std::vector<std::string> out;
  for (const std::string_view prefix :
       {"model.layers.", "language_model.model.layers.", "model.language_model.layers."}) {
    for (const Leaf& leaf : kLeaves) {
      if (leaf.part == part) out.push_back(fmt::format("{}{}.{}", prefix, layer, leaf.name));
    }
  }
  return out;
}

bool any_matches(const std::vector<std::string>& patterns,
                 const std::vector<std::string>& modules) {
  return std::any_of(patterns.begin(), patterns.end(), [&](const std::string& pattern) {
    return std::any_of(modules.begin(), modules.end(),
                       [&](const std::string& m) { return module_matches(pattern, m); });
  });
}

}  // namespace setpoint::model
