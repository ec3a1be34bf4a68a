// SPDX-License-Identifier: Apache-2.0
#include "cluster/open.h"

#include "base/text.h"
#include "cluster/local_cluster.h"
#include "cluster/sim_cluster.h"

namespace setpoint::cluster {
namespace {

Result<std::unique_ptr<Cluster>> open_sim(const OpenRequest& request) {
  SP_TRY(SimSpec spec, read_sim_spec(request.cluster, request.recipe_gpu, request.gpus));
  SP_TRY(auto made, SimCluster::open(std::move(spec), request.folder, request.snapshots));
  return std::unique_ptr<Cluster>(std::move(made));
}

Result<std::unique_ptr<Cluster>> open_local(const OpenRequest& request) {
  SP_CHECK(request.cluster.only(std::array<std::string, 1>{"kind"}));
  SP_TRY(auto made,
         LocalCluster::open(request.folder, request.snapshots, static_cast<int>(request.gpus)));
  return std::unique_ptr<Cluster>(std::move(made));
}

struct Kind {
  std::string_view name;
  Result<std::unique_ptr<Cluster>> (*open)(const OpenRequest&);
};
constexpr std::array kKinds{Kind{"sim", open_sim}, Kind{"local", open_local}};

}  // namespace

Result<std::unique_ptr<Cluster>> open_cluster(const OpenRequest& request) {
  SP_TRY(const base::JsonView kind, request.cluster.at("kind"));
  SP_TRY(const std::string name, kind.string());
  std::vector<std::string> names;
  for (const Kind& one : kKinds) {
    if (one.name == name) return one.open(request);
    names.emplace_back(one.name);
  }
  return kind.error(base::unknown_name("cluster", name, names));
}

}  // namespace setpoint::cluster
