// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <array>

#include "base/fields.h"
#include "recipe/forms.h"
#include "recipe/python_value.h"

namespace setpoint::recipe {
namespace {

using base::Json;

constexpr std::size_t kMostBytes = std::size_t{8} << 20;  // a real one has about 60 kB
// An alias counts as often as it is used, so that a few lines cannot unfold into gigabytes.
constexpr int kMostNodes = 200'000;
constexpr int kMostDepth = 60;

class Converter {
 public:
  explicit Converter(const std::string& what) : what_(what) {}

  Result<Json> convert(const YAML::Node& node, int depth) {
    if (++nodes_ > kMostNodes || depth > kMostDepth) {
      return Error::bad_input(
          fmt::format("{}: more than {} values or {} levels once aliases are "
                      "unfolded",
                      what_, kMostNodes, kMostDepth));
    }
    if (node.IsMap()) return map(node, depth);
    if (node.IsSequence()) return list(node, depth);
    if (node.IsScalar()) return scalar(node);
    return Json();
  }

 private:
  Result<Json> map(const YAML::Node& node, int depth) {
    Json out = Json::object();
    for (const auto& member : node) {
      if (!member.first.IsScalar()) return Error::bad_input(what_ + ": a key is not a text");
      const std::string key = member.first.Scalar();
      if (out.contains(key)) {
        return Error::bad_input(fmt::format("{}: key {} is stated twice", what_, base::shown(key)));
      }
      SP_TRY(out[key], convert(member.second, depth + 1));
    }
    return out;
  }
  Result<Json> list(const YAML::Node& node, int depth) {
    Json out = Json::array();
    for (const YAML::Node& item : node) {
      SP_TRY(Json value, convert(item, depth + 1));
      out.push_back(std::move(value));
    }
    return out;
  }
  static Json scalar(const YAML::Node& node) {
    const std::string& text = node.Scalar();
    if (node.Tag() == "!") return text;  // in quotes
    if (text == "true" || text == "True") return true;
    if (text == "false" || text == "False") return false;
    if (text == "null" || text == "~" || text.empty()) return Json();
    return python_value(text);
  }

  const std::string& what_;
  int nodes_ = 0;
};

// megatron/core/transformer/enums.py: AttnBackend counts from 1.
constexpr std::array kAttentionBackends{"flash", "fused", "unfused", "local", "auto"};

std::string named(const std::string& target, const Json& args) {
  for (std::size_t i = 0; target.ends_with(".AttnBackend") && i < kAttentionBackends.size(); ++i) {
    if (args == Json::array({i + 1})) return kAttentionBackends[i];
  }
  return args.empty() ? target : target + base::json_text(args);
}

// Objects that cannot be written as YAML stand as {_target_: "torch.bfloat16", _call_: false} or
// {_target_: "package.Enum", _args_: [5], _call_: true} (Bridge's yaml_utils.py). Their value is
// the target, of an enumeration with the number.
void name_targets(Json& json) {
  constexpr std::array kOwn{"_target_", "_call_", "_args_", "_name_"};
  if (!json.is_structured()) return;
  for (auto& item : json) name_targets(item);
  if (!json.is_object() || !json.contains("_target_") || !json["_target_"].is_string()) return;
  for (const auto& [key, unused] : json.items()) {
    if (std::find(kOwn.begin(), kOwn.end(), key) == kOwn.end()) return;
  }
  const Json name = json.value("_name_", Json()), args = json.value("_args_", Json::array());
  json = name.is_string() ? name : Json(named(json["_target_"].get<std::string>(), args));
}

}  // namespace

Result<FinalValues> read_bridge_yaml(std::string_view text, const std::string& what) {
  if (text.size() > kMostBytes) {
    return Error::bad_input(
        fmt::format("{}: larger than {} bytes, the most a YAML configuration "
                    "may have",
                    what, kMostBytes));
  }
  FinalValues values;
  values.framework = "megatron-bridge";
  try {
    SP_TRY(Json json, Converter(what).convert(YAML::Load(std::string(text)), 0));
    if (!json.is_object() || !json.contains("model") ||
        !(json.contains("train") || json.contains("ddp") || json.contains("optimizer"))) {
      return Error::bad_input(what +
                              ": no known form: expected Megatron-LM's argument block, "
                              "Megatron-Bridge's YAML, TorchTitan's or DeepSpeed's configuration, "
                              "{\"framework\", \"parameters\", ...} or an environment");
    }
    name_targets(json);
    if (auto flat = flatten(json, "", values); !flat.ok()) return flat.error().at(what);
  } catch (const YAML::Exception& e) {
    std::string reason = e.what();
    std::replace(reason.begin(), reason.end(), '\n', ' ');
    return Error::bad_input(fmt::format("{}: neither a known log nor YAML: {}", what, reason));
  }
  return values;
}

}  // namespace setpoint::recipe
