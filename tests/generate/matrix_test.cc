// SPDX-License-Identifier: Apache-2.0
// The quick form of tools/launch-matrix: every command and options file of every known version,
// held against the flag tables as they stand in the files, read here anew. The engines' own
// parsers give their verdict in docs/generate-matrix.md.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>

#include "generate/command.h"

namespace setpoint::generate {
namespace {

using Json = nlohmann::json;
using Version = std::string;

Json table_of(const std::string& framework) {
  std::ifstream in(std::string(SETPOINT_SOURCE_DIR) + "/recipes/serve/" + framework + ".json");
  return Json::parse(in);
}

// What the flag takes in this version; null without it.
Json span_of(const Json& table, const std::string& flag, const Version& version) {
  const auto& versions = table["versions"];
  const auto place = [&](const Json& span, const char* key, std::size_t otherwise) -> std::size_t {
    if (!span.contains(key)) return otherwise;
    const auto at = std::find(versions.begin(), versions.end(), span[key]);
    return static_cast<std::size_t>(at - versions.begin());
  };
  const auto here = static_cast<std::size_t>(std::find(versions.begin(), versions.end(), version) -
                                             versions.begin());
  if (!table["flags"].contains(flag)) return nullptr;
  for (const Json& span : table["flags"][flag]) {
    if (place(span, "since", 0) <= here && here <= place(span, "until", versions.size() - 1)) {
      return span;
    }
  }
  return nullptr;
}

bool has_type(const std::string& type, const std::string& text) {
  if (type == "integer") return std::regex_match(text, std::regex("-?[0-9]+"));
  if (type == "number") return std::regex_match(text, std::regex("-?[0-9]+([.][0-9]+)?"));
  if (type == "json") return Json::accept(text);
  return true;
}

void expect_sayable(const Json& table, const Version& version, const std::string& flag,
                    const std::vector<std::string>& values) {
  const Json span = span_of(table, flag, version);
  ASSERT_FALSE(span.is_null()) << version << " has no " << flag;
  const std::string type = span["type"];
  EXPECT_EQ(type == "flag", values.empty()) << version << " " << flag;
  EXPECT_TRUE(type == "list" || values.size() <= 1) << version << " " << flag;
  for (const std::string& value : values) {
    EXPECT_TRUE(has_type(type == "list" ? span["of"].get<std::string>() : type, value))
        << version << " " << flag << " " << value;
    if (!span.contains("choices")) continue;
    const auto& choices = span["choices"];
    EXPECT_NE(std::find(choices.begin(), choices.end(), value), choices.end())
        << version << " " << flag << " " << value;
  }
}

// Flags of a command with their values; `own` words before them belong to the program.
void expect_flags(const Json& table, const Version& version, const Command& command,
                  std::size_t own) {
  for (std::size_t at = own; at < command.argv.size();) {
    const std::string flag = command.argv[at++].text;
    ASSERT_TRUE(flag.starts_with("--")) << flag;
    std::vector<std::string> values;
    while (at < command.argv.size() && !command.argv[at].text.starts_with("--")) {
      values.push_back(command.argv[at++].text);
    }
    expect_sayable(table, version, flag, values);
  }
}

// Keys of an options file: block YAML of scalars, lists and one level of groups.
void expect_keys(const Json& table, const Version& version, const std::string& yaml) {
  std::istringstream lines(yaml);
  std::map<std::string, std::vector<std::string>> lists;
  std::string line, group, last;
  while (std::getline(lines, line)) {
    std::smatch parts;
    if (std::regex_match(line, parts, std::regex(" *- (.*)"))) {
      lists[last].push_back(parts[1]);
      continue;
    }
    ASSERT_TRUE(std::regex_match(line, parts, std::regex("( *)([a-z_]+):(?: (.*))?"))) << line;
    const std::string key = parts[2];
    if (parts[1].length() == 0) group = parts[3].length() == 0 ? key + "." : "";
    last = parts[1].length() == 0 ? key : group + key;
    if (parts[3].length() == 0) continue;
    const Json span = span_of(table, last, version);
    ASSERT_FALSE(span.is_null()) << version << " has no " << last;
    if (span["type"] == "flag") {
      EXPECT_TRUE(parts[3] == "true" || parts[3] == "false") << line;
    } else {
      expect_sayable(table, version, last, {parts[3]});
    }
  }
  for (const auto& [key, values] : lists) expect_sayable(table, version, key, values);
}

struct Kind {
  bool moe;
  int nextn, dp;
};

RoleSettings role_settings(const Kind& kind, Role role, std::int64_t nodes) {
  RoleSettings out;
  out.role = role;
  out.nodes = nodes;
  out.gpus = 8 * nodes;
  out.gpus_on_node = 8;
  const int width = static_cast<int>(out.gpus);
  out.shard = kind.moe ? model::Shard{.tp = 1, .dp = width, .moe_ep = width}
                       : model::Shard{.tp = 8, .pp = static_cast<int>(nodes)};
  out.max_requests = role == Role::prefill ? 1 : 24;
  out.max_tokens = role == Role::decode ? 24 * (kind.nextn + 1) : 8192;
  out.chunk_tokens = role == Role::decode ? 0 : 8192;
  out.max_len = 6528;
  out.kv_page = 32;
  out.kv_buffer_tokens = 5504;
  out.kv_fraction = 0.8123;
  out.fp8_kv = kind.moe;
  out.online_fp8 = false;
  if (role != Role::prefill) out.graph_sizes = {1, 2, 4, 8, 16, 24};
  return out;
}

Settings settings_of(const std::string& framework, const Kind& kind, Mode mode,
                     std::int64_t nodes) {
  Settings out;
  out.framework = framework;
  out.mode = mode;
  out.model = out.served_name = "org/model";
  out.moe = kind.moe;
  out.nextn = kind.nextn;
  out.prefix_cache = false;
  out.trust_remote_code = true;
  const std::vector<Role> roles =
      mode == Mode::agg ? std::vector{Role::mixed} : std::vector{Role::prefill, Role::decode};
  for (const Role role : roles) out.roles.push_back(role_settings(kind, role, nodes));
  return out;
}

TEST(Matrix, EveryGeneratedFlagExistsInItsVersionWithARightTypedValue) {
  const std::map<std::string, std::size_t> own_words{{"vllm", 3}, {"sglang", 3}, {"trtllm", 2}};
  int commands = 0;
  for (const auto& [framework, own] : own_words) {
    const Json table = table_of(framework);
    for (const Version version : table["versions"]) {
      const auto flags = FlagTable::open(framework, version);
      ASSERT_TRUE(flags.ok()) << version;
      EXPECT_EQ(flags->note(), "") << version;
      for (const Kind& kind : {Kind{false, 0, 1}, Kind{true, 0, 8}, Kind{true, 1, 8}}) {
        for (const Mode mode : {Mode::agg, Mode::disagg}) {
          for (const std::int64_t nodes : {1, 2}) {
            const Settings settings = settings_of(framework, kind, mode, nodes);
            for (const RoleSettings& role : settings.roles) {
              for (const bool first : {true, false}) {
                Place place;
                place.bootstrap_port = 8998;
                place.side_channel_port = 20097;
                place.head_port = 29500;
                place.rpc_port = 29600;
                place.first_node = first;
                place.config_path = "options.yaml";
                const auto command = worker_command(settings, role, *flags, place);
                ASSERT_TRUE(command.ok()) << version << ": " << command.error().text;
                expect_flags(table, version, *command, own + (command->mpi ? 1 : 0));
                if (command->config_yaml) expect_keys(table, version, *command->config_yaml);
                ++commands;
              }
            }
          }
        }
      }
    }
  }
  // (5 + 7 + 4 versions) x 3 kinds x (1 + 2 roles) x 2 node counts x first and other node
  EXPECT_EQ(commands, 16 * 3 * 3 * 2 * 2);
}

}  // namespace
}  // namespace setpoint::generate
