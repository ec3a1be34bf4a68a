// SPDX-License-Identifier: Apache-2.0
#include "generate/placement.h"

#include <fmt/format.h>

#include <numeric>

namespace setpoint::generate {
namespace {

struct Node {
  std::string system;
  std::int64_t gpus = 0, used = 0;
};

// The GPUs from the first free one on.
NodePart take(std::vector<Node>& nodes, std::size_t at, std::int64_t gpus) {
  NodePart part{static_cast<std::int64_t>(at), std::vector<std::int64_t>(std::size_t(gpus))};
  std::iota(part.devices.begin(), part.devices.end(), nodes[at].used);
  nodes[at].used += gpus;
  return part;
}

std::size_t node_for(std::vector<Node>& nodes, const RoleSettings& role) {
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (nodes[i].system == role.system && nodes[i].gpus - nodes[i].used >= role.gpus_on_node) {
      return i;
    }
  }
  nodes.push_back({role.system, role.gpus_per_node, 0});
  return nodes.size() - 1;
}

}  // namespace

Placement place(const Settings& settings) {
  std::vector<Node> nodes;
  Placement out;
  for (std::size_t i = 0; i < settings.roles.size(); ++i) {
    const RoleSettings& role = settings.roles[i];
    const auto kind = role.role == Role::mixed ? std::string_view("worker")
                                               : kRoleNames[static_cast<std::size_t>(role.role)];
    for (std::int64_t w = 0; w < role.workers; ++w) {
      PlacedWorker worker{i, w, {}, fmt::format("{}-{}", kind, w)};
      for (std::int64_t n = 0; n < role.nodes; ++n) {
        worker.parts.push_back(take(nodes, node_for(nodes, role), role.gpus_on_node));
      }
      out.workers.push_back(std::move(worker));
    }
  }
  out.nodes = static_cast<std::int64_t>(nodes.size());
  return out;
}

std::int64_t PortBook::take(std::int64_t node, std::int64_t first, const std::string& owner) {
  constexpr std::int64_t kLeast = 1024, kMost = 65535;
  std::int64_t port = first;
  while (taken_.contains({node, port})) port = port < kMost ? port + 1 : kLeast;
  taken_.emplace(std::pair{node, port}, owner);
  return port;
}

}  // namespace setpoint::generate
