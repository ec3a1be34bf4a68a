// SPDX-License-Identifier: Apache-2.0
// From an operator and the tables of one version to completed surfaces: one function per way a
// table is laid out. Each gives nothing when the tables cannot tell, and an error only when they
// cannot be read.
#pragma once

#include <optional>

#include "perfdb/priced.h"
#include "perfdb/tables.h"

namespace setpoint::perfdb {

using Bound = Result<std::optional<Priced>>;

// Attention, latent attention, absorbed projections: a grid whose outermost axis is heads.
Bound bind_grid(const Tables& tables, const ops::Op& op);
// Scattered (n, k), each with a curve over tokens.
Bound bind_gemm(const Tables& tables, const ops::Gemm& op);
// Scattered shapes, each with a curve over tokens; skews between collected ones are interpolated.
Bound bind_moe(const Tables& tables, const ops::Moe& op);
// Ranks x message size, on the byte axis.
Bound bind_collective(const Tables& tables, const ops::Op& op);
// Whichever of these the operator's family needs.
Bound bind_tables(const Tables& tables, const ops::Op& op);

// The exact keys an operator is looked up by, in its family's order.
Keys table_keys(const ops::Op& op);
// The time that `percentile` (0 to 1) of a table's points do not exceed; 0 = the least.
double percentile_ms(const Slice& slice, double percentile);

}  // namespace setpoint::perfdb
