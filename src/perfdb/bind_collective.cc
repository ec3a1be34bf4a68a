// SPDX-License-Identifier: Apache-2.0
// Tables of collectives count elements; what moves is bytes, so everything here is on the byte
// axis. A message of one-byte elements costs what half as many two-byte elements cost, so the
// tables of the two formats complete each other, and formats without rows read either.
#include <algorithm>
#include <array>
#include <cmath>

#include "ops/roofline.h"
#include "perfdb/bind.h"

namespace setpoint::perfdb {
namespace {

using ops::Quant;

struct Message {
  std::string_view kind;  // "" = the framework's own all-reduce
  Quant quant = Quant::half;
  std::int64_t ranks = 1;
  double bytes_per_token = 0;
};

Message message_of(const ops::Op& op) {
  if (const auto* own = std::get_if<ops::CustomAllReduce>(&op)) {
    return {"", Quant::half, own->ranks, static_cast<double>(own->hidden) * bytes(Quant::half)};
  }
  const auto& c = std::get<ops::Collective>(op);
  return {ops::kCollectiveNames[static_cast<std::size_t>(c.kind)], c.quant, c.ranks,
          c.elements * ops::bytes(c.quant)};
}

Slice in_bytes(const Slice& elements, Quant quant) {
  Slice out = elements;
  out.keys.clear();
  for (std::int64_t& c : out.axes.back().coordinates) {
    c *= static_cast<std::int64_t>(ops::bytes(quant));
  }
  return out;
}

// The message's own format first, then its twin.
Result<std::optional<Slice>> byte_slice(const Tables& tables, std::string_view table,
                                        const Message& m) {
  std::vector<Slice> parts;
  if (m.kind.empty()) {
    SP_TRY(const auto slice, tables.find(table, {}));
    if (slice) parts.push_back(in_bytes(*slice, Quant::half));
  } else {
    const bool narrow = ops::bytes(m.quant) < ops::bytes(Quant::half);
    const std::array<Quant, 2> formats =
        narrow ? std::array{Quant::int8, Quant::half} : std::array{Quant::half, Quant::int8};
    for (const Quant format : formats) {
      SP_TRY(const auto slice,
             tables.find(table, {std::string(m.kind), std::string(ops::name(format))}));
      if (slice) parts.push_back(in_bytes(*slice, format));
    }
  }
  if (parts.empty()) return std::optional<Slice>();
  return std::optional(merge(parts));
}

// The operator with a message of `bytes` among `ranks`.
double bound_at(const ops::Op& op, double ranks, double bytes, const hw::System& system) {
  ops::Op there = op;
  std::visit(
      [&](auto& o) {
        if constexpr (requires { o.ranks; }) o.ranks = static_cast<std::int64_t>(ranks);
      },
      there);
  return ops::roofline(there, {.tokens = bytes / message_of(op).bytes_per_token}, system).value();
}

// Hand-overs one after the other that cross a node's (rack's) border: a tree up and down for an
// all-reduce, a ring for the rest. Nothing beyond a node was ever measured: an assumption.
double border_hops(const Message& m, const hw::Node& node) {
  const double domain = std::max(node.gpus, node.gpus_per_rack);
  const double domains = std::ceil(static_cast<double>(m.ranks) / domain);
  const bool tree = m.kind.empty() || m.kind == "all_reduce";
  return tree ? 2 * std::ceil(std::log2(domains)) : domains - 1;
}

double ring_share(double ranks) { return (ranks - 1) / ranks; }

// More ranks than measured: the floor grows with every doubling as it did over the last measured
// one; the rest grows with the bytes a ring passes and the slowest link's bandwidth; every border
// crossed adds one hand-over.
Grid beyond_ranks(const Grid& grid, const Message& m, const hw::System& system) {
  const std::vector<double>& ranks = grid.axes[0];
  const std::size_t sizes = grid.axes[1].size(), last = ranks.size() - 1;
  const auto floor_of = [&](std::size_t row) {
    double least = INFINITY;
    for (std::size_t i = 0; i < sizes; ++i) {
      if (grid.marks[row * sizes + i] != Mark::unknown) {
        least = std::min(least, grid.ms[row * sizes + i]);
      }
    }
    return least;
  };
  const double floor = floor_of(last);
  const double measured = ranks[last], asked = static_cast<double>(m.ranks);
  double growth = 1;
  if (last > 0) {
    const double per_octave = 1 / std::log2(measured / ranks[last - 1]);
    growth = std::max(1.0, std::pow(floor / floor_of(last - 1), per_octave));
  }
  const double floor_there = floor * std::pow(growth, std::log2(asked / measured));
  const auto bw = [&](double n) {
    return ops::ring_bw(static_cast<std::int64_t>(n), system).value();
  };
  const double stretch = ring_share(asked) / ring_share(measured) * bw(measured) / bw(asked);
  const double hops = border_hops(m, system.node) * system.node.p2p_latency.value();
  Grid out{{grid.axes[1]}, {}, {}};
  for (std::size_t i = 0; i < sizes; ++i) {
    const std::size_t cell = last * sizes + i;
    const bool known = grid.marks[cell] != Mark::unknown;
    out.ms.push_back(known ? floor_there + (grid.ms[cell] - floor) * stretch + hops : 0);
    out.marks.push_back(known ? Mark::extrapolated : Mark::unknown);
  }
  return out;
}

}  // namespace

Bound bind_collective(const Tables& tables, const ops::Op& op) {
  const Family& family = *find_family(ops::family(op));
  const Message m = message_of(op);
  SP_TRY(const auto slice, byte_slice(tables, family.op, m));
  if (!slice || !(m.bytes_per_token > 0)) return std::optional<Priced>();
  const auto bound = [&](double ranks, double bytes) {
    return bound_at(op, ranks, bytes, tables.system());
  };
  const Grid grid = grid_of(*slice);
  const auto ranks = static_cast<double>(m.ranks);
  // Ranks between measured ones: straight in the logs of time and ranks, so without a floor.
  const Physics whole{[&](std::span<const double> at) { return bound(at[0], at[1]); }, 0};
  const Grid curve = ranks > grid.axes[0].back() ? beyond_ranks(grid, m, tables.system())
                                                 : fix(grid, ranks, family.fixed, whole);
  double least = INFINITY;
  for (std::size_t i = 0; i < curve.ms.size(); ++i) {
    if (curve.marks[i] != Mark::unknown) least = std::min(least, curve.ms[i]);
  }
  if (!std::isfinite(least)) return std::optional<Priced>();
  const Physics rest{[&](std::span<const double> at) { return bound(ranks, at[0]); },
                     least * family.floor_share};
  Priced priced{.family = &family, .scale = m.bytes_per_token, .floor_ms = rest.floor};
  priced.lanes.emplace_back(complete(curve, {&family.axes[1], 1}, rest), false);
  return std::optional(std::move(priced));
}

}  // namespace setpoint::perfdb
