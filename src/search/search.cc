// SPDX-License-Identifier: Apache-2.0
#include "search/search.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <map>

#include "search/backend.h"
#include "search/describe.h"
#include "search/disagg.h"
#include "search/inputs.h"
#include "search/label.h"
#include "search/sweep.h"
#include "search/way_out.h"
#include "search/why.h"

namespace setpoint::search {
namespace {

using Clock = std::chrono::steady_clock;
double ms_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

bool wants(const SearchRequest& request, Mode mode) {
  // With one output token there is nothing to decode, hence nothing to take apart.
  if (mode == Mode::disagg && request.subject.workload.osl <= 1) return false;
  if (request.modes.empty()) return mode != Mode::static_batch;
  return std::find(request.modes.begin(), request.modes.end(), mode) != request.modes.end();
}

// Every backend that could be loaded; those of one framework have the same number.
struct Backends {
  std::deque<Backend> all;  // stable addresses
  struct Framework {
    const Backend* main = nullptr;    // aggregated and prefill workers
    const Backend* decode = nullptr;  // the same unless decode workers have GPUs of their own
  };
  std::vector<Framework> frameworks;
  std::vector<std::string> left_out;
};

Result<Backends> load(const SearchRequest& request) {
  const Subject& subject = request.subject;
  const auto& names =
      request.frameworks.empty() ? framework::framework_names() : request.frameworks;
  if (!subject.framework_version.empty() && names.size() > 1) {
    return Error::bad_input(fmt::format("framework version {} needs one framework, not {}",
                                        subject.framework_version, names.size()));
  }
  const bool two_systems =
      !request.decode_system.empty() && request.decode_system != subject.system;
  Loader loader;
  Backends out;
  std::optional<Error> first;
  for (const std::string& name : names) {
    Backends::Framework framework;
    auto main = loader.load(subject, name, subject.system);
    auto decode = two_systems && main ? loader.load(subject, name, request.decode_system) : main;
    if (!main || !decode) {
      const Error& error = main ? decode.error() : main.error();
      if (error.code == ErrorCode::environment || names.size() == 1) return error;
      out.left_out.push_back(fmt::format("{} left out: {}", name, error.text));
      if (!first) first = error;
      continue;
    }
    framework.main = &out.all.emplace_back(std::move(main).value());
    framework.decode =
        two_systems ? &out.all.emplace_back(std::move(decode).value()) : framework.main;
    out.frameworks.push_back(framework);
  }
  if (out.frameworks.empty()) return *first;
  return out;
}

std::vector<Group> plan_groups(const Backends& backends, const SearchRequest& request) {
  const std::int64_t gpus = request.target.gpus > 0 ? request.target.gpus : kMostGpus;
  std::vector<Group> groups;
  const auto add = [&](const Backend& backend, std::size_t framework, std::vector<Use> uses) {
    if (uses.empty()) return;
    for (Group& group : list_groups(backend, framework, uses, gpus)) {
      group.index = static_cast<std::uint32_t>(groups.size());
      groups.push_back(std::move(group));
    }
  };
  for (std::size_t i = 0; i < backends.frameworks.size(); ++i) {
    const auto& framework = backends.frameworks[i];
    const bool together = framework.main == framework.decode;
    std::vector<Use> uses;
    if (wants(request, Mode::agg)) uses.push_back(Use::mixed);
    if (wants(request, Mode::static_batch)) uses.push_back(Use::static_batch);
    if (wants(request, Mode::disagg)) uses.push_back(Use::prefill);
    if (wants(request, Mode::disagg) && together) uses.push_back(Use::decode);
    add(*framework.main, i, uses);
    if (wants(request, Mode::disagg) && !together) add(*framework.decode, i, {Use::decode});
  }
  return groups;
}

// All candidates of one mode, merged in layout order.
Swept merge(Mode mode, const std::vector<Group>& groups, const std::vector<GroupResult>& results,
            const SearchRequest& request, Tally& tally) {
  Swept out;
  const auto append = [](std::vector<Candidate>& to, const std::vector<Candidate>& from) {
    to.insert(to.end(), from.begin(), from.end());
  };
  if (mode != Mode::disagg) {
    for (const GroupResult& result : results) {
      const Swept& swept = mode == Mode::agg ? result.mixed : result.fixed;
      append(out.best, swept.best);
      append(out.nearest, swept.nearest);
      append(out.front, swept.front);
      append(out.all, swept.all);
      out.reach.add(swept.reach);
    }
  } else {
    std::map<std::size_t, std::pair<std::vector<Pool>, std::vector<Pool>>> pools;
    for (std::size_t i = 0; i < groups.size(); ++i) {
      auto& [prefill, decode] = pools[groups[i].framework];
      if (!results[i].prefill.points.empty()) prefill.push_back(results[i].prefill);
      if (!results[i].decode.points.empty()) decode.push_back(results[i].decode);
    }
    for (const auto& [framework, pair] : pools) {
      const DisaggResult matched = match_pools(pair.first, pair.second, request.subject.workload,
                                               request.sla, request.target);
      append(out.best, matched.best);
      append(out.nearest, matched.nearest);
      append(out.front, matched.front);
      if (request.keep_points) append(out.all, matched.all);
      out.reach.add(matched.reach);
      tally.add(matched.tally);
    }
  }
  out.front = front_of(out.front);
  return out;
}

// Makes Estimates; the engines of shown layouts are built once more and kept.
class Describer {
 public:
  Describer(const std::vector<Group>& groups, const Workload& w) : groups_(groups), w_(w) {}

  Estimate operator()(const Candidate& c) {
    std::vector<Placed> workers;
    for (std::size_t i = 0; i < (c.mode == Mode::disagg ? 2u : 1u); ++i) {
      const Group& group = groups_[c.parts[i].group];
      workers.push_back({&engine(group), group.backend, c.parts[i]});
    }
    return describe(c.mode, workers, w_, c.replicas, c.gpus_asked);
  }
  std::vector<Estimate> operator()(const std::vector<Candidate>& candidates) {
    std::vector<Estimate> out;
    for (const Candidate& c : candidates) out.push_back((*this)(c));
    return out;
  }
  // The points of the layout that a deployment's mixed or decode workers have.
  std::vector<PoolPoint> points(const Candidate& c) {
    const Part& part = c.parts[c.mode == Mode::disagg ? 1 : 0];
    return evaluate(engine(groups_[part.group]), part.use, w_);
  }

 private:
  serve::Engine& engine(const Group& group) {
    const auto known = engines_.find(group.index);
    if (known != engines_.end()) return known->second;
    Built built = build(*group.backend, group.shard, w_.nextn);
    return engines_.emplace(group.index, std::move(*built.engine)).first->second;
  }

  const std::vector<Group>& groups_;
  const Workload& w_;
  std::map<std::uint32_t, serve::Engine> engines_;
};

std::vector<Candidate> nearest_three(std::vector<Candidate> candidates, const Sla& sla) {
  constexpr std::size_t kShown = 3;
  const auto off = [&](const Candidate& c) {
    return distance(sla, c.ttft_ms, c.tpot_ms, c.latency_ms);
  };
  std::stable_sort(candidates.begin(), candidates.end(),
                   [&](const Candidate& a, const Candidate& b) { return off(a) < off(b); });
  if (candidates.size() > kShown) candidates.resize(kShown);
  return candidates;
}

// Layouts that a missing table dropped, by table.
std::vector<std::string> missing_tables(const std::vector<Group>& groups,
                                        const std::vector<GroupResult>& results) {
  std::map<std::string, std::string> dropped;
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (results[i].refused != Bucket::missing_data) continue;
    std::string& layouts = dropped[results[i].reason];
    layouts += (layouts.empty() ? "" : ", ") + label(groups[i].shard);
  }
  std::vector<std::string> out;
  for (const auto& [reason, layouts] : dropped) {
    out.push_back(fmt::format("{}; dropped: {}", reason, layouts));
  }
  return out;
}

void fill_counts(const std::vector<GroupResult>& results, const Tally& tally, SearchResult& out) {
  for (std::size_t i = 0; i < kBuckets; ++i) {
    out.stats.candidates += tally.count[i];
    if (i == std::size_t(Bucket::met)) continue;
    if (tally.count[i] > 0) out.rejected[std::string(kBucketNames[i])] = tally.count[i];
  }
  out.stats.met = tally.of(Bucket::met);
  for (const GroupResult& result : results) out.stats.points += result.points;
}

void fill_modes(const std::vector<Group>& groups, const std::vector<GroupResult>& results,
                const SearchRequest& request, SearchResult& out) {
  Tally tally;
  for (const GroupResult& result : results) tally.add(result.tally);
  Describer describer(groups, request.subject.workload);
  std::vector<ModeBest> bests;
  std::vector<Candidate> nearest;
  Reach reach;
  for (Mode mode : {Mode::agg, Mode::disagg, Mode::static_batch}) {
    if (!wants(request, mode)) continue;
    const Swept swept = merge(mode, groups, results, request, tally);
    const auto picked = pick(swept.best, request.target, request.top);
    ModeResult& shown = out.modes.emplace_back();
    shown.mode = mode;
    shown.configs = describer(picked);
    shown.frontier = describer(swept.front);
    for (const Candidate& c : swept.all) out.points.push_back(describer(c));
    reach.add(swept.reach);
    nearest.insert(nearest.end(), swept.nearest.begin(), swept.nearest.end());
    if (picked.empty()) continue;
    bests.push_back({picked[0], shown.configs[0],
                     what_limits(picked[0], describer.points(picked[0]), request)});
  }
  std::stable_sort(bests.begin(), bests.end(), [&](const ModeBest& a, const ModeBest& b) {
    return better(a.candidate, b.candidate, request.target);
  });
  fill_counts(results, tally, out);
  out.missing_data = missing_tables(groups, results);
  if (bests.empty()) {
    out.no_answer = explain_none(request, reach, tally, results);
    out.no_answer->nearest = describer(nearest_three(nearest, request.sla));
    return;
  }
  out.best = {bests[0].candidate.mode, 0};
  out.why = explain(bests);
  if (!out.missing_data.empty()) {
    out.why.push_back(
        "the answer is incomplete: missing tables dropped layouts that might be better");
  }
}

}  // namespace

Result<SearchResult> search(const SearchRequest& request) {
  const auto start = Clock::now();
  SP_CHECK(check(request));
  SP_TRY(const Backends backends, load(request));
  SearchResult out;
  out.stats.load_ms = ms_since(start);
  out.inputs = resolve(request.subject, *backends.frameworks[0].main, request.decode_system);
  for (const auto& framework : backends.frameworks) {
    out.inputs.frameworks.push_back(framework.main->resolved());
  }
  out.inputs.warnings.insert(out.inputs.warnings.end(), backends.left_out.begin(),
                             backends.left_out.end());
  if (request.sla.tpot && request.subject.workload.osl <= 1) {
    out.inputs.warnings.emplace_back(
        "the TPOT bound cannot bind: with one output token there is no time per token");
  }
  const std::vector<Group> groups = plan_groups(backends, request);
  const std::vector<GroupResult> results = sweep(groups, request);
  fill_modes(groups, results, request, out);
  if (out.no_answer && out.no_answer->binding_limit == "out_of_memory") {
    Loader loader;
    out.no_answer->text += ways_out(loader, request.subject, out.inputs.frameworks[0].name,
                                    request.subject.system, Use::mixed, request.target.gpus);
  }
  out.stats.wall_ms = ms_since(start);
  return out;
}

}  // namespace setpoint::search
