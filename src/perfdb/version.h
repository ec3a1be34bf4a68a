// SPDX-License-Identifier: Apache-2.0
// Which version's tables answer for the version somebody asked for.
#pragma once

#include <optional>
#include <string>

#include "perfdb/store.h"

namespace setpoint::perfdb {

struct ResolvedVersion {
  std::string version;               // "" when the framework has no tables on the system
  std::optional<std::string> asked;  // set when another version was asked for
};

// "" and "current", "previous", "next" are slots; a slot's own version and any version with a GEMM
// table of its own are taken literally. Everything else (and a slot that is empty) resolves to the
// nearest version with a GEMM table: the latest earlier one, else the earliest later one.
// Development builds (0.1.dev...) are sources of single tables, never a version to resolve to.
Result<ResolvedVersion> resolve_version(const Store& store, const std::string& system,
                                        const std::string& framework, const std::string& asked);

}  // namespace setpoint::perfdb
