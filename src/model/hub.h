// SPDX-License-Identifier: Apache-2.0
// A model's two description files from a Hugging Face hub or from what an earlier download left on
// this machine. Settings are those of the hub's own client: HF_ENDPOINT, HF_TOKEN, HF_HUB_OFFLINE,
// HF_HOME and HF_HUB_CACHE; SETPOINT_HTTP_TIMEOUT_MS shortens or lengthens the wait.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "model/read.h"

namespace setpoint::model {

struct HubSettings {
  std::string endpoint = "https://huggingface.co";
  std::string token;  // sent as bearer token, never shown
  bool offline = false;
  std::filesystem::path hf_cache;   // of the hub's client: models--org--name/snapshots/...
  std::filesystem::path own_cache;  // of this program: org--name/config.json
  long timeout_ms = 10000;
};
HubSettings hub_settings();  // from the environment

// org/name, letters, digits and ._- only: nothing else may become part of a path or address.
bool is_model_id(const std::string& text);

// A config.json, with the hf_quant_config.json beside it if there is one.
Result<ConfigFiles> from_file(const std::string& id, const std::filesystem::path& config);
std::optional<ConfigFiles> from_hf_cache(const std::string& id, const HubSettings& settings);
std::optional<ConfigFiles> from_own_cache(const std::string& id, const HubSettings& settings);
// Exit code 2: the hub has no such model or file; 3: it refused or did not answer.
Result<ConfigFiles> from_hub(const std::string& id, const HubSettings& settings);

}  // namespace setpoint::model
