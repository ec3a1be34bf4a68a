// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <filesystem>

#include "base/file.h"
#include "base/text.h"
#include "model/hub.h"
#include "model/ids.h"
#include "model/read.h"

namespace setpoint::model {
namespace fs = std::filesystem;

Result<ConfigFiles> find_config(const std::string& model) {
  std::error_code ec;
  if (fs::is_directory(model, ec)) return from_file(model, fs::path(model) / "config.json");
  if (fs::exists(model, ec)) return from_file(model, model);
  if (const auto id = shipped_id(model)) {
    return ConfigFiles{*id, std::string(*shipped_config(*id)), std::nullopt, *id};
  }
  if (!is_model_id(model)) {
    return Error::bad_input(base::unknown_name("model", model, shipped_models()) +
                            "; or a file, a folder, or an id org/name of the hub");
  }
  const HubSettings settings = hub_settings();
  if (auto files = from_hf_cache(model, settings)) return *files;
  if (auto files = from_own_cache(model, settings)) return *files;
  if (settings.offline) {
    return Error::bad_input(base::unknown_name("model", model, shipped_models()) +
                            "; not in the local cache, and HF_HUB_OFFLINE is set");
  }
  auto fetched = from_hub(model, settings);
  if (fetched) return fetched;
  return Error{fetched.error().code,
               fmt::format("{}; nearest shipped: {}", fetched.error().text,
                           base::join(base::nearest(model, shipped_models())))};
}

}  // namespace setpoint::model
