// SPDX-License-Identifier: Apache-2.0
#include "judge/split.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "judge/rule_version.h"

namespace setpoint::judge {
namespace {

using recipe::FinalValues;
using Counts = std::vector<std::int64_t>;  // layers of each (chunk, stage), in model order

constexpr std::int64_t kMostLayers = 10'000;
constexpr std::int64_t kMostStages = 4'096;

struct Split {
  std::int64_t layers = 0, stages = 1, chunks = 1;  // chunks of a stage: virtual pipeline
  std::optional<std::int64_t> first, last;
  bool embedding_counts = false, loss_counts = false, hybrid = false;
  std::optional<std::string> layout;
  bool uneven() const { return first || last; }
};

const base::Json* find(const FinalValues& values, const std::string& name) {
  for (const char* prefix : {"", "model."}) {
    const auto it = values.parameters.find(prefix + name);
    if (it != values.parameters.end() && !it->second.is_null()) return &it->second;
  }
  return nullptr;
}

std::optional<std::int64_t> whole(const FinalValues& values,
                                  std::initializer_list<const char*> names) {
  for (const char* name : names) {
    const base::Json* value = find(values, name);
    if (value != nullptr && value->is_number_integer()) return value->get<std::int64_t>();
  }
  return std::nullopt;
}

bool yes(const FinalValues& values, const char* name) {
  const base::Json* value = find(values, name);
  return value != nullptr && *value == true;
}

bool has_text(const FinalValues& values, const char* name) {
  const base::Json* value = find(values, name);
  return value != nullptr && value->is_string() && *value != "";
}

// [["embedding", "decoder"], ["decoder", "loss"]] as "Et|tL".
std::string as_text(const base::Json& lists) {
  std::string out;
  for (const base::Json& stage : lists) {
    if (&stage != &lists.front()) out += '|';
    for (const base::Json& layer : stage.is_array() ? stage : base::Json::array()) {
      out += layer == "decoder" ? 't' : layer == "embedding" ? 'E' : layer == "mtp" ? 'm' : 'L';
    }
  }
  return out;
}

Split split_of(const FinalValues& values) {
  Split out;
  out.layers = whole(values, {"num_layers"}).value_or(0);
  out.stages = whole(values, {"pipeline_model_parallel_size"}).value_or(1);
  out.chunks = whole(values, {"virtual_pipeline_model_parallel_size"}).value_or(1);
  out.first =
      whole(values, {"num_layers_in_first_pipeline_stage", "decoder_first_pipeline_num_layers"});
  out.last =
      whole(values, {"num_layers_in_last_pipeline_stage", "decoder_last_pipeline_num_layers"});
  out.embedding_counts = yes(values, "account_for_embedding_in_pipeline_split");
  out.loss_counts = yes(values, "account_for_loss_in_pipeline_split");
  out.hybrid = yes(values, "is_hybrid_model") || has_text(values, "hybrid_override_pattern") ||
               has_text(values, "hybrid_layer_pattern");
  const base::Json* layout = find(values, "pipeline_model_parallel_layout");
  if (layout != nullptr && layout->is_string()) out.layout = layout->get<std::string>();
  if (layout != nullptr && layout->is_array()) out.layout = as_text(*layout);
  return out;
}

// "Et*3|(tt|)*29,m|L": E embedding, t a layer, m a prediction head, L the loss, | between stages,
// *n repeats what stands before it. Nothing when it is not of this form or too long.
std::optional<std::string> unfolded(std::string_view text, int depth = 0) {
  constexpr std::size_t kMostLength = 100'000;
  std::string out, item;
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at++];
    if (c == ',' || c == ' ') continue;
    if (c == '(') {
      const std::size_t close = text.find(')', at);  // groups do not nest
      if (close == std::string_view::npos || depth > 0) return std::nullopt;
      const auto inner = unfolded(text.substr(at, close - at), depth + 1);
      if (!inner) return std::nullopt;
      item = *inner;
      at = close + 1;
    } else if (std::string_view("EtmL|").find(c) != std::string_view::npos) {
      item = c;
    } else {
      return std::nullopt;
    }
    std::size_t repeat = 1;
    if (at < text.size() && text[at] == '*') {
      for (repeat = 0, ++at; at < text.size() && text[at] >= '0' && text[at] <= '9'; ++at) {
        repeat = std::min<std::size_t>(repeat * 10 + static_cast<std::size_t>(text[at] - '0'),
                                       kMostLength);
      }
    }
    if (out.size() + item.size() * repeat > kMostLength) return std::nullopt;
    for (std::size_t i = 0; i < repeat; ++i) out += item;
  }
  return out;
}

Result<Counts> layout_counts(const Split& split) {
  const auto text = unfolded(*split.layout);
  if (!text) return Error::bad_input("the stage layout cannot be read");
  Counts counts{0};
  for (const char c : *text) {
    if (c == '|') counts.push_back(0);
    if (c == 't') ++counts.back();
  }
  if (static_cast<std::int64_t>(counts.size()) != split.stages * split.chunks) {
    return Error::bad_input(fmt::format("the layout has {} stages, the pipeline {} times {}",
                                        counts.size(), split.stages, split.chunks));
  }
  return counts;
}

// Every stage alike; where embedding or loss count as a layer, the ends have one less.
Result<Counts> even_counts(const Split& split) {
  const std::int64_t total = split.layers + split.embedding_counts + split.loss_counts;
  const std::int64_t parts = split.stages * split.chunks;
  if (total % parts != 0) {
    return Error::bad_input(fmt::format("{} layers do not divide into {} parts", total, parts));
  }
  Counts counts(static_cast<std::size_t>(parts), total / parts);
  counts.front() -= split.embedding_counts;
  counts.back() -= split.loss_counts;
  return counts;
}

// The first and last stage by their counts, the stages between them alike.
Result<Counts> uneven_counts(const Split& split) {
  const std::int64_t between = split.stages - (split.first ? 1 : 0) - (split.last ? 1 : 0);
  const std::int64_t left = split.layers - split.first.value_or(0) - split.last.value_or(0);
  if (left < 0 || between < 0 || (between == 0 ? left != 0 : left % between != 0)) {
    return Error::bad_input(fmt::format("{} layers are left for {} stages", left, between));
  }
  Counts counts;
  for (std::int64_t chunk = 0; chunk < split.chunks; ++chunk) {
    for (std::int64_t stage = 0; stage < split.stages; ++stage) {
      const std::int64_t own = stage == 0 && split.first                 ? *split.first
                               : stage == split.stages - 1 && split.last ? *split.last
                                                                         : left / between;
      if (own % split.chunks != 0) {
        return Error::bad_input(
            fmt::format("{} layers of a stage do not divide into {} chunks", own, split.chunks));
      }
      counts.push_back(own / split.chunks);
    }
  }
  return counts;
}

std::vector<int> owners(const Counts& counts, std::int64_t stages) {
  std::vector<int> out;
  for (std::size_t part = 0; part < counts.size(); ++part) {
    const auto stage = static_cast<int>(static_cast<std::int64_t>(part) % stages);
    out.insert(out.end(), static_cast<std::size_t>(std::max<std::int64_t>(counts[part], 0)), stage);
  }
  return out;
}

SplitCheck state(SplitCheck::State value, std::string reason) {
  SplitCheck out;
  out.state = value;
  out.reason = std::move(reason);
  return out;
}

// Does the hybrid stack of this version ignore first and last counts? The fix came while the main
// branch was called 0.16.0rc0, so of a build of that name it is not known.
std::optional<bool> ignores_counts(const std::string& version) {
  const auto found = parse_python_version(version);
  if (!found) return std::nullopt;
  if (*found < *parse_python_version("0.16.0rc0")) return true;
  if (*found < *parse_python_version("0.16.0")) return std::nullopt;
  return false;
}

SplitCheck compared(const Split& split, const Counts& built, const Counts& numbered) {
  SplitCheck out;
  out.built = owners(built, split.stages);
  out.numbered = owners(numbered, split.stages);
  const auto lowest = std::min(*std::min_element(built.begin(), built.end()),
                               *std::min_element(numbered.begin(), numbered.end()));
  const auto wanted = static_cast<std::size_t>(split.layers);
  if (lowest < 0 || out.built.size() != wanted) {
    out.reason = fmt::format("{} of {} layers have a stage", out.built.size(), split.layers);
  } else if (out.built != out.numbered) {
    const auto at =
        std::mismatch(out.built.begin(), out.built.end(), out.numbered.begin(), out.numbered.end());
    out.reason = fmt::format(
        "layer {} is built on stage {} and numbered on another: the stack ignores first and last "
        "counts (fixed in megatron-core 0.16)",
        at.first - out.built.begin(), at.first == out.built.end() ? -1 : *at.first);
  }
  out.state = out.reason.empty() ? SplitCheck::State::complete : SplitCheck::State::broken;
  return out;
}

}  // namespace

SplitCheck check_split(const FinalValues& values, const std::string& core_version) {
  using State = SplitCheck::State;
  const Split split = split_of(values);
  if (split.layers == 0) return state(State::not_stated, "no layer count");
  if (split.layers < 0 || split.layers > kMostLayers || split.stages < 1 || split.chunks < 1 ||
      split.stages > kMostStages || split.chunks > kMostStages) {
    return state(State::broken, "layer, stage or chunk count out of range");
  }
  const auto rule = split.layout     ? layout_counts(split)
                    : split.uneven() ? uneven_counts(split)
                                     : even_counts(split);
  if (!rule) return state(State::broken, rule.error().text);
  if (!split.hybrid || !split.uneven()) return compared(split, *rule, *rule);
  const auto ignored = ignores_counts(core_version);
  if (!ignored) {
    SplitCheck out = state(State::unknown,
                           "an uneven hybrid split needs megatron-core's version: before 0.16 it "
                           "is built evenly");
    out.numbered = owners(*rule, split.stages);
    return out;
  }
  Split even = split;
  even.first = even.last = std::nullopt;
  const auto built = *ignored ? even_counts(even) : rule;
  if (!built) return state(State::broken, built.error().text);
  return compared(split, *built, *rule);
}

}  // namespace setpoint::judge
