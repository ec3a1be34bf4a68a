// SPDX-License-Identifier: Apache-2.0
// aiconf db query: the time of one operator and what it rests on; or one answer a request line.
#include <fmt/format.h>

#include <fstream>
#include <iostream>
#include <map>

#include "base/json.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/db_flags.h"
#include "cli/op_query.h"
#include "cli/request_lines.h"
#include "hw/system.h"
#include "perfdb/perfdb.h"

namespace setpoint::cli {
namespace {

struct Options {
  std::string database, system, framework, version, data = "hybrid", requests;
  std::vector<std::string> words;  // OP key=value...
};

// Databases that were asked before stay open.
class Asker {
 public:
  explicit Asker(const Options& options) : options_(options) {}

  Result<base::Json> answer(base::Json request, const std::string& where) {
    for (const auto& [name, value] : {std::pair{"system", options_.system},
                                      {"framework", options_.framework},
                                      {"version", options_.version}}) {
      if (!value.empty() && request.is_object() && !request.contains(name)) request[name] = value;
    }
    SP_TRY(const OpQuery query, parse_op_query(base::JsonView(request, where)));
    SP_TRY(const perfdb::PerfDb* const db, database(query));
    SP_TRY(const perfdb::BoundOp op, db->bind(query.op));
    const perfdb::Answer answer = op.at(query.point);
    base::Json json;
    if (request.contains("id")) json["id"] = request["id"];
    json["op"] = ops::family(query.op);
    json["ms"] = answer.time.value();
    json["source"] = perfdb::kSourceNames[static_cast<std::size_t>(answer.source)];
    json["expected_error"] = answer.sigma;
    json["version"] = db->version();
    return json;
  }

 private:
  Result<const perfdb::PerfDb*> database(const OpQuery& query) {
    const std::vector<std::string> key{query.system, query.framework, query.version};
    if (const auto it = open_.find(key); it != open_.end()) return &it->second;
    SP_TRY(hw::System system, hw::find_system(query.system));
    const auto mode = options_.data == "measured"   ? perfdb::DataMode::measured
                      : options_.data == "roofline" ? perfdb::DataMode::roofline
                                                    : perfdb::DataMode::hybrid;
    SP_TRY(perfdb::PerfDb db, perfdb::PerfDb::open({options_.database, std::move(system),
                                                    query.framework, query.version, mode}));
    return &open_.emplace(key, std::move(db)).first->second;
  }

  const Options& options_;
  std::map<std::vector<std::string>, perfdb::PerfDb> open_;
};

// "gemm n=4096 quant=fp8" -> {"op": "gemm", "n": 4096, "quant": "fp8"}
Result<base::Json> request_of(const std::vector<std::string>& words) {
  base::Json request{{"op", words.front()}};
  for (std::size_t i = 1; i < words.size(); ++i) {
    const std::size_t at = words[i].find('=');
    if (at == std::string::npos) {
      return Error::bad_input(fmt::format("\"{}\" is not KEY=VALUE, e.g. n=4096", words[i]));
    }
    const std::string value = words[i].substr(at + 1);
    const auto parsed = base::parse_json(value, "");
    request[words[i].substr(0, at)] =
        parsed.ok() && (parsed->is_number() || parsed->is_boolean()) ? *parsed : base::Json(value);
  }
  return request;
}

Result<int> answer_one(const Options& options, const Console& console) {
  SP_TRY(base::Json request, request_of(options.words));
  Asker asker(options);
  SP_TRY(const base::Json answer, asker.answer(std::move(request), "query"));
  const std::string text =
      fmt::format("{:.6g} ms, {} (expected error {:.1f} %), {} {}\n", answer["ms"].get<double>(),
                  answer["source"].get<std::string>(), 100 * answer["expected_error"].get<double>(),
                  options.framework, answer["version"].get<std::string>());
  SP_CHECK(console.print(console.json ? answer.dump(2) + "\n" : text));
  return kDone;
}

base::Json error_line(const base::Json& request, const Error& error) {
  base::Json json;
  if (request.is_object() && request.contains("id")) json["id"] = request["id"];
  json["error"] = error.text;
  return json;
}

// One answer for each line, in order; a bad line is answered with its error.
Result<int> answer_file(const Options& options, const Console& console) {
  std::ifstream file;
  if (options.requests != "-") {
    file.open(options.requests, std::ios::binary);
    if (!file) return Error::bad_input(fmt::format("{}: cannot be read", options.requests));
  }
  std::istream& in = options.requests == "-" ? std::cin : file;
  Asker asker(options);
  std::int64_t number = 0, failed = 0;
  for (std::string line; next_line(in, line);) {
    const std::string where = fmt::format("{}:{}", options.requests, ++number);
    const auto request = base::parse_json(line, where);
    const Result<base::Json> answer =
        request.ok() ? asker.answer(*request, where) : Result<base::Json>(request.error());
    if (!answer.ok()) ++failed;
    const base::Json json =
        answer.ok() ? *answer : error_line(request.ok() ? *request : base::Json(), answer.error());
    SP_CHECK(console.print(json.dump() + "\n"));
  }
  if (in.bad()) return Error::environment(fmt::format("{}: reading failed", options.requests));
  console.detail(fmt::format("{} lines answered, {} of them with an error", number, failed));
  return kDone;
}

Result<int> query(const Options& options, const Console& console) {
  if (!options.requests.empty()) {
    if (!options.words.empty())
      return Error::bad_input("give OP key=value or --requests, not both");
    return answer_file(options, console);
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
  flags.choice("--data", options->data, {"measured", "hybrid", "roofline"}, "What may answer");
  flags.text("--requests", options->requests, "FILE", "JSON lines, one query each; - = input");
  declare_database(flags, options->database);
  return [options](const Console& console) { return query(*options, console); };
}

}  // namespace setpoint::cli
