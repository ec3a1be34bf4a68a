// SPDX-License-Identifier: Apache-2.0
#include "generate/readback.h"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>

namespace setpoint::generate {
namespace {

bool separates(char c) {
  return static_cast<unsigned char>(c) <= ' ' ||
         std::string_view("'\",[]{}\\;=").find(c) != std::string_view::npos;
}

std::int64_t count(const YAML::Node& node) { return node ? node.as<std::int64_t>(1) : 1; }

std::int64_t claim(const YAML::Node& node, Claims& out);

// GPUs of a map: those of its parts, as often as it says that it is run.
std::int64_t claim_of_map(const YAML::Node& map, Claims& out) {
  std::int64_t gpus = 0, times = 1;
  for (const auto& member : map) {
    const std::string key = member.first.Scalar();
    const YAML::Node& value = member.second;
    if (key == "limits") {
      for (const char* name : {"nvidia.com/gpu", "gpu"}) {
        if (!value[name]) continue;
        gpus += count(value[name]);
        out.limits.insert(count(value[name]));
      }
    } else if (key == "device_ids") {
      gpus += static_cast<std::int64_t>(value.size());
      out.limits.insert(static_cast<std::int64_t>(value.size()));
    } else if (key == "leaderWorkerTemplate") {
      gpus += claim(value["leaderTemplate"], out) +
              (count(value["size"]) - 1) * claim(value["workerTemplate"], out);
    } else if (key == "replicas" && value.IsScalar()) {
      times *= count(value);
    } else if ((key == "multinode" && value.IsMap()) || key == "parallelism") {
      times *= count(value[key == "multinode" ? "nodeCount" : "workers"]);
    } else {
      gpus += claim(value, out);
    }
    if (key == "metadata" && value["name"]) out.names.push_back(value["name"].Scalar());
  }
  return gpus * times;
}

std::int64_t claim(const YAML::Node& node, Claims& out) {
  if (node.IsMap()) return claim_of_map(node, out);
  std::int64_t gpus = 0;
  if (node.IsSequence()) {
    for (const auto& item : node) gpus += claim(item, out);
  }
  return gpus;
}

// The first value that says nothing: "" = none.
std::string nothing_said(const YAML::Node& node, const std::string& path) {
  if (node.IsNull() || (node.IsScalar() && (node.Scalar() == "None" || node.Scalar() == "null"))) {
    return path.empty() ? "document" : path;
  }
  std::string found;
  if (node.IsMap()) {
    for (const auto& member : node) {
      if (found.empty()) found = nothing_said(member.second, path + "." + member.first.Scalar());
    }
  } else if (node.IsSequence()) {
    for (const auto& item : node) {
      if (found.empty()) found = nothing_said(item, path + "[]");
    }
  }
  return found;
}

// Flags of a command, or keys of an options file.
bool of_one_kind(const Said& said, const std::string& word) {
  return said.begin()->first.starts_with("--") == word.starts_with("--");
}

}  // namespace

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> out;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at;
    while (end < text.size() && !separates(text[end])) ++end;
    if (end > at && text.substr(at, end - at) != "-") out.emplace_back(text.substr(at, end - at));
    at = end + 1;
  }
  return out;
}

std::vector<Said> starts_of(const std::vector<std::string>& words,
                            const std::set<std::string, std::less<>>& names) {
  std::vector<Said> out;
  std::vector<std::string>* values = nullptr;
  for (const std::string& word : words) {
    if (names.contains(word)) {
      if (out.empty() || out.back().contains(word) || !of_one_kind(out.back(), word)) {
        out.emplace_back();
      }
      values = &out.back()[word];
    } else if (word.starts_with("--") || word.ends_with(':')) {
      values = nullptr;
    } else if (values != nullptr) {
      values->push_back(word);
    }
  }
  return out;
}

Result<Claims> claims_of(const std::string& yaml) {
  try {
    Claims out;
    for (const YAML::Node& document : YAML::LoadAll(yaml)) {
      const std::string empty = nothing_said(document, "");
      if (!empty.empty()) return Error::bad_input(empty + " has no value");
      out.gpus += claim(document, out);
    }
    return out;
  } catch (const YAML::Exception& error) {
    return Error::bad_input(fmt::format("no YAML: {}", error.what()));
  }
}

}  // namespace setpoint::generate
