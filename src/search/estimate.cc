// SPDX-License-Identifier: Apache-2.0
#include "search/estimate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "base/text.h"
#include "search/backend.h"
#include "search/check.h"
#include "search/describe.h"
#include "search/pool.h"

namespace setpoint::search {
namespace {

std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

Result<model::Shard> complete(const WorkerSpec& spec, const model::ModelSpec& model) {
  const model::Shard shard{.tp = spec.tp, .pp = spec.pp, .dp = spec.dp, .cp = spec.cp};
  std::int64_t gpus = 1;
  for (int width : {spec.tp, spec.pp, spec.dp, spec.cp}) {
    if (width < 1) return Error::bad_input(fmt::format("a width of {}: expected 1 or more", width));
    gpus *= width;
    if (gpus > kMostGpus) {
      return Error::bad_input(fmt::format("tp x pp x dp x cp: at most {} GPUs", kMostGpus));
    }
  }
  if (!model.is_moe() && !spec.moe_tp && !spec.moe_ep) return shard;
  return model::complete_shard(shard, spec.moe_tp, spec.moe_ep);
}

// Largest batch per rank under the settings; `chunk` as in price().
std::int64_t most_batch(const serve::Engine& engine, const serve::MemoryQuestion& question,
                        const EngineSettings& settings) {
  const std::int64_t most = serve::largest_batch(engine, question);
  return settings.max_num_seqs ? std::min(most, *settings.max_num_seqs) : most;
}

Refusal refuse(const serve::Engine& engine, Use use, const Workload& w, std::int64_t batch,
               std::int64_t chunk, const EngineSettings& settings) {
  const serve::MemoryQuestion question = memory_question(use, w, batch, chunk);
  Refusal out;
  out.role = role_of(use);
  out.memory = serve::memory_use(engine, question);
  out.kv_per_sequence = serve::kv_bytes(engine, question.kv_tokens);
  out.largest_batch = most_batch(engine, question, settings);
  out.longest_length = serve::longest_request(engine, question);
  out.text = fmt::format(
      "KV capacity: batch {} does not fit: weights {:.2f} GiB, KV {:.2f} GiB per sequence of {} "
      "tokens, {:.1f} GiB per GPU; {}, {}",
      batch, gib(out.memory.weights), gib(out.kv_per_sequence), question.kv_tokens,
      gib(out.memory.capacity),
      out.largest_batch > 0 ? fmt::format("the largest batch that fits is {}", out.largest_batch)
                            : std::string("not even one such sequence fits"),
      out.longest_length > 0
          ? fmt::format("batch {} would fit at {} tokens", batch, out.longest_length)
          : fmt::format("batch {} fits at no length", batch));
  return out;
}

// One kind of worker of a request, its engine at hand.
struct Asked {
  const Backend* backend = nullptr;
  serve::Engine* engine = nullptr;
  Use use = Use::mixed;
  const WorkerSpec* spec = nullptr;
};

std::vector<Breakdown> break_down(const std::vector<Placed>& workers, const Workload& w) {
  std::vector<Breakdown> out;
  for (const Placed& placed : workers) {
    const serve::Engine& engine = *placed.engine;
    const auto add = [&](const char* phase, const step::StepShape& shape) {
      out.push_back({phase, engine.steps.plan().breakdown(shape)});
    };
    const serve::RoundSteps round = serve::aggregated_steps(
        engine, w, placed.part.batch, std::max<std::int64_t>(placed.part.chunk, 1));
    if (placed.part.use == Use::mixed) {
      add("mixed", round.mixed);
    } else if (placed.part.use != Use::decode) {
      step::StepShape shape;
      shape.prompts = serve::pipeline(engine, placed.part.batch).micro;
      shape.prompt_tokens = static_cast<double>(w.new_tokens());
      shape.prefix = static_cast<double>(w.prefix);
      add("prefill", shape);
    }
    if (placed.part.use != Use::prefill && round.decode_count > 0) add("decode", round.decode);
  }
  return out;
}

// More requests than places: the others wait. Little's law gives their whole time, and all of the
// waiting comes before the first token.
void queue(Estimate& e, double in_flight) {
  const double places = e.performance.concurrency * static_cast<double>(e.replicas);
  if (!(in_flight > places)) return;
  const double seconds =
      in_flight / (e.performance.requests_per_s * static_cast<double>(e.replicas));
  const Ms wait = Ms(seconds * kMsPerS) - e.performance.request_latency;
  if (!(wait.value() > 0)) return;
  e.warnings.push_back(fmt::format(
      "{:.0f} requests in flight, but only {:.0f} fit at once: the others queue for {:.0f} ms on "
      "average, which TTFT and request latency include",
      in_flight, places, wait.value()));
  e.performance.ttft += wait;
  e.performance.request_latency += wait;
  e.performance.concurrency = in_flight / static_cast<double>(e.replicas);
}

}  // namespace

struct Estimator::Cache {
  Loader loader;
  std::map<std::string, Backend> backends;
  std::map<std::string, serve::Engine> engines;

  Result<const Backend*> backend(const EstimateRequest& r, const std::string& system) {
    const Subject& s = r.subject;
    std::string key =
        fmt::format("{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}", s.model, s.precision,
                    s.alpha.value_or(-1), system, s.system_spec, r.framework, s.framework_version,
                    static_cast<int>(s.data), s.database.string());
    for (const auto& q : s.quant) key += "\n" + q.key + "=" + q.mode;
    const auto known = backends.find(key);
    if (known != backends.end()) return &known->second;
    SP_TRY(Backend loaded, loader.load(s, r.framework, system));
    return &backends.emplace(std::move(key), std::move(loaded)).first->second;
  }

  Result<serve::Engine*> engine(const Backend& backend, const WorkerSpec& spec,
                                const EstimateRequest& r) {
    SP_TRY(const model::Shard s, complete(spec, *backend.model));
    const EngineSettings& pinned = r.settings;
    const std::string key =
        fmt::format("{} {} {} {} {} {} {} {} {} {}", static_cast<const void*>(&backend), s.tp, s.pp,
                    s.dp, s.moe_tp, s.moe_ep, s.cp, r.subject.workload.nextn,
                    pinned.memory_fraction.value_or(-1), pinned.kv_tokens.value_or(-1));
    const auto known = engines.find(key);
    if (known != engines.end()) return &known->second;
    Built built = build(backend, s, r.subject.workload.nextn);
    if (!built.engine) {
      const bool no = built.bucket == Bucket::out_of_memory;
      return Error{no ? ErrorCode::no : ErrorCode::bad_input, built.text};
    }
    built.engine->pins = {pinned.memory_fraction, pinned.kv_tokens};
    return &engines.emplace(key, std::move(*built.engine)).first->second;
  }
};

Estimator::Estimator() : cache_(std::make_unique<Cache>()) {}
Estimator::Estimator(Estimator&&) noexcept = default;
Estimator& Estimator::operator=(Estimator&&) noexcept = default;
Estimator::~Estimator() = default;

namespace {

std::vector<Asked> asked_workers(const EstimateRequest& r) {
  if (r.mode == Mode::disagg) {
    return {{nullptr, nullptr, Use::prefill, &r.prefill},
            {nullptr, nullptr, Use::decode, &r.decode}};
  }
  return {{nullptr, nullptr, r.mode == Mode::agg ? Use::mixed : Use::static_batch, &r.worker}};
}

struct Sized {
  Part part;
  std::optional<Refusal> refusal;
};

// The batch and chunk of one kind of worker: as given, else from the requests in flight.
Sized size_worker(const Asked& asked, const EstimateRequest& r, std::int64_t replicas) {
  const Workload& w = r.subject.workload;
  const model::Shard& shard = asked.engine->shard;
  Sized out;
  out.part.use = asked.use;
  out.part.count = asked.spec->workers;
  const std::int64_t places = std::max<std::int64_t>(1, shard.dp * asked.spec->workers * replicas);
  const bool from_concurrency = !asked.spec->batch && asked.use != Use::prefill;
  std::int64_t batch = asked.spec->batch.value_or(1);
  if (from_concurrency && r.concurrency) batch = ceil_div(*r.concurrency, places);
  std::int64_t chunk = 0;
  if (asked.use == Use::mixed) {
    chunk = r.settings.chunk_tokens.value_or(default_chunk(*asked.engine));
    if (r.settings.max_num_tokens) {
      const std::int64_t left = chunk_of(w, batch, *r.settings.max_num_tokens);
      chunk = r.settings.chunk_tokens ? std::min(chunk, left) : left;
    }
  }
  const std::int64_t most =
      most_batch(*asked.engine, memory_question(asked.use, w, batch, chunk), r.settings);
  if (from_concurrency && r.concurrency && most > 0) batch = std::min(batch, most);
  if (batch > most) out.refusal = refuse(*asked.engine, asked.use, w, batch, chunk, r.settings);
  out.part.batch = batch;
  out.part.chunk = chunk;
  return out;
}

}  // namespace

Result<EstimateAnswer> Estimator::answer(const EstimateRequest& r) {
  SP_CHECK(check(r.subject.workload));
  std::vector<Asked> asked = asked_workers(r);
  std::int64_t gpus = 0;
  EstimateAnswer out;
  for (Asked& a : asked) {
    const bool elsewhere = a.use == Use::decode && !r.decode_system.empty();
    SP_TRY(a.backend, cache_->backend(r, elsewhere ? r.decode_system : r.subject.system));
    SP_TRY(a.engine, cache_->engine(*a.backend, *a.spec, r));
    gpus += a.spec->workers * a.engine->shard.gpus();
  }
  out.inputs = resolve(r.subject, *asked[0].backend, r.decode_system);
  out.inputs.frameworks = {asked[0].backend->resolved()};
  const std::int64_t replicas = r.gpus > 0 ? std::max<std::int64_t>(1, r.gpus / gpus) : 1;
  if (r.gpus > 0 && gpus > r.gpus) {
    return Error::bad_input(fmt::format("gpus {}: one replica needs {}", r.gpus, gpus));
  }
  std::vector<Placed> workers;
  for (const Asked& a : asked) {
    Sized sized = size_worker(a, r, replicas);
    if (sized.refusal) {
      out.refusal = std::move(sized.refusal);
      return out;
    }
    workers.push_back({a.engine, a.backend, sized.part});
  }
  Estimate e = describe(r.mode, workers, r.subject.workload, replicas, r.gpus);
  if (r.concurrency) queue(e, static_cast<double>(*r.concurrency));
  if (r.load.kind != Load::Kind::steady) {
    e.warnings.push_back(
        "the arrival pattern is not modelled yet: steady state at the given "
        "concurrency is answered");
  }
  if (r.breakdown) out.breakdown = break_down(workers, r.subject.workload);
  out.estimate = std::move(e);
  return out;
}

EstimateRequest request_of(const Subject& subject, const Estimate& row) {
  const auto spec_of = [](const Worker& w) {
    const model::Shard& s = w.shard;
    WorkerSpec spec{.tp = s.tp,
                    .pp = s.pp,
                    .dp = s.dp,
                    .cp = s.cp,
                    .moe_tp = {},
                    .moe_ep = {},
                    .batch = w.batch,
                    .workers = w.count};
    if (s.moe_tp * s.moe_ep > 1) {
      spec.moe_tp = s.moe_tp;
      spec.moe_ep = s.moe_ep;
    }
    return spec;
  };
  EstimateRequest out;
  out.subject = subject;
  out.framework = row.framework;
  out.mode = row.mode;
  out.gpus = row.gpus_asked;
  out.worker = out.prefill = spec_of(row.workers.front());
  if (row.mode == Mode::disagg) {
    out.decode = spec_of(row.workers.back());
    out.decode_system = row.workers.back().system;
  } else if (row.mode == Mode::agg) {
    out.settings.max_num_tokens = row.workers.front().max_num_tokens;
  }
  return out;
}

Result<EstimateAnswer> estimate(const EstimateRequest& request) {
  return Estimator().answer(request);
}

}  // namespace setpoint::search
