// SPDX-License-Identifier: Apache-2.0
// A backend: one framework on one GPU type, ready to serve a model: its facts, its tables and the
// number formats it would use. Loaded once and shared by everything that asks for the same.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/recent.h"
#include "framework/framework.h"
#include "perfdb/perfdb.h"
#include "search/bucket.h"
#include "serve/engine.h"
#include "setpoint/model.h"
#include "setpoint/result.h"
#include "setpoint/search.h"

namespace setpoint::search {

struct Backend {
  std::shared_ptr<const model::ModelSpec> model;  // the user's alpha already in it
  framework::Facts facts;
  hw::System system;
  std::shared_ptr<const perfdb::PerfDb> db;
  model::Precision precision;

  // Of the tables; without any, of the facts.
  const std::string& version() const;
  ResolvedFramework resolved() const;
};

// The GPU that `name` stands for in a subject: its own --spec, else a known system.
Result<hw::System> find_system(const Subject& subject, const std::string& name);

// Keeps the models and databases asked about last, so that a second question costs no reading.
class Loader {
 public:
  // `framework` on the named system, for the subject's model.
  Result<Backend> load(const Subject& subject, const std::string& framework,
                       const std::string& system);

 private:
  base::Recent<const model::ModelSpec> models_{16};
  base::Recent<const perfdb::PerfDb> databases_{24};
};

// What a subject is resolved to, apart from the frameworks.
Resolved resolve(const Subject& subject, const Backend& backend, const std::string& decode_system);

// A worker of one cut, or the bucket that says why there is none.
struct Built {
  std::optional<serve::Engine> engine;
  Bucket bucket = Bucket::divisibility;  // without an engine
  std::string text;
};
Built build(const Backend& backend, const model::Shard& shard, int nextn);

}  // namespace setpoint::search
