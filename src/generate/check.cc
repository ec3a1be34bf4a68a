// SPDX-License-Identifier: Apache-2.0
// The last look before anything is written: the files themselves are read again and compared with
// the plan. A failure here is a fault of this program, never of the user; better no file than a
// wrong one.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <regex>

#include "generate/readback.h"
#include "generate/target.h"

namespace setpoint::generate {
namespace {

// What a flag states of a role, whatever the engine. A trailing colon is a key of an options file.
enum class Fact : std::uint8_t {
  width,            // factor of the GPUs of a worker
  requests,         // at once, per data-parallel rank
  worker_requests,  // at once, in the whole worker
  tokens,           // of one step
  length,           // of one request
  share,            // of memory
  graphs,           // captured batches, in requests
  graph_tokens,     // the same, in tokens
  connector,        // KV goes to the other pool
};
struct Flag {
  std::string_view name;
  Fact fact;
};
constexpr std::array kFlags{
    Flag{"--tensor-parallel-size", Fact::width},
    Flag{"--data-parallel-size", Fact::width},
    Flag{"--pipeline-parallel-size", Fact::width},
    Flag{"--tp-size", Fact::width},
    Flag{"--pp-size", Fact::width},
    Flag{"tensor_parallel_size:", Fact::width},
    Flag{"pipeline_parallel_size:", Fact::width},
    Flag{"--max-num-seqs", Fact::requests},
    Flag{"--max_batch_size", Fact::requests},
    Flag{"max_batch_size:", Fact::requests},
    Flag{"--max-running-requests", Fact::worker_requests},
    Flag{"--max-num-batched-tokens", Fact::tokens},
    Flag{"--max-prefill-tokens", Fact::tokens},
    Flag{"--max_num_tokens", Fact::tokens},
    Flag{"max_num_tokens:", Fact::tokens},
    Flag{"--max-model-len", Fact::length},
    Flag{"--context-length", Fact::length},
    Flag{"--max_seq_len", Fact::length},
    Flag{"max_seq_len:", Fact::length},
    Flag{"--gpu-memory-utilization", Fact::share},
    Flag{"--mem-fraction-static", Fact::share},
    Flag{"free_gpu_memory_fraction:", Fact::share},
    Flag{"--cudagraph-capture-sizes", Fact::graph_tokens},
    Flag{"--cuda-graph-bs", Fact::graphs},
    Flag{"--cuda-graph-bs-decode", Fact::graphs},
    Flag{"batch_sizes:", Fact::graphs},
    Flag{"--kv-transfer-config", Fact::connector},
    Flag{"--disaggregation-transfer-backend", Fact::connector},
    Flag{"cache_transceiver_config:", Fact::connector},
};
constexpr std::array<std::string_view, 3> kPorts{"--port", "--disaggregation-bootstrap-port",
                                                 "VLLM_NIXL_SIDE_CHANNEL_PORT"};
constexpr double kSameShare = 1e-3;

Fact fact_of(std::string_view name) {
  return std::find_if(kFlags.begin(), kFlags.end(), [&](const Flag& f) { return f.name == name; })
      ->fact;
}
std::set<std::string, std::less<>> fact_names() {
  std::set<std::string, std::less<>> out;
  for (const Flag& flag : kFlags) out.emplace(flag.name);
  return out;
}

// Numbers behind a flag; what is none ends the list.
std::vector<double> numbers(const std::vector<std::string>& words) {
  std::vector<double> out;
  for (const std::string& word : words) {
    char* end = nullptr;
    const double value = std::strtod(word.c_str(), &end);
    if (end != word.c_str() + word.size()) break;
    out.push_back(value);
  }
  return out;
}

double d(std::int64_t value) { return static_cast<double>(value); }

std::vector<double> expected(Fact fact, const RoleSettings& r, int nextn) {
  switch (fact) {
    case Fact::requests:
      return {d(r.max_requests)};
    case Fact::worker_requests:
      return {d(r.max_requests) * r.shard.dp};
    case Fact::tokens:
      return {d(r.max_tokens)};
    case Fact::length:
      return {d(r.max_len)};
    case Fact::share:
      return {r.kv_fraction};
    case Fact::graphs:
    case Fact::graph_tokens: {
      std::vector<double> out(r.graph_sizes.begin(), r.graph_sizes.end());
      for (double& size : out) size *= fact == Fact::graph_tokens ? nextn + 1 : 1;
      return out;
    }
    default:
      return {};
  }
}

// The first thing that a start says differently than the role: "" = it is this role's.
std::string difference(const Said& said, const RoleSettings& role, int nextn) {
  double gpus = 1;
  bool widths = false;
  for (const auto& [name, words] : said) {
    const Fact fact = fact_of(name);
    const std::vector<double> values = numbers(words);
    if (fact == Fact::connector) continue;
    if (fact == Fact::width) {
      gpus *= values.empty() ? 0 : values[0];
      widths = true;
      continue;
    }
    const std::vector<double> right = expected(fact, role, nextn);
    const bool same = values.size() >= right.size() && !right.empty() &&
                      std::equal(right.begin(), right.end(), values.begin(),
                                 [](double a, double b) { return std::fabs(a - b) < kSameShare; });
    const bool graphs = fact == Fact::graphs || fact == Fact::graph_tokens;
    if (!same || (graphs && values.size() != right.size())) {
      return fmt::format("{} {}: expected {}", name, fmt::join(words, " "), fmt::join(right, " "));
    }
  }
  if (widths && gpus != d(role.gpus)) {
    return fmt::format("flags of {} GPUs: expected {}", gpus, role.gpus);
  }
  return {};
}

// What must hold of the settings themselves.
std::string unsound(const Settings& s, const RoleSettings& r) {
  const auto& sizes = r.graph_sizes;
  const bool sorted = std::is_sorted(sizes.begin(), sizes.end()) &&
                      std::adjacent_find(sizes.begin(), sizes.end()) == sizes.end();
  if (!sorted || (!sizes.empty() && sizes.back() != r.max_requests)) return "graph_sizes";
  if (r.role != Role::prefill && r.max_tokens < r.max_requests * (s.nextn + 1)) return "max_tokens";
  if (r.max_len < s.workload.isl + s.workload.osl) return "max_len";
  if (r.kv_fraction <= 0 || r.kv_fraction > 1) return "kv_fraction";
  return {};
}

struct Reader {
  const Plan& plan;
  std::vector<bool> found, connected;  // by role
  std::int64_t shell_gpus = 0;
  bool mpi = false;
  std::map<std::string, std::int64_t> folder_gpus;

  Error wrong(const File& file, const std::string& what) const {
    return Error{ErrorCode::no, fmt::format("check of {}: {}", file.path, what)};
  }
  Result<void> starts(const File& file, const std::vector<std::string>& words);
  Result<void> devices(const File& file);
  Result<void> ports(const File& file, const std::vector<std::string>& words) const;
  Result<void> objects(const File& file);
  Result<void> read(const File& file);
  Result<void> all() const;
};

Result<void> Reader::starts(const File& file, const std::vector<std::string>& words) {
  static const auto names = fact_names();
  for (const Said& said : starts_of(words, names)) {
    std::string why;
    bool known = false;
    for (std::size_t i = 0; i < plan.settings.roles.size(); ++i) {
      const RoleSettings& role = plan.settings.roles[i];
      const std::string other = difference(said, role, plan.settings.nextn);
      why += fmt::format("{}{}: {}", why.empty() ? "" : "; ",
                         kRoleNames[static_cast<std::size_t>(role.role)], other);
      if (!other.empty()) continue;
      known = found[i] = true;
      for (const auto& [name, values] : said) {
        if (fact_of(name) == Fact::connector) connected[i] = true;
      }
    }
    if (!known) return wrong(file, why);
  }
  return {};
}

// CUDA_VISIBLE_DEVICES of a node's script: each GPU once, as many as a worker has there.
Result<void> Reader::devices(const File& file) {
  static const std::regex pattern("CUDA_VISIBLE_DEVICES=([0-9,]+)");
  std::set<std::string> used;
  for (std::sregex_iterator it(file.text.begin(), file.text.end(), pattern), end; it != end; ++it) {
    const std::vector<std::string> gpus = words_of((*it)[1].str());
    for (const std::string& gpu : gpus) {
      if (!used.insert(gpu).second) return wrong(file, "GPU " + gpu + " is given out twice");
    }
    const auto& roles = plan.settings.roles;
    const bool known = std::any_of(roles.begin(), roles.end(), [&](const RoleSettings& r) {
      return r.gpus_on_node == static_cast<std::int64_t>(gpus.size());
    });
    if (!known) return wrong(file, fmt::format("a worker has {} GPUs", gpus.size()));
  }
  shell_gpus += static_cast<std::int64_t>(used.size());
  mpi = mpi || file.text.find("mpirun") != std::string::npos;
  return {};
}

Result<void> Reader::ports(const File& file, const std::vector<std::string>& words) const {
  std::set<std::string> used;
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    if (std::find(kPorts.begin(), kPorts.end(), words[i]) == kPorts.end()) continue;
    if (!used.insert(words[i + 1]).second) {
      return wrong(file, fmt::format("port {} is given out twice", words[i + 1]));
    }
  }
  return {};
}

Result<void> Reader::objects(const File& file) {
  const auto claims = claims_of(file.text);
  if (!claims) return wrong(file, claims.error().text);
  static const std::regex dns("[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?");
  for (const std::string& name : claims->names) {
    if (!std::regex_match(name, dns)) return wrong(file, name + " is no Kubernetes name");
  }
  const auto& roles = plan.settings.roles;
  for (const std::int64_t limit : claims->limits) {
    const bool known = std::any_of(roles.begin(), roles.end(),
                                   [&](const RoleSettings& r) { return r.gpus_on_node == limit; });
    if (!known) return wrong(file, fmt::format("a container has {} GPUs", limit));
  }
  folder_gpus[std::filesystem::path(file.path).parent_path().string()] += claims->gpus;
  return {};
}

Result<void> Reader::read(const File& file) {
  const std::vector<std::string> words = words_of(file.text);
  for (const std::string& word : words) {
    if (word == "None" || word == "null") return wrong(file, "says " + word);
  }
  SP_CHECK(starts(file, words));
  const bool yaml = file.path.ends_with(".yaml");
  if (yaml) SP_CHECK(objects(file));
  const Target target = plan.options.target;
  if (target == Target::run && !yaml) SP_CHECK(devices(file));
  const bool one_machine = target == Target::run || target == Target::compose;
  return one_machine ? ports(file, words) : Result<void>();
}

Result<void> Reader::all() const {
  const auto fault = [](const std::string& text) { return Error{ErrorCode::no, "check: " + text}; };
  const std::int64_t gpus = plan.settings.gpus();
  for (std::size_t i = 0; i < found.size(); ++i) {
    const RoleSettings& role = plan.settings.roles[i];
    const auto name = kRoleNames[static_cast<std::size_t>(role.role)];
    if (!found[i]) return fault(fmt::format("no file starts the {} workers", name));
    if (connected[i] != (plan.settings.mode == Mode::disagg)) {
      return fault(fmt::format("{} workers have {} connector", name, connected[i] ? "a" : "no"));
    }
  }
  if (plan.options.target == Target::run && !mpi && shell_gpus != gpus) {
    return fault(fmt::format("scripts use {} GPUs, the plan {}", shell_gpus, gpus));
  }
  for (const auto& [folder, claimed] : folder_gpus) {
    if (claimed != 0 && claimed != gpus) {
      return fault(fmt::format("files claim {} GPUs, the plan {}", claimed, gpus));
    }
  }
  return {};
}

}  // namespace

Result<void> check(const Plan& plan, const Files& files) {
  for (const RoleSettings& role : plan.settings.roles) {
    const std::string field = unsound(plan.settings, role);
    if (!field.empty()) {
      return Error{ErrorCode::no,
                   fmt::format("check: {}.{} contradicts the plan",
                               kRoleNames[static_cast<std::size_t>(role.role)], field)};
    }
  }
  Reader reader{plan,
                std::vector<bool>(plan.settings.roles.size()),
                std::vector<bool>(plan.settings.roles.size()),
                0,
                false,
                {}};
  for (const File& file : files) {
    if (file.path != "plan.json" && file.path != "bench.sh") SP_CHECK(reader.read(file));
  }
  return reader.all();
}

}  // namespace setpoint::generate
