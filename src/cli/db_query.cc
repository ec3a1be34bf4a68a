// SPDX-License-Identifier: Apache-2.0
// aiconf db query: the time of one operator and what it rests on; or one answer a request line.
#include <fmt/format.h>

#include <memory>

#include "base/json.h"
#include "base/recent.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/db_flags.h"
#include "cli/op_query.h"
#include "cli/request_lines.h"
#include "cli/subject_flags.h"
#include "hw/system.h"
#include "perfdb/perfdb.h"

namespace setpoint::cli {
namespace {

struct Options {
  std::string database, system, framework, version, data = "hybrid", requests;
  std::vector<std::string> words;  // OP key=value...
};

// Databases that were asked last stay open.
class Asker {
 public:
  explicit Asker(const Options& options) : options_(options) {}

  Result<base::Json> answer(const base::JsonView& asked) {
    base::Json request = asked.json();
    for (const auto& [name, value] : {std::pair{"system", options_.system},
                                      {"framework", options_.framework},
                                      {"version", options_.version}}) {
      if (!value.empty() && request.is_object() && !request.contains(name)) request[name] = value;
    }
    SP_TRY(const OpQuery query, parse_op_query(base::JsonView(request, asked.path())));
    SP_TRY(const auto db, database(query));
    SP_TRY(const perfdb::BoundOp op, db->bind(query.op));
    const perfdb::Answer answer = op.at(query.point);
    base::Json json;
    json["op"] = ops::family(query.op);
    json["ms"] = answer.time.value();
    json["source"] = perfdb::kSourceNames[static_cast<std::size_t>(answer.source)];
    json["expected_error"] = answer.sigma;
    json["version"] = db->version();
    return json;
  }

 private:
  Result<std::shared_ptr<const perfdb::PerfDb>> database(const OpQuery& query) {
    const std::string key = query.system + "\n" + query.framework + "\n" + query.version;
    if (auto known = open_.find(key)) return known;
    SP_TRY(hw::System system, hw::find_system(query.system));
    SP_TRY(perfdb::PerfDb db,
           perfdb::PerfDb::open({options_.database, std::move(system), query.framework,
                                 query.version, data_mode(options_.data)}));
    return open_.keep(key, std::make_shared<const perfdb::PerfDb>(std::move(db)));
  }

  const Options& options_;
  base::Recent<const perfdb::PerfDb> open_{12};
};

// "gemm n=4096 quant=fp8" -> {"op": "gemm", "n": 4096, "quant": "fp8"}
Result<base::Json> request_of(const std::vector<std::string>& words) {
  base::Json request{{"op", words.front()}};
  for (std::size_t i = 1; i < words.size(); ++i) {
    const auto [key, value] = base::split_pair(words[i]);
    if (!value) {
      return Error::bad_input(fmt::format("\"{}\" is not KEY=VALUE, e.g. n=4096", words[i]));
    }
    const auto parsed = base::parse_json(*value, "");
    const bool plain = parsed && (parsed->is_number() || parsed->is_boolean());
    request[key] = plain ? *parsed : base::Json(*value);
  }
  return request;
}

Result<int> answer_one(const Options& options, const Console& console) {
  SP_TRY(const base::Json request, request_of(options.words));
  Asker asker(options);
  SP_TRY(const base::Json answer, asker.answer({request, "query"}));
  const std::string text =
      fmt::format("{:.6g} ms, {} (expected error {:.1f} %), {} {}\n", answer["ms"].get<double>(),
                  answer["source"].get<std::string>(), 100 * answer["expected_error"].get<double>(),
                  options.framework, answer["version"].get<std::string>());
  SP_CHECK(console.print(console.json ? base::json_text(answer, 2) + "\n" : text));
  return kDone;
}

Result<int> query(const Options& options, const Console& console) {
  if (!options.requests.empty()) {
    if (!options.words.empty())
      return Error::bad_input("give OP key=value or --requests, not both");
    Asker asker(options);
    return answer_lines(options.requests, console,
                        [&](const base::JsonView& line) { return asker.answer(line); });
  }
  if (options.words.empty()) return Error::bad_input("OP key=value... or --requests is required");
  return answer_one(options, console);
}

}  // namespace

Action db_query_command(Flags& flags) {
  auto options = std::make_shared<Options>();
  flags.arguments("query", options->words, "OP key=value..., e.g. gemm n=4096 k=4096");
  flags.instead_of_required("--requests");
  flags.text("--system", options->system, "SYSTEM", "GPU system, where a query names none");
  flags.text("--framework", options->framework, "NAME", "Framework, where a query names none");
  flags.text("--version", options->version, "VERSION", "Its version; else the current one");
  declare_data(flags, options->data);
  flags.text("--requests", options->requests, "FILE", "JSON lines, one query each; - = input");
  declare_database(flags, options->database);
  return [options](const Console& console) { return query(*options, console); };
}

}  // namespace setpoint::cli
