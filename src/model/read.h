// SPDX-License-Identifier: Apache-2.0
// From what a user names to a ModelSpec: a config.json, a folder, a shipped id, an id in the local
// Hugging Face cache, else fetched from the hub (HF_ENDPOINT, HF_TOKEN, HF_HUB_OFFLINE, HF_HOME).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "setpoint/model.h"
#include "setpoint/result.h"

namespace setpoint::model {

// The two files of a checkpoint that describe it.
struct ConfigFiles {
  std::string id;
  std::string config;                   // text of config.json
  std::optional<std::string> hf_quant;  // text of hf_quant_config.json
  std::string origin;                   // where they were found, for people
};

Result<ConfigFiles> find_config(const std::string& model);
Result<ModelSpec> read_config(const ConfigFiles& files);  // pure

// find_config + read_config; `precision` (bf16, fp8, fp4, int4, or empty) names the published
// checkpoint of that precision instead: a shipped variant, else what quantisation tools make by
// default (dense fp8 per tensor; experts in block fp8 before Blackwell; fp4 with the family's
// exclusions; int4 weight-only), said in a warning.
Result<ModelSpec> read_model(const std::string& model, const std::string& precision,
                             int sm_version);

// Ids whose description ships with the binary and reads.
std::vector<std::string> shipped_models();

}  // namespace setpoint::model
