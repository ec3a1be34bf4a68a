// SPDX-License-Identifier: Apache-2.0
#include "perfdb/compact_blob.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace setpoint::perfdb::compact {
namespace {

constexpr std::string_view kMagic = "SPCM";
constexpr std::uint8_t kVersion = 1;
constexpr std::size_t kSetBytes = 3 + kKeyParts + std::size_t{3} * 2 + 1;
// Fixed-point steps of the numbers of a set.
constexpr double kFloorStep = 2048;     // floor_ms = 2^(q / 2048 - 16)
constexpr double kFloorOffset = 16;     // so from 2^-16 ms to 2^16 ms
constexpr double kBaseStep = 1024;      // base = q / 1024
constexpr double kScaleStep = 1 << 18;  // scale = q / 2^18
constexpr double kErrorStep = 400;      // error = q / 400, at most 0.6375

double rounded(double value, double low, double high) {
  return std::clamp(std::round(value), low, high);
}
constexpr double kU16 = std::numeric_limits<std::uint16_t>::max();
constexpr double kU8 = std::numeric_limits<std::uint8_t>::max();
constexpr double kI16 = std::numeric_limits<std::int16_t>::max();

std::uint16_t floor_code(double ms) {
  return static_cast<std::uint16_t>(
      rounded((std::log2(std::max(ms, 1e-9)) + kFloorOffset) * kFloorStep, 0, kU16));
}
std::int16_t base_code(double base) {
  return static_cast<std::int16_t>(rounded(base * kBaseStep, -kI16, kI16));
}
std::uint16_t scale_code(double scale) {
  return static_cast<std::uint16_t>(rounded(scale * kScaleStep, 1, kU16));
}
std::uint8_t error_code(double error) {
  return static_cast<std::uint8_t>(rounded(error * kErrorStep, 0, kU8));
}
double floor_of(std::uint16_t q) { return std::exp2(q / kFloorStep - kFloorOffset); }
double base_of(std::int16_t q) { return q / kBaseStep; }
double scale_of(std::uint16_t q) { return q / kScaleStep; }
double error_of(std::uint8_t q) { return q / kErrorStep; }

// FNV-1a, 32 bit: finds damage, not malice.
std::uint32_t checksum(std::string_view bytes) {
  std::uint32_t hash = 2166136261u;
  for (const char c : bytes) hash = (hash ^ static_cast<std::uint8_t>(c)) * 16777619u;
  return hash;
}

class Writer {
 public:
  template <class Int>
  void integer(Int value) {
    for (std::size_t i = 0; i < sizeof(Int); ++i) {
      bytes_.push_back(static_cast<char>(static_cast<std::uint64_t>(value) >> (8 * i)));
    }
  }
  void raw(std::string_view bytes) { bytes_ += bytes; }
  void text(std::string_view text) {
    integer(static_cast<std::uint8_t>(text.size()));
    raw(text);
  }
  std::string take() && { return std::move(bytes_); }

 private:
  std::string bytes_;
};

// Reads that run past the end give zeros and set failed().
class Reader {
 public:
  explicit Reader(std::string_view bytes) : rest_(bytes) {}
  std::string_view raw(std::size_t size) {
    if (size > rest_.size()) {
      failed_ = true;
      rest_ = {};
      return {};
    }
    const std::string_view head = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return head;
  }
  template <class Int>
  Int integer() {
    std::uint64_t value = 0;
    const std::string_view bytes = raw(sizeof(Int));
    for (std::size_t i = bytes.size(); i-- > 0;) {
      value = value << 8 | static_cast<std::uint8_t>(bytes[i]);
    }
    return static_cast<Int>(value);
  }
  std::string text() { return std::string(raw(integer<std::uint8_t>())); }
  bool failed() const { return failed_; }
  bool at_end() const { return rest_.empty(); }

 private:
  std::string_view rest_;
  bool failed_ = false;
};

// Names used more than once, each stored once.
class Names {
 public:
  std::uint8_t id(const std::string& name) {
    const auto at = std::find(names_.begin(), names_.end(), name) - names_.begin();
    if (static_cast<std::size_t>(at) == names_.size()) names_.push_back(name);
    return static_cast<std::uint8_t>(at);
  }
  const std::vector<std::string>& all() const { return names_; }

 private:
  std::vector<std::string> names_;
};

Error broken(std::string_view what) {
  return Error::environment(
      fmt::format("compact model: {}; build perfdb/compact.bin again with "
                  "fit_compact",
                  what));
}

void write_set(Writer& out, const Set& set, Names& names) {
  out.integer(names.id(set.system));
  out.integer(names.id(set.framework));
  out.integer(static_cast<std::uint8_t>(set.family));
  for (const std::string& part : set.key) out.integer(names.id(part));
  out.integer(floor_code(set.floor_ms));
  out.integer(base_code(set.base));
  out.integer(scale_code(set.scale));
  out.integer(error_code(set.error));
}

Result<Set> read_set(Reader& in, const std::vector<std::string>& names) {
  bool known = true;
  const auto name = [&] {
    const std::size_t id = in.integer<std::uint8_t>();
    known = known && id < names.size();
    return known ? names[id] : std::string();
  };
  Set set;
  set.system = name();
  set.framework = name();
  set.family = in.integer<std::uint8_t>();
  for (std::string& part : set.key) part = name();
  set.floor_ms = floor_of(in.integer<std::uint16_t>());
  set.base = base_of(in.integer<std::int16_t>());
  set.scale = scale_of(in.integer<std::uint16_t>());
  set.error = error_of(in.integer<std::uint8_t>());
  if (!known || set.family >= forms().size()) return broken("a set names what is not there");
  return set;
}

// Families by name, with the number of coefficients: a reader whose form differs must not read on.
void write_forms(Writer& out) {
  out.integer(static_cast<std::uint8_t>(forms().size()));
  for (const Form& form : forms()) {
    out.text(form.family);
    out.integer(static_cast<std::uint16_t>(form.size()));
  }
}

bool same_forms(Reader& in) {
  if (in.integer<std::uint8_t>() != forms().size()) return false;
  return std::all_of(forms().begin(), forms().end(), [&](const Form& form) {
    const std::string family = in.text();
    return family == form.family && in.integer<std::uint16_t>() == form.size();
  });
}

}  // namespace

double value(const Set& set, const Coordinates& x) {
  double sum = 0;
  for_each_hat(forms()[set.family].terms, x,
               [&](std::size_t i, double weight) { sum += weight * set.coefficients[i]; });
  return set.base + set.scale * sum;
}

void round_to_file(Set& set) {
  set.floor_ms = floor_of(floor_code(set.floor_ms));
  set.base = base_of(base_code(set.base));
  set.scale = scale_of(scale_code(set.scale));
  set.error = error_of(error_code(set.error));
}

std::string encode(const Blob& blob) {
  Names names;
  Writer sets;
  for (const Set& set : blob.sets) write_set(sets, set, names);
  for (const Set& set : blob.sets) {
    for (const std::int8_t c : set.coefficients) sets.integer(c);
  }
  Writer body;
  body.text(blob.origin);
  write_forms(body);
  body.integer(static_cast<std::uint8_t>(names.all().size()));
  for (const std::string& name : names.all()) body.text(name);
  body.integer(static_cast<std::uint32_t>(blob.sets.size()));
  body.raw(std::move(sets).take());
  const std::string bytes = std::move(body).take();
  Writer out;
  out.raw(kMagic);
  out.integer(kVersion);
  out.integer(checksum(bytes));
  out.raw(bytes);
  return std::move(out).take();
}

Result<Blob> decode(std::string_view bytes) {
  Reader in(bytes);
  if (in.raw(kMagic.size()) != kMagic) return broken("not a compact model");
  const auto version = in.integer<std::uint8_t>();
  if (version != kVersion) {
    return broken(fmt::format("version {}, this program reads {}", version, kVersion));
  }
  const auto sum = in.integer<std::uint32_t>();
  if (in.failed() || checksum(bytes.substr(kMagic.size() + 1 + sizeof sum)) != sum) {
    return broken("damaged: the checksum differs");
  }
  Blob blob;
  blob.origin = in.text();
  if (!same_forms(in)) return broken("written for another form of the model");
  std::vector<std::string> names(in.integer<std::uint8_t>());
  for (std::string& name : names) name = in.text();
  const std::size_t count = in.integer<std::uint32_t>();
  if (count > bytes.size() / kSetBytes) return broken("more sets than bytes");
  for (std::size_t i = 0; i < count; ++i) {
    SP_TRY(Set set, read_set(in, names));
    blob.sets.push_back(std::move(set));
  }
  for (Set& set : blob.sets) {
    const std::string_view raw = in.raw(forms()[set.family].size());
    set.coefficients.assign(raw.begin(), raw.end());
  }
  if (in.failed() || !in.at_end()) return broken("shorter or longer than it says");
  return blob;
}

}  // namespace setpoint::perfdb::compact
