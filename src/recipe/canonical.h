// SPDX-License-Identifier: Apache-2.0
// The canonical form that two sets of final values are brought into before they are compared or
// hashed: one spelling for number formats (torch.bfloat16, bfloat16 = "bf16") and for enumerations
// (AttnBackend.auto = "auto"), no names that belong to a rank or a job (RANK, MASTER_PORT), and
// paths of data and checkpoints by content where that is known.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include "recipe/final_values.h"
#include "setpoint/result.h"

namespace setpoint::recipe {

base::Json canonical_value(const base::Json& value);
FinalValues canonical(const FinalValues& values);

// True of names that differ between the ranks or the jobs of one and the same recipe. Environment
// variables are named "env.NAME".
bool per_rank(std::string_view name);

// Parameters whose value is a path (or a list of them) to data, a tokenizer or a checkpoint.
bool names_content(std::string_view name);
// Fact "content.NAME" holds the digest of what parameter NAME points to. This adds it for those
// that exist on this machine and are at most 1 GiB, of a folder over all its files.
void add_content_facts(FinalValues& values, const std::filesystem::path& beside);

// "Same recipe" means the same effective hash: SHA-256 of framework, version, parameters and
// environment in canonical form. `noise` tells which names ("env.HOME", "save") do not make a
// recipe another one; the register's neutral entries are such.
using Noise = std::function<bool(const std::string& name)>;
Result<std::string> effective_hash(const FinalValues& values, const Noise& noise);

}  // namespace setpoint::recipe
