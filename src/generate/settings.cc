// SPDX-License-Identifier: Apache-2.0
#include "generate/settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "generate/invariants.h"
#include "search/backend.h"
#include "search/pool.h"
#include "serve/memory.h"

namespace setpoint::generate {
namespace {

// Longest request beyond the nominal one, in tokens, and of a transfer buffer likewise
// (AIConfigurator 0.12.0 writes the same).
constexpr std::int64_t kLengthSlack = 1500;
constexpr std::int64_t kBufferSlack = 500;
// KV pool over what the found batch holds: real requests are longer at times.
constexpr double kHeadroom = 1.2;
constexpr double kShareStep = 0.01;

std::int64_t up(std::int64_t value, std::int64_t step) { return (value + step - 1) / step * step; }
std::int64_t down(std::int64_t value, std::int64_t step) { return value / step * step; }
double d(std::int64_t value) { return static_cast<double>(value); }

std::string name_of(Role role) { return std::string(kRoleNames[static_cast<std::size_t>(role)]); }

// The folder of a config.json that stands for its model.
std::string loadable(const std::string& model) {
  constexpr std::string_view kFile = "/config.json";
  return model.ends_with(kFile) ? model.substr(0, model.size() - kFile.size()) : model;
}

// One role while its settings are derived.
struct Maker {
  const Deployment& deployment;
  const Options& options;
  const framework::Facts& facts;
  Settings& out;

  const Workload& workload() const { return deployment.request.subject.workload; }
  // Limits that an engine takes in whole KV blocks only, are counted in these.
  std::int64_t page() const { return facts.launch.whole_blocks ? facts.memory.kv_block_tokens : 1; }

  Result<RoleSettings> role(const Worker& worker) const;
  Result<void> place(RoleSettings& r, const Worker& worker) const;
  void limit_steps(RoleSettings& r, const Worker& worker) const;
  Result<void> limit_length(RoleSettings& r) const;
  MemoryUse step_memory(const RoleSettings& r, const Worker& worker) const;
  Result<double> choose_share(RoleSettings& r, const Worker& worker, double per_token) const;
  Result<void> share_memory(RoleSettings& r, const Worker& worker) const;
};

Result<void> Maker::place(RoleSettings& r, const Worker& worker) const {
  SP_TRY(const hw::System system, search::find_system(deployment.request.subject, worker.system));
  r.role = worker.role;
  r.workers = worker.count * deployment.estimate.replicas;
  r.system = worker.system;
  r.shard = worker.shard;
  r.gpus = worker.shard.gpus();
  r.gpus_per_node = system.node.gpus;
  r.nodes = (r.gpus + r.gpus_per_node - 1) / r.gpus_per_node;
  r.gpus_on_node = r.gpus / r.nodes;
  return check_layout(out, r, facts);
}

// Tokens and requests of one step: as priced, and with room for prompts a little longer where a
// step must take them whole.
void Maker::limit_steps(RoleSettings& r, const Worker& worker) const {
  const Workload& w = workload();
  const framework::Scheduler& scheduler = facts.scheduler;
  r.max_requests = std::max<std::int64_t>(1, worker.batch);
  const std::int64_t decoding = r.max_requests * (w.nextn + 1);
  const std::int64_t prompt = w.isl + facts.launch.prompt_slack;
  std::int64_t chunk = 0;
  if (r.role == Role::decode) {
    r.max_tokens = decoding;
    // An engine that puts prompts into decode steps refuses a budget below its longest request
    // unless prompts may be cut, though none will come.
    if (scheduler.chunked_prefill && !scheduler.prefill_stalls_decode) chunk = decoding;
  } else if (r.role == Role::prefill) {
    const auto asked = deployment.request.settings.chunk_tokens;
    r.max_tokens = asked ? *asked : std::max(prompt, worker.max_num_tokens);
    if (asked || scheduler.chunked_prefill) chunk = r.max_tokens;
  } else {
    chunk = search::chunk_of(w, r.max_requests, worker.max_num_tokens);
    const bool cut = scheduler.chunked_prefill || chunk < w.new_tokens();
    r.max_tokens = cut ? worker.max_num_tokens : std::max(prompt + decoding, worker.max_num_tokens);
    if (!cut) chunk = 0;
  }
  r.max_tokens = up(r.max_tokens, page());
  r.chunk_tokens = up(chunk, facts.launch.chunk_step);
  r.max_tokens += r.chunk_tokens - chunk;
  if (chunk > 0 && !scheduler.chunked_prefill) {
    out.warnings.push_back(
        fmt::format("{}: prompts are cut into chunks of {} tokens, as priced; "
                    "by default {} takes them whole",
                    name_of(r.role), r.chunk_tokens, facts.name));
  }
  if (r.role != Role::prefill) r.graph_sizes = graph_sizes(r.max_requests);
}

Result<void> Maker::limit_length(RoleSettings& r) const {
  const Workload& w = workload();
  const std::int64_t nominal = w.isl + w.osl, limit = deployment.inputs.max_positions;
  r.max_len = up(nominal + kLengthSlack, page());
  if (limit > 0) r.max_len = std::min(r.max_len, down(limit, page()));
  if (r.max_len < nominal) {
    return Error::bad_input(
        fmt::format("isl, osl: requests of {} + {} tokens exceed the {} that {} allows", w.isl,
                    w.osl, down(limit, page()), deployment.inputs.model));
  }
  r.kv_page = facts.launch.whole_blocks ? page() : 0;
  if (facts.launch.transfer_buffer && out.mode == Mode::disagg) {
    r.kv_buffer_tokens = up(nominal + kBufferSlack, page());
  }
  return {};
}

// Memory of a step as long as it will be allowed to be.
MemoryUse Maker::step_memory(const RoleSettings& r, const Worker& worker) const {
  MemoryUse use = worker.memory;
  if (r.role == Role::prefill && r.max_tokens > worker.max_num_tokens) {
    const double wider = d(r.max_tokens) / d(worker.max_num_tokens);
    use.activations = Bytes(std::llround(d(use.activations.value()) * wider));
  }
  return use;
}

// The share under which the found batch fits with headroom, and the longest request at least; what
// the user knows better than the model goes before. Returns the bytes of KV under it.
Result<double> Maker::choose_share(RoleSettings& r, const Worker& worker, double per_token) const {
  const auto& pins = deployment.request.settings;
  const MemoryUse use = step_memory(r, worker);
  SP_TRY(const hw::System system, search::find_system(deployment.request.subject, worker.system));
  const double own =
      facts.memory_fraction({system.gpu.memory, system.gpu.sm, r.shard.tp * r.shard.dp * r.shard.cp,
                             r.shard.pp, r.shard.dp});
  const double wanted = std::max(d(use.kv.value()) * kHeadroom,
                                 per_token * d(r.max_len) / facts.memory.pool_efficiency);
  const double share = serve::share_for(facts.memory, use, wanted);
  r.kv_fraction =
      std::min(std::max(own, facts.launch.most_share),
               std::max(facts.launch.least_share, std::ceil(share / kShareStep) * kShareStep));
  if (pins.kv_tokens) r.kv_fraction = own;
  if (pins.memory_fraction) r.kv_fraction = *pins.memory_fraction;
  if (pins.kv_tokens) return d(*pins.kv_tokens) * per_token;
  return d(serve::kv_budget(facts.memory, use, r.kv_fraction).value());
}

Result<void> Maker::share_memory(RoleSettings& r, const Worker& worker) const {
  const Workload& w = workload();
  const std::int64_t held = r.role == Role::prefill ? w.isl : w.isl + w.osl;
  const double needed = d(worker.memory.kv.value()), per_request = needed / d(worker.batch);
  const double per_token = per_request / d(held);
  SP_TRY(const double pool, choose_share(r, worker, per_token));
  if (pool < needed) {
    return Error{
        ErrorCode::no,
        fmt::format("{}.batch: {} requests of {} tokens need {:.2f} GiB of KV, a memory "
                    "share of {:.2f} leaves {:.2f} GiB: {} fit",
                    name_of(r.role), worker.batch, held, needed / kBytesPerGib, r.kv_fraction,
                    pool / kBytesPerGib, std::max(0.0, std::floor(pool / per_request)))};
  }
  const std::int64_t longest =
      down(static_cast<std::int64_t>(std::min(pool / per_token, 1e15)), page());
  if (longest >= r.max_len) return {};
  if (longest < w.isl + w.osl) {
    return Error{ErrorCode::no,
                 fmt::format("{}.max_len: a request of {} + {} tokens does not fit the KV pool, "
                             "which holds {} tokens",
                             name_of(r.role), w.isl, w.osl, longest)};
  }
  out.warnings.push_back(
      fmt::format("{}: the KV pool holds {} tokens: the longest request is "
                  "limited to that instead of {}",
                  name_of(r.role), longest, r.max_len));
  r.max_len = longest;
  return {};
}

Result<RoleSettings> Maker::role(const Worker& worker) const {
  RoleSettings r;
  SP_CHECK(place(r, worker));
  limit_steps(r, worker);
  SP_CHECK(limit_length(r));
  SP_CHECK(share_memory(r, worker));
  r.fp8_kv = worker.precision.kv == ops::Quant::fp8;
  SP_TRY(r.online_fp8, online_fp8(deployment, options, worker, facts));
  return r;
}

}  // namespace

const RoleSettings* Settings::role(Role wanted) const {
  const auto found = std::find_if(roles.begin(), roles.end(),
                                  [&](const RoleSettings& r) { return r.role == wanted; });
  return found == roles.end() ? nullptr : &*found;
}

std::int64_t Settings::gpus() const {
  std::int64_t sum = 0;
  for (const RoleSettings& r : roles) sum += r.workers * r.gpus;
  return sum;
}

std::vector<std::int64_t> graph_sizes(std::int64_t batch) {
  constexpr std::int64_t kEveryPower = 8, kFineTo = 256, kCoarse = 32;
  std::vector<std::int64_t> out;
  for (std::int64_t size = 1; size < batch;) {
    out.push_back(size);
    size += size < kEveryPower ? size : size < kFineTo ? kEveryPower : kCoarse;
  }
  out.push_back(batch);
  return out;
}

Result<Settings> settings(const Deployment& deployment, const Options& options) {
  SP_CHECK(check_options(options));
  const Estimate& estimate = deployment.estimate;
  if (estimate.mode == Mode::static_batch) {
    return Error::bad_input("mode: static batches are not served: expected agg or disagg");
  }
  Settings out;
  out.framework = estimate.framework;
  out.table_version = estimate.framework_version;
  out.engine_version =
      options.engine_version.empty() ? estimate.framework_version : options.engine_version;
  SP_TRY(const framework::Facts facts, framework::find_facts(out.framework, out.engine_version));
  const std::string checkpoint = loadable(deployment.inputs.model);
  out.mode = estimate.mode;
  out.model = options.model_path.empty() ? checkpoint : options.model_path;
  out.served_name = options.served_name.empty() ? checkpoint : options.served_name;
  out.moe = deployment.inputs.moe;
  out.workload = deployment.request.subject.workload;
  out.nextn = out.workload.nextn;
  out.prefix_cache = options.prefix_cache;
  out.lenient = options.lenient;
  out.trust_remote_code = options.trust_remote_code;
  if (out.nextn > 0 && deployment.inputs.mtp_layers == 0) {
    out.warnings.push_back(
        fmt::format("nextn: the config of {} names no draft layers: an engine "
                    "may refuse to start",
                    deployment.inputs.model));
  }
  if (out.workload.prefix > 0 && !out.prefix_cache) {
    out.warnings.push_back(
        fmt::format("prefix: {} cached tokens were priced, but nothing is kept "
                    "with the prefix cache off",
                    out.workload.prefix));
  }
  if (out.engine_version != out.table_version) {
    out.warnings.push_back(
        fmt::format("{} {} is to be started, the predicted figures rest on "
                    "tables of {}",
                    out.framework, out.engine_version, out.table_version));
  }
  const Maker maker{deployment, options, facts, out};
  for (const Worker& worker : estimate.workers) {
    SP_TRY(RoleSettings role, maker.role(worker));
    out.roles.push_back(std::move(role));
  }
  SP_CHECK(check_budget(out, estimate.gpus_asked));
  return out;
}

}  // namespace setpoint::generate
