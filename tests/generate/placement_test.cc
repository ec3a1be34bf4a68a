// SPDX-License-Identifier: Apache-2.0
#include "generate/placement.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

namespace {

using namespace setpoint;
using namespace setpoint::generate;

RoleSettings role(Role which, std::int64_t workers, std::int64_t gpus, std::int64_t per_node = 8,
                  const std::string& system = "h200_sxm") {
  RoleSettings r;
  r.role = which;
  r.workers = workers;
  r.system = system;
  r.gpus = gpus;
  r.gpus_per_node = per_node;
  r.nodes = std::max<std::int64_t>(1, gpus / per_node);
  r.gpus_on_node = gpus / r.nodes;
  return r;
}

Settings with(std::vector<RoleSettings> roles) {
  Settings s;
  s.roles = std::move(roles);
  return s;
}

TEST(Placement, WorkersOfOneRoleFollowEachOtherAndShareNodes) {
  const Placement p = place(with({role(Role::prefill, 3, 1), role(Role::decode, 2, 4)}));
  EXPECT_EQ(p.nodes, 2);
  ASSERT_EQ(p.workers.size(), 5u);
  EXPECT_EQ(p.workers[2].name, "prefill-2");
  EXPECT_EQ(p.workers[2].parts, (std::vector<NodePart>{{0, {2}}}));
  EXPECT_EQ(p.workers[3].parts, (std::vector<NodePart>{{0, {3, 4, 5, 6}}}));
  EXPECT_EQ(p.workers[4].parts, (std::vector<NodePart>{{1, {0, 1, 2, 3}}}));
  EXPECT_EQ(p.workers[4].name, "decode-1");
}

TEST(Placement, AWorkerOverSeveralNodesTakesThemWhole) {
  const Placement p = place(with({role(Role::mixed, 2, 16)}));
  EXPECT_EQ(p.nodes, 4);
  EXPECT_EQ(p.workers[1].name, "worker-1");
  ASSERT_EQ(p.workers[1].parts.size(), 2u);
  EXPECT_EQ(p.workers[1].parts[0].node, 2);
  EXPECT_EQ(p.workers[1].parts[1].devices.size(), 8u);
}

TEST(Placement, RolesOnDifferentSystemsShareNoNode) {
  const Placement p =
      place(with({role(Role::prefill, 1, 2), role(Role::decode, 1, 2, 4, "gb200")}));
  EXPECT_EQ(p.nodes, 2);
  EXPECT_EQ(p.workers[1].parts[0].node, 1);
}

// Every GPU is used once, by one worker, on a node that has it.
TEST(Placement, HoldsForThousandsOfRandomPlans) {
  std::mt19937 random(7);
  const auto pick = [&](std::int64_t least, std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(least, most)(random);
  };
  for (int i = 0; i < 5000; ++i) {
    std::vector<RoleSettings> roles;
    const bool pools = pick(0, 1) == 1;
    for (int k = 0; k <= int(pools); ++k) {
      const std::int64_t per_node = pick(0, 1) == 0 ? 8 : 4;
      const std::int64_t gpus = pick(0, 3) == 0 ? per_node * pick(1, 4) : pick(1, per_node);
      const Role which = !pools ? Role::mixed : k == 0 ? Role::prefill : Role::decode;
      roles.push_back(
          role(which, pick(1, 9), gpus, per_node, per_node == 8 ? "h200_sxm" : "gb200"));
    }
    const Settings s = with(roles);
    const Placement p = place(s);
    std::set<std::pair<std::int64_t, std::int64_t>> used;
    std::map<std::int64_t, std::string> system;
    std::set<std::string> names;
    for (const PlacedWorker& worker : p.workers) {
      const RoleSettings& r = s.roles[worker.role];
      EXPECT_TRUE(names.insert(worker.name).second);
      ASSERT_EQ(std::int64_t(worker.parts.size()), r.nodes);
      for (const NodePart& part : worker.parts) {
        ASSERT_LT(part.node, p.nodes);
        ASSERT_EQ(std::int64_t(part.devices.size()), r.gpus_on_node);
        EXPECT_EQ(system.emplace(part.node, r.system).first->second, r.system);
        for (const std::int64_t device : part.devices) {
          ASSERT_LT(device, r.gpus_per_node);
          EXPECT_TRUE(used.emplace(part.node, device).second);
        }
      }
    }
    EXPECT_EQ(std::int64_t(used.size()), s.gpus());
  }
}

TEST(PortBook, NeverGivesOnePortOfANodeTwice) {
  PortBook book;
  EXPECT_EQ(book.take(0, 8000, "worker-0"), 8000);
  EXPECT_EQ(book.take(0, 8000, "router"), 8001);
  EXPECT_EQ(book.take(1, 8000, "worker-1"), 8000);
  EXPECT_EQ(book.take(0, 65535, "a"), 65535);
  EXPECT_EQ(book.take(0, 65535, "b"), 1024);
  EXPECT_EQ(book.taken().at({0, 8001}), "router");
}

}  // namespace
