// SPDX-License-Identifier: Apache-2.0
// The compact model as bytes: perfdb/compact.bin. Little-endian, versioned, checksummed; format in
// docs/formats/compact.md. A blob that is not exactly what encode() writes is refused with one
// line.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "perfdb/compact_form.h"
#include "setpoint/result.h"

namespace setpoint::perfdb::compact {

// The coefficients of one (system, framework, family, key):
//   log((floor + roofline) / time) = base + scale * sum of weight * coefficient
struct Set {
  std::string system, framework;
  std::size_t family = 0;  // index into forms()
  Key key;
  double floor_ms = 0;
  double base = 0;
  double scale = 0;
  double error = 0;                       // mean relative error over all rows of its table
  std::vector<std::int8_t> coefficients;  // forms()[family].size() of them
};

// log((floor + roofline) / time) of the set at x.
double value(const Set& set, const Coordinates& x);

// Rounds floor, base, scale and error to what the file can hold; the fit scores itself on the
// result.
void round_to_file(Set& set);

struct Blob {
  std::string origin;  // snapshot of the tables the sets were fitted to
  std::vector<Set> sets;
};

std::string encode(const Blob& blob);
Result<Blob> decode(std::string_view bytes);

}  // namespace setpoint::perfdb::compact
