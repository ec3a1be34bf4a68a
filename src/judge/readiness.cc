// SPDX-License-Identifier: Apache-2.0
#include "judge/readiness.h"

#include <algorithm>
#include <cmath>

namespace setpoint::judge {
namespace {

using base::Json;
using recipe::FinalValues;

struct View {
  const FinalValues& values;
  std::span<const Evidence> runs;

  // The value of the first name that is stated, also below "model." and the like.
  const Json* find(std::initializer_list<std::string_view> names) const {
    for (const std::string_view name : names) {
      for (const auto& [full, value] : values.parameters) {
        const bool same = full == name || full.ends_with("." + std::string(name));
        if (same && !value.is_null()) return &value;
      }
    }
    return nullptr;
  }
  Truth fact(const std::string& name) const {
    const auto it = values.facts.find(name);
    if (it == values.facts.end()) return Truth::unknown;
    return it->second.is_null() || it->second == false ? Truth::no : Truth::yes;
  }
};

Truth truth(bool value) { return value ? Truth::yes : Truth::no; }

// A model that knows nothing has a first loss of ln V; trained weights lie well below it.
Truth weights_loaded(const View& view) {
  constexpr double kBelow = 0.8;
  const Json* vocabulary = view.find({"padded_vocab_size", "vocab_size"});
  if (vocabulary == nullptr || !vocabulary->is_number() || view.runs.empty() ||
      view.runs.front().steps.empty()) {
    return Truth::unknown;
  }
  return truth(view.runs.front().steps.front().loss < kBelow * std::log(vocabulary->get<double>()));
}

Truth every_step_logged(const View& view) {
  for (const Evidence& run : view.runs) {
    for (std::size_t i = 0; i < run.steps.size(); ++i) {
      if (run.steps[i].step != run.steps.front().step + std::int64_t(i)) return Truth::no;
    }
  }
  const bool any = !view.runs.empty() && !view.runs.front().steps.empty();
  return any ? truth(view.runs.front().steps.front().step == 1) : Truth::unknown;
}

Truth norms_logged(const View& view) {
  if (view.runs.empty()) return Truth::unknown;
  return truth(std::all_of(view.runs.begin(), view.runs.end(), [](const Evidence& run) {
    return !run.steps.empty() && std::all_of(run.steps.begin(), run.steps.end(),
                                             [](const auto& line) { return line.grad_norm; });
  }));
}

Truth no_dropout(const View& view) {
  Truth out = Truth::unknown;
  for (const std::string_view name : {"hidden_dropout", "attention_dropout"}) {
    const Json* value = view.find({name});
    if (value == nullptr) continue;
    if (*value != 0) return Truth::no;
    out = Truth::yes;
  }
  return view.values.framework == "torchtitan" && out == Truth::unknown ? Truth::yes : out;
}

Truth free_routing(const View& view) {
  const Json* forced = view.find(
      {"moe_router_force_load_balancing", "moe_force_load_balance", "moe_router_force_biased"});
  return truth(forced == nullptr || *forced == false);
}

Truth real_data(const View& view) {
  const Json* mock = view.find({"mock_data"});
  const Json* target = view.find({"dataset._target_"});
  if (mock != nullptr && *mock == true) return Truth::no;
  if (target != nullptr && target->is_string() &&
      target->get_ref<const std::string&>().find("Mock") != std::string::npos) {
    return Truth::no;
  }
  return view.fact("data_order_hash");
}

// Two runs of the baseline read the same samples in the same order.
Truth order_repeats(const View& view) {
  if (view.runs.size() < 2) return Truth::unknown;
  const Signals &a = view.runs[0].signals, &b = view.runs[1].signals;
  for (const std::int64_t step : {1, 2}) {
    const auto x = a.find(step), y = b.find(step);
    if (x == a.end() || y == b.end() || x->second.samples.empty()) return Truth::unknown;
    if (x->second.samples != y->second.samples) return Truth::no;
  }
  return Truth::yes;
}

// Otherwise the learning rate follows the number of steps, which a trial shortens.
Truth decay_pinned(const View& view) {
  return truth(view.find({"lr_decay_iters", "lr_decay_samples", "lr_decay_steps",
                          "lr_scheduler.total_steps"}) != nullptr);
}

Truth signals_there(const View& view) {
  return truth(!view.runs.empty() &&
               std::all_of(view.runs.begin(), view.runs.end(),
                           [](const Evidence& run) { return !run.signals.empty(); }));
}

struct Check {
  std::string_view name, what;
  bool needed;
  Truth (*holds)(const View&);
};
constexpr std::array kChecks{
    Check{"weights_loaded", "the first loss is at least 20 % below ln V", true, weights_loaded},
    Check{"every_step_logged", "the log has every step from the first on", true, every_step_logged},
    Check{"norms_logged", "the log has a gradient norm for each step", true, norms_logged},
    Check{"no_dropout", "dropout is 0", true, no_dropout},
    Check{"free_routing", "the router is not forced to balance", true, free_routing},
    Check{"real_data", "data is real, with a digest of its order", false, real_data},
    Check{"order_repeats", "two runs read the same samples in steps 1 and 2", false, order_repeats},
    Check{"decay_pinned", "the learning-rate schedule has a length of its own", false,
          decay_pinned},
    Check{"signals", "gradients and losses per token are supplied", false, signals_there},
};

}  // namespace

Readiness check_readiness(const FinalValues& baseline, std::span<const Evidence> runs) {
  Readiness out;
  out.power = Power::high;
  const View view{baseline, runs};
  for (const Check& check : kChecks) {
    const Truth holds = check.holds(view);
    out.checks.push_back({check.name, check.what, check.needed, holds});
    if (holds != Truth::yes)
      out.power = std::min(out.power, check.needed ? Power::low : Power::medium);
  }
  return out;
}

}  // namespace setpoint::judge
