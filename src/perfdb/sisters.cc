// SPDX-License-Identifier: Apache-2.0
#include "perfdb/sisters.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace setpoint::perfdb {
namespace {

using ops::Quant;

bool same_cost(Quant a, Quant b) {
  return ops::bytes(a) == ops::bytes(b) && ops::info(a).pipe == ops::info(b).pipe;
}

// The format an operator multiplies in, as a reference to change; null where it has none.
template <class O>
Quant* product_format(O& op) {
  if constexpr (requires { op.quant; }) {
    return &op.quant;
  } else if constexpr (requires { op.gemm; }) {
    return &op.gemm;
  } else if constexpr (requires { op.fmha; }) {
    return &op.fmha;
  } else {
    return nullptr;
  }
}

std::int64_t number(const std::string& text) {
  std::int64_t value = -1;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

double octaves(double a, double b) {
  if (a == b) return 0;
  if (a <= 0 || b <= 0) return 4;  // a window against none: far, but last of all
  return std::abs(std::log2(a / b));
}

// Trailing keys of both attention tables: grouping (0 = every head its own), head width, window.
template <class O>
std::optional<std::pair<double, ops::Op>> attention_sister(const O& op, const Keys& keys,
                                                           std::size_t formats) {
  const auto kv = number(keys.at(formats)), dim = number(keys.at(formats + 1));
  const auto window = number(keys.at(formats + 2));
  if (kv < 0 || dim <= 0 || window < 0) return std::nullopt;
  O sister = op;
  sister.kv_heads = kv == 0 ? op.heads : kv;
  sister.head_dim = dim;
  sister.window = window;
  const auto d = [](std::int64_t v) { return static_cast<double>(v); };
  const double distance = 2 * octaves(d(dim), d(op.head_dim)) +
                          octaves(d(sister.kv_heads), d(op.kv_heads)) +
                          octaves(d(window), d(op.window));
  return std::pair(distance, ops::Op(sister));
}

struct SisterOf {
  const Keys& keys;
  using Found = std::optional<std::pair<double, ops::Op>>;

  Found operator()(const ops::ContextAttention& o) const {
    if (keys[0] != ops::name(o.fmha) || keys[1] != ops::name(o.kv)) return std::nullopt;
    return attention_sister(o, keys, 2);
  }
  Found operator()(const ops::GenerationAttention& o) const {
    if (keys[0] != ops::name(o.kv)) return std::nullopt;
    return attention_sister(o, keys, 1);
  }
  Found operator()(const ops::EncoderAttention& o) const {
    if (keys[0] != ops::name(o.fmha)) return std::nullopt;
    ops::EncoderAttention sister = o;
    sister.head_dim = number(keys[1]);
    if (sister.head_dim <= 0) return std::nullopt;
    return std::pair(octaves(static_cast<double>(o.head_dim), static_cast<double>(sister.head_dim)),
                     ops::Op(sister));
  }
  Found operator()(const ops::MlaContextModule& o) const {
    if (keys[0] != ops::name(o.fmha) || keys[1] != ops::name(o.kv) ||
        keys[2] != ops::name(o.gemm)) {
      return std::nullopt;
    }
    return native(o, keys[3]);
  }
  Found operator()(const ops::MlaGenerationModule& o) const {
    if (keys[0] != ops::name(o.kv) || keys[1] != ops::name(o.gemm)) return std::nullopt;
    return native(o, keys[2]);
  }
  template <class Other>
  Found operator()(const Other&) const {
    return std::nullopt;
  }

 private:
  template <class O>
  static Found native(O sister, const std::string& heads) {
    const auto asked = static_cast<double>(sister.native_heads);
    sister.native_heads = number(heads);
    return std::pair(octaves(asked, static_cast<double>(sister.native_heads)), ops::Op(sister));
  }
};

}  // namespace

std::vector<ops::Op> format_twins(const ops::Op& op) {
  std::vector<ops::Op> twins;
  for (const ops::QuantInfo& candidate : ops::kQuants) {
    ops::Op twin = op;
    const bool other = std::visit(
        [&](auto& o) {
          Quant* format = product_format(o);
          if (format == nullptr || *format == candidate.quant ||
              !same_cost(*format, candidate.quant)) {
            return false;
          }
          *format = candidate.quant;
          return true;
        },
        twin);
    if (other) twins.push_back(twin);
  }
  return twins;
}

Result<std::vector<ops::Op>> shape_sisters(const Tables& tables, const ops::Op& op) {
  SP_TRY(const auto all, tables.keys(ops::family(op)));
  std::vector<std::pair<double, ops::Op>> found;
  for (const Keys& keys : all) {
    if (auto sister = std::visit(SisterOf{keys}, op)) found.push_back(std::move(*sister));
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<ops::Op> sisters;
  for (auto& [distance, sister] : found) sisters.push_back(std::move(sister));
  return sisters;
}

std::vector<ops::Op> wide_formats(const ops::Op& op) {
  ops::Op wide = op;
  std::visit(
      [](auto& o) {
        if constexpr (requires { o.kv; }) o.kv = Quant::bfloat16;
        if constexpr (requires { o.fmha; }) o.fmha = Quant::bfloat16;
      },
      wide);
  if (wide == op) return {};
  return {wide};
}

}  // namespace setpoint::perfdb
