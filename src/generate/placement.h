// SPDX-License-Identifier: Apache-2.0
// Which GPUs of which machine each worker gets, and the ports of everything that listens. Workers
// of a role follow each other; a worker that fits a node never straddles two.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "generate/settings.h"

namespace setpoint::generate {

struct NodePart {
  std::int64_t node = 0;              // machine, 0 .. nodes-1
  std::vector<std::int64_t> devices;  // GPU indices on it
  bool operator==(const NodePart&) const = default;
};

struct PlacedWorker {
  std::size_t role = 0;         // index into Settings::roles
  std::int64_t index = 0;       // of its role, 0 .. workers-1
  std::vector<NodePart> parts;  // first part = head
  std::string name;             // "worker-0", "prefill-1": also the name of its log and service
  bool operator==(const PlacedWorker&) const = default;
};

struct Placement {
  std::int64_t nodes = 1;
  std::vector<PlacedWorker> workers;
};
Placement place(const Settings& settings);

// Hands out ports; two owners on one node never get the same.
class PortBook {
 public:
  // The first free port from `first` on, on this node.
  std::int64_t take(std::int64_t node, std::int64_t first, const std::string& owner);
  // "node 0 port 8000: worker-0, router", empty without a clash.
  const std::map<std::pair<std::int64_t, std::int64_t>, std::string>& taken() const {
    return taken_;
  }

 private:
  std::map<std::pair<std::int64_t, std::int64_t>, std::string> taken_;
};

}  // namespace setpoint::generate
