// SPDX-License-Identifier: Apache-2.0
#include "cluster/sim/stages.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace setpoint::cluster {
namespace {

// The layout's text is short; this bounds what a hostile repetition may grow to.
constexpr std::size_t kMostExpanded = 100000;

// "t*4" and "(t*4|)*14" written out.
Result<std::string> expanded(const std::string& text, std::size_t& at, bool inner) {
  std::string out;
  while (at < text.size() && !(inner && text[at] == ')')) {
    std::string unit(1, text[at]);
    if (text[at] == '(') {
      if (inner) return Error::bad_input("pipeline_model_parallel_layout: nested parentheses");
      ++at;
      SP_TRY(unit, expanded(text, at, true));
      if (at >= text.size()) return Error::bad_input("pipeline_model_parallel_layout: no ')'");
    }
    ++at;
    std::size_t times = 1;
    if (at < text.size() && text[at] == '*') {
      times = 0;
      for (++at; at < text.size() && std::isdigit(static_cast<unsigned char>(text[at])); ++at) {
        times = std::min(times * 10 + static_cast<std::size_t>(text[at] - '0'), kMostExpanded);
      }
    }
    if (out.size() + times * unit.size() > kMostExpanded) {
      return Error::bad_input("pipeline_model_parallel_layout: longer than any model");
    }
    for (std::size_t i = 0; i < times; ++i) out += unit;
  }
  return out;
}

Result<std::vector<Stage>> from_layout(const std::string& text, const TrainModel& model,
                                       std::int64_t pp, std::int64_t& vpp) {
  std::size_t at = 0;
  SP_TRY(const std::string flat, expanded(text, at, false));
  const std::int64_t parts = 1 + std::count(flat.begin(), flat.end(), '|');
  if (parts % pp != 0) {
    return Error::bad_input(fmt::format(
        "pipeline_model_parallel_layout: {} parts do not divide into {} stages", parts, pp));
  }
  vpp = parts / pp;
  std::vector<Stage> stages(static_cast<std::size_t>(pp));
  std::size_t part = 0;
  std::size_t next = 0;
  for (const char c : flat) {
    Stage& stage = stages[part % stages.size()];
    if (c == '|') ++part;
    if (c == 'E') stage.embedding = true;
    if (c == 'L') stage.head = true;
    if (c == 'm') ++stage.mtp;
    if (c == 't') {
      if (next == model.layers.size()) break;
      stage.layers.push_back(model.layers[next++]);
    }
  }
  const auto named = static_cast<std::size_t>(std::count(flat.begin(), flat.end(), 't'));
  if (named != model.layers.size()) {
    return Error::bad_input(fmt::format(
        "pipeline_model_parallel_layout: {} layers, the model has {}", named, model.layers.size()));
  }
  return stages;
}

// How many layers each stage has: stated ends, and the rest evenly. With the account_for_ options
// the embedding and the loss take the place of one layer each, as Megatron-core counts them.
Result<std::vector<std::int64_t>> layer_counts(const Params& params, std::int64_t layers,
                                               std::int64_t pp) {
  std::vector<std::int64_t> counts(static_cast<std::size_t>(pp), 0);
  if (pp == 1) return std::vector<std::int64_t>{layers};
  const std::int64_t embedding = params.flag("account_for_embedding_in_pipeline_split") ? 1 : 0;
  const std::int64_t loss = params.flag("account_for_loss_in_pipeline_split") ? 1 : 0;
  const std::int64_t first = params.integer("num_layers_in_first_pipeline_stage", 0);
  const std::int64_t last = params.integer("num_layers_in_last_pipeline_stage", 0);
  const std::int64_t even_stages = pp - (first > 0 ? 1 : 0) - (last > 0 ? 1 : 0);
  const std::int64_t rest = layers + embedding + loss - first - last;
  if (rest < 0 || (even_stages == 0 ? rest != 0 : rest % even_stages != 0)) {
    return Error::bad_input(
        fmt::format("{} layers are not divisible by {} pipeline stages", rest, even_stages));
  }
  for (auto& count : counts) count = even_stages > 0 ? rest / even_stages : 0;
  if (first > 0) counts.front() = first;
  if (last > 0) counts.back() = last;
  counts.front() -= embedding;
  counts.back() -= loss;
  return counts;
}

}  // namespace

Result<std::vector<Stage>> split_stages(const Params& params, const TrainModel& model,
                                        std::int64_t pp, std::int64_t& vpp) {
  const std::string text = params.word("pipeline_model_parallel_layout");
  if (!text.empty()) return from_layout(text, model, pp, vpp);
  const auto total = static_cast<std::int64_t>(model.layers.size());
  SP_TRY(const auto counts, layer_counts(params, total, pp));
  std::vector<Stage> stages(static_cast<std::size_t>(pp));
  std::int64_t next = 0;
  for (std::size_t p = 0; p < stages.size(); ++p) {
    if (counts[p] < 0 || next + counts[p] > total) {
      return Error::bad_input("pipeline stages hold more layers than the model has");
    }
    stages[p].layers.assign(model.layers.begin() + next, model.layers.begin() + next + counts[p]);
    next += counts[p];
  }
  if (next != total) {
    return Error::bad_input(
        fmt::format("pipeline stages hold {} layers, the model has {}", next, total));
  }
  stages.front().embedding = stages.back().head = true;
  stages.back().mtp = model.mtp;
  return stages;
}

}  // namespace setpoint::cluster
