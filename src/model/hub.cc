// SPDX-License-Identifier: Apache-2.0
#include "model/hub.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdlib>

#include "base/file.h"
#include "base/http.h"
#include "base/json.h"
#include "base/text.h"

namespace setpoint::model {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostConfigBytes = std::size_t{16} << 20;
constexpr std::string_view kConfig = "config.json";
constexpr std::string_view kHfQuant = "hf_quant_config.json";

std::string env(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

fs::path first_path(std::initializer_list<fs::path> paths) {
  for (const fs::path& path : paths) {
    if (!path.empty()) return path;
  }
  return {};
}

fs::path under(const std::string& base, std::string_view rest) {
  return base.empty() ? fs::path() : fs::path(base) / rest;
}

std::string dashed(const std::string& id) {
  const std::size_t slash = id.find('/');
  return fmt::format("{}--{}", id.substr(0, slash), id.substr(slash + 1));
}

// Both files of one folder, if they can be read.
std::optional<ConfigFiles> from_folder(const std::string& id, const fs::path& folder) {
  std::error_code ec;
  if (!fs::is_regular_file(folder / kConfig, ec)) return std::nullopt;
  const auto files = from_file(id, folder / kConfig);
  return files ? std::optional<ConfigFiles>(*files) : std::nullopt;
}

std::string trimmed(std::string text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back()))) text.pop_back();
  return text;
}

Result<base::HttpAnswer> get(const std::string& id, std::string_view file,
                             const HubSettings& settings) {
  base::HttpGet request;
  request.url = fmt::format("{}/{}/resolve/main/{}", settings.endpoint, id, file);
  if (!settings.token.empty()) request.headers.push_back("Authorization: Bearer " + settings.token);
  request.total_timeout_ms = settings.timeout_ms;
  request.connect_timeout_ms = std::min(settings.timeout_ms, request.connect_timeout_ms);
  request.most_bytes = kMostConfigBytes;
  return base::http_get(request);
}

Error refused(const std::string& id, long status, const HubSettings& settings) {
  const std::string& hub = settings.endpoint;
  if (status == 401 || status == 403) {
    return Error::environment(fmt::format(
        "model \"{}\": {} answers {}: a private or gated model, or an unknown one; {}", id, hub,
        status, settings.token.empty() ? "set HF_TOKEN" : "HF_TOKEN has no access to it"));
  }
  return Error::environment(fmt::format("model \"{}\": {} answers {}", id, hub, status));
}

// A full disk or a read-only home only costs the next run a download.
void keep(const ConfigFiles& files, const HubSettings& settings) {
  if (settings.own_cache.empty()) return;
  const fs::path folder = settings.own_cache / dashed(files.id);
  std::error_code ec;
  fs::create_directories(folder, ec);
  if (ec) return;
  if (files.hf_quant && !base::write_file_atomically(folder / kHfQuant, *files.hf_quant)) return;
  // config.json last: it is what makes the folder count
  static_cast<void>(base::write_file_atomically(folder / kConfig, files.config).ok());
}

}  // namespace

HubSettings hub_settings() {
  HubSettings s;
  if (const std::string endpoint = env("HF_ENDPOINT"); !endpoint.empty()) s.endpoint = endpoint;
  while (s.endpoint.ends_with('/')) s.endpoint.pop_back();
  const fs::path home = first_path({env("HF_HOME"), under(env("XDG_CACHE_HOME"), "huggingface"),
                                    under(env("HOME"), ".cache/huggingface")});
  s.hf_cache = first_path({env("HF_HUB_CACHE"), home.empty() ? fs::path() : home / "hub"});
  s.own_cache = first_path({under(env("XDG_CACHE_HOME"), "setpoint/models"),
                            under(env("HOME"), ".cache/setpoint/models")});
  const std::string offline = base::lower(env("HF_HUB_OFFLINE"));
  s.offline = offline == "1" || offline == "true" || offline == "yes" || offline == "on";
  s.token = trimmed(env("HF_TOKEN"));
  if (s.token.empty() && !home.empty()) {
    constexpr std::size_t kMostTokenBytes = 4096;
    if (auto stored = base::read_file(home / "token", kMostTokenBytes)) s.token = trimmed(*stored);
  }
  const std::string timeout = env("SETPOINT_HTTP_TIMEOUT_MS");
  long ms = 0;
  const auto parsed = std::from_chars(timeout.data(), timeout.data() + timeout.size(), ms);
  if (parsed.ec == std::errc() && ms > 0 && ms <= 600000) s.timeout_ms = ms;
  return s;
}

Result<ConfigFiles> from_file(const std::string& id, const fs::path& config) {
  ConfigFiles files{id, "", std::nullopt, config.string()};
  SP_TRY(files.config, base::read_file(config, kMostConfigBytes));
  const fs::path hf_quant = config.parent_path() / kHfQuant;
  std::error_code ec;
  if (fs::is_regular_file(hf_quant, ec)) {
    SP_TRY(files.hf_quant, base::read_file(hf_quant, kMostConfigBytes));
  }
  return files;
}

bool is_model_id(const std::string& text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string::npos || slash == 0 || slash + 1 == text.size()) return false;
  if (text.size() > 200 || text.find("..") != std::string::npos) return false;
  return std::count(text.begin(), text.end(), '/') == 1 &&
         std::all_of(text.begin(), text.end(), [](char c) {
           return std::isalnum(static_cast<unsigned char>(c)) ||
                  std::string_view("._-/").find(c) != std::string_view::npos;
         });
}

std::optional<ConfigFiles> from_hf_cache(const std::string& id, const HubSettings& settings) {
  if (settings.hf_cache.empty()) return std::nullopt;
  const fs::path model = settings.hf_cache / ("models--" + dashed(id));
  constexpr std::size_t kMostRefBytes = 200;
  if (const auto ref = base::read_file(model / "refs" / "main", kMostRefBytes)) {
    const std::string commit = trimmed(*ref);
    if (commit.find('/') == std::string::npos && commit.find("..") == std::string::npos) {
      if (auto files = from_folder(id, model / "snapshots" / commit)) return files;
    }
  }
  std::error_code ec;
  std::vector<fs::path> snapshots;
  for (const auto& entry : fs::directory_iterator(model / "snapshots", ec)) {
    snapshots.push_back(entry.path());
  }
  std::sort(snapshots.begin(), snapshots.end());
  for (const fs::path& snapshot : snapshots) {
    if (auto files = from_folder(id, snapshot)) return files;
  }
  return std::nullopt;
}

std::optional<ConfigFiles> from_own_cache(const std::string& id, const HubSettings& settings) {
  if (settings.own_cache.empty()) return std::nullopt;
  return from_folder(id, settings.own_cache / dashed(id));
}

Result<ConfigFiles> from_hub(const std::string& id, const HubSettings& settings) {
  SP_TRY(const auto config, get(id, kConfig, settings));
  if (config.status == 404) {
    return Error::bad_input(fmt::format("model \"{}\": {} has no such model with a config.json", id,
                                        settings.endpoint));
  }
  if (config.status != 200) return refused(id, config.status, settings);
  SP_TRY(const base::Json parsed, base::parse_json(config.body, id + ": config.json of the hub"));
  ConfigFiles files{id, config.body, std::nullopt, fmt::format("{}/{}", settings.endpoint, id)};
  // Most models have no such file; but one that cannot be read must not pass for "none".
  SP_TRY(const auto quant, get(id, kHfQuant, settings));
  if (quant.status == 200) files.hf_quant = quant.body;
  if (quant.status != 200 && quant.status != 404) return refused(id, quant.status, settings);
  keep(files, settings);
  return files;
}

}  // namespace setpoint::model
