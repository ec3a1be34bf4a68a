// SPDX-License-Identifier: Apache-2.0
#include "search/estimate.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "search/describe.h"
#include "search/inputs.h"
#include "search/pool.h"
#include "search/way_out.h"

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

Refusal refuse(const serve::Engine& engine, const serve::MemoryQuestion& question,
               const EngineSettings& settings) {
  Refusal out;
  out.role = question.role;
  out.memory = serve::memory_use(engine, question);
  out.kv_per_sequence = serve::kv_bytes(engine, question.kv_tokens);
  out.largest_batch = most_batch(engine, question, settings);
  out.longest_length = serve::longest_request(engine, question);
  out.text = fmt::format(
      "KV capacity: batch {} does not fit: weights {:.2f} GiB, KV {:.2f} GiB per sequence of {} "
      "tokens, {:.1f} GiB per GPU; {}, {}",
      question.batch, gib(out.memory.weights), gib(out.kv_per_sequence), question.kv_tokens,
      gib(out.memory.capacity),
      out.largest_batch > 0 ? fmt::format("the largest batch that fits is {}", out.largest_batch)
                            : std::string("not even one such sequence fits"),
      out.longest_length > 0
          ? fmt::format("batch {} would fit at {} tokens", question.batch, out.longest_length)
          : fmt::format("batch {} fits at no length", question.batch));
  return out;
}

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
      shape.prompts = serve::pipeline(engine, static_cast<double>(placed.part.batch)).micro;
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

// One kind of worker of a request.
struct Kind {
  Use use;
  const WorkerSpec& spec;
  const std::string& system;
};

std::vector<Kind> kinds_of(const EstimateRequest& r) {
  const std::string& system = r.subject.system;
  if (r.mode == Mode::agg) return {{Use::mixed, r.worker, system}};
  if (r.mode == Mode::static_batch) return {{Use::static_batch, r.worker, system}};
  return {{Use::prefill, r.prefill, system},
          {Use::decode, r.decode, r.decode_system.empty() ? system : r.decode_system}};
}

// The batch and chunk of one kind of worker: as given, else from the requests in flight.
Part size_worker(const serve::Engine& engine, const Kind& kind, const EstimateRequest& r,
                 std::int64_t replicas) {
  const Workload& w = r.subject.workload;
  const EngineSettings& settings = r.settings;
  Part part{.use = kind.use, .count = kind.spec.workers};
  part.batch = kind.spec.batch.value_or(1);
  const bool shared = !kind.spec.batch && kind.use != Use::prefill && r.concurrency;
  if (shared) part.batch = ceil_div(*r.concurrency, engine.shard.dp * part.count * replicas);
  if (kind.use == Use::mixed) {
    part.chunk = settings.chunk_tokens.value_or(default_chunk(engine));
    if (settings.max_num_tokens) {
      const std::int64_t left = chunk_of(w, part.batch, *settings.max_num_tokens);
      part.chunk = std::min(settings.chunk_tokens.value_or(left), left);
    }
  }
  const std::int64_t most =
      most_batch(engine, memory_question(kind.use, w, part.batch, part.chunk), settings);
  if (shared && most > 0) part.batch = std::min(part.batch, most);
  return part;
}

std::string ready_key(const EstimateRequest& r, const std::string& framework,
                      const std::string& system, const WorkerSpec& spec) {
  const Subject& q = r.subject;
  std::string key = fmt::format("{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}", q.model, q.precision, system,
                                q.system_spec, framework, q.framework_version, int(q.data),
                                q.database.string(), q.workload.nextn);
  for (const auto& quant : q.quant) key += "\n" + quant.key + "=" + quant.mode;
  const auto add = [&](const auto& fields, const auto& of) {
    for (const auto& field : fields) key += fmt::format("\n{}", field.get(of).value_or(-1));
  };
  add(kSubjectFields, q);
  add(kWorkerFields, spec);
  add(kEngineFields, r.settings);
  return key;
}

double throughput(const EstimateAnswer& answer) {
  return answer.estimate ? answer.estimate->tokens_per_s_per_gpu() : -1;
}

}  // namespace

Result<std::shared_ptr<Estimator::Ready>> Estimator::ready(const EstimateRequest& r,
                                                           const std::string& framework,
                                                           const std::string& system,
                                                           const WorkerSpec& spec) {
  std::string key = ready_key(r, framework, system, spec);
  if (auto known = ready_.find(key)) return known;
  SP_TRY(Backend backend, loader_.load(r.subject, framework, system));
  SP_TRY(const model::Shard shard, complete(spec, *backend.model));
  Built built = build(backend, shard, r.subject.workload.nextn);
  if (!built.engine) {
    if (built.bucket != Bucket::out_of_memory) return Error::bad_input(built.text);
    const Use use = r.mode == Mode::static_batch ? Use::static_batch : Use::mixed;
    return Error{ErrorCode::no,
                 built.text + ways_out(loader_, r.subject, framework, system, use, shard.gpus())};
  }
  built.engine->pins = {r.settings.memory_fraction, r.settings.kv_tokens};
  return ready_.keep(std::move(key),
                     std::make_shared<Ready>(Ready{std::move(backend), std::move(*built.engine)}));
}

Result<EstimateAnswer> Estimator::answer_by(const EstimateRequest& r,
                                            const std::string& framework) {
  const std::vector<Kind> kinds = kinds_of(r);
  std::vector<std::shared_ptr<Ready>> ready;
  std::int64_t gpus = 0;
  for (const Kind& kind : kinds) {
    SP_TRY(ready.emplace_back(), this->ready(r, framework, kind.system, kind.spec));
    gpus += kind.spec.workers * ready.back()->engine.shard.gpus();
  }
  if (r.gpus > 0 && gpus > r.gpus) {
    return Error::bad_input(fmt::format("gpus {}: one replica needs {}", r.gpus, gpus));
  }
  EstimateAnswer out;
  out.inputs = resolve(r.subject, ready[0]->backend, r.decode_system);
  out.inputs.frameworks = {ready[0]->backend.resolved()};
  if (r.settings.poll_steps) out.inputs.warnings.emplace_back("poll_steps does not act yet");
  if (r.settings.prompt_cache) out.inputs.warnings.emplace_back("prompt_cache does not act yet");
  const Workload& w = r.subject.workload;
  const std::int64_t replicas = r.gpus > 0 ? r.gpus / gpus : 1;
  std::vector<Placed> workers;
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    serve::Engine& engine = ready[i]->engine;
    const Part part = size_worker(engine, kinds[i], r, replicas);
    const auto question = memory_question(part.use, w, part.batch, part.chunk);
    if (part.batch > most_batch(engine, question, r.settings)) {
      out.refusal = refuse(engine, question, r.settings);
      if (out.refusal->largest_batch == 0) {
        out.refusal->text +=
            ways_out(loader_, r.subject, framework, kinds[i].system, part.use, engine.shard.gpus());
      }
      return out;
    }
    workers.push_back({&engine, &ready[i]->backend, part});
  }
  Estimate e = describe(r.mode, workers, w, replicas, r.gpus, r.concurrency.value_or(0));
  if (r.concurrency && r.mode != Mode::disagg) queue(e, static_cast<double>(*r.concurrency));
  if (r.load.kind != Load::Kind::steady) {
    e.warnings.push_back(
        "the arrival pattern is not modelled yet: steady state at the given "
        "concurrency is answered");
  }
  if (r.breakdown) out.breakdown = break_down(workers, w);
  out.estimate = std::move(e);
  return out;
}

// Of all frameworks the one with the most tokens/s/GPU; when none runs it, the first one's reason.
Result<EstimateAnswer> Estimator::answer(const EstimateRequest& r) {
  SP_CHECK(check(r.subject));
  if (!r.framework.empty()) return answer_by(r, r.framework);
  if (!r.subject.framework_version.empty()) {
    return Error::bad_input(fmt::format("framework version {} needs one framework, not all",
                                        r.subject.framework_version));
  }
  std::optional<Result<EstimateAnswer>> best;
  std::vector<ResolvedFramework> frameworks;
  std::vector<std::string> compared;
  for (const std::string& name : framework::framework_names()) {
    Result<EstimateAnswer> answer = answer_by(r, name);
    compared.push_back(name + " cannot run it");
    if (answer) {
      frameworks.push_back(answer->inputs.frameworks[0]);
      if (answer->estimate) compared.back() = fmt::format("{} {:.1f}", name, throughput(*answer));
    }
    if (!best || (answer && (!*best || throughput(*answer) > throughput(**best)))) best = answer;
  }
  if (!*best) return *best;
  Resolved& inputs = (*best)->inputs;
  inputs.frameworks = std::move(frameworks);
  inputs.warnings.push_back("no framework given: the best of all answers; tokens/s/GPU: " +
                            base::join(compared));
  return *best;
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
