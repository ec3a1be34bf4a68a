// SPDX-License-Identifier: Apache-2.0
#include "cluster/sim/log_text.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <cmath>
#include <ctime>

#include "cluster/sim/evidence.h"
#include "cluster/sim/trace.h"

namespace setpoint::cluster {
namespace {

constexpr std::int64_t kSignalSteps = 2;  // the hook removes itself after these

std::string stamp(double seconds) {
  return fmt::format("{:%Y-%m-%d %H:%M:%S}", fmt::gmtime(static_cast<std::time_t>(seconds)));
}

// As Python prints it.
std::string python(const base::Json& value) {
  if (value.is_null()) return "None";
  if (value.is_boolean()) return value.get<bool>() ? "True" : "False";
  if (value.is_string()) return value.get<std::string>();
  std::string text = base::json_text(value);
  if (value.is_array()) {
    std::string list;
    for (const base::Json& item : value) {
      list += (list.empty() ? "" : ", ");
      list += item.is_string() ? "'" + item.get<std::string>() + "'" : python(item);
    }
    return "[" + list + "]";
  }
  return text;
}

// Megatron-LM's arguments.py:_print_args: names to column 48 with dots.
std::string argument_block(const recipe::FinalValues& values) {
  constexpr std::size_t kColumn = 48;
  std::string text = "------------------------ arguments ------------------------\n";
  for (const auto& [name, value] : values.parameters) {
    const std::size_t dots = name.size() < kColumn ? kColumn - name.size() : 0;
    text += fmt::format("  {} {} {}\n", name, std::string(dots, '.'), python(value));
  }
  return text + "-------------------- end of arguments ---------------------\n";
}

// Nested blocks; a leaf in JSON is a leaf in YAML.
void yaml(const base::Json& json, int depth, std::string& to) {
  for (const auto& [key, value] : json.items()) {
    to += std::string(static_cast<std::size_t>(2 * depth), ' ') + key + ":";
    if (value.is_object() && !value.empty()) {
      to += "\n";
      yaml(value, depth + 1, to);
    } else {
      to += " " + base::json_text(value) + "\n";
    }
  }
}

std::string bridge_yaml(const recipe::FinalValues& values) {
  base::Json nested = base::Json::object();
  for (const auto& [name, value] : values.parameters) {
    base::Json* at = &nested;
    std::size_t begin = 0;
    for (std::size_t dot; (dot = name.find('.', begin)) != std::string::npos; begin = dot + 1) {
      base::Json& inner = (*at)[name.substr(begin, dot - begin)];
      if (!inner.is_object()) inner = base::Json::object();
      at = &inner;
    }
    (*at)[name.substr(begin)] = value;
  }
  std::string text;
  yaml(nested, 0, text);
  return text;
}

std::string step_line(const StepEvidence& at, const Layout& layout, std::int64_t step,
                      std::int64_t all, double step_s, double when) {
  return fmt::format(
      " [{}] iteration {:8}/{:8} | consumed samples: {:12} | elapsed time per iteration (ms): "
      "{:.1f} | learning rate: {:.6E} | global batch size: {:5} | lm loss: {:.6E} | loss scale: "
      "1.0 | grad norm: {:.3f} | number of skipped iterations:   0 | number of nan iterations:   0 "
      "|\n",
      stamp(when), step, all, step * layout.global_batch, step_s * kMsPerS, at.learning_rate,
      layout.global_batch, at.loss, at.gradient_norm);
}

std::string train_log(const SimSpec& spec, const RunInput& in, const RunPlan& plan, double start_s,
                      double elapsed_s, std::int64_t& done) {
  std::string text = fmt::format("[{}] nodes: {}\n", stamp(start_s), fmt::join(in.nodes, ","));
  if (elapsed_s < plan.startup_s) return text;
  if (in.values.framework == "megatron-core") text += argument_block(in.values);
  const Training training(spec, in.values, in.lease);
  const std::int64_t all =
      std::max(Params(in.values).integer("train_iters", 0), std::int64_t(plan.step_s.size()));
  double at = plan.startup_s;
  for (const double step_s : plan.step_s) {
    at += step_s;
    if (at > elapsed_s) break;
    ++done;
    text += step_line(training.step(done), *plan.layout, done, all, step_s, start_s + at);
  }
  if (elapsed_s >= plan.end_s && !plan.message.empty()) {
    text += (plan.exit_code == 0 ? "" : "[rank0]: ") + plan.message + "\n";
  }
  return text;
}

}  // namespace

std::map<std::string, std::string> run_files(const SimSpec& spec, const RunInput& in,
                                             const RunPlan& plan, double start_s,
                                             double elapsed_s) {
  std::map<std::string, std::string> files;
  std::int64_t done = 0;
  files["train.log"] = train_log(spec, in, plan, start_s, elapsed_s, done);
  // The framework writes its configuration after it has checked it.
  if (elapsed_s < plan.startup_s || !plan.layout) return files;
  files["values/rank0-env.json"] = base::json_text(base::Json(in.values.environment), 1) + "\n";
  if (in.values.framework == "megatron-core") {
    files["values/rank0.log"] = argument_block(in.values);
  } else {
    files["values/rank0.yaml"] = bridge_yaml(in.values);
  }
  if (done > 0) {
    const Training training(spec, in.values, in.lease);
    files["signals.jsonl"] = training.signals(std::min(done, kSignalSteps));
    files["trace.json"] = kineto_trace(plan.terms, done);
  }
  return files;
}

}  // namespace setpoint::cluster
