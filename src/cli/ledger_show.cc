// SPDX-License-Identifier: Apache-2.0
// attune ledger show: the records, one a line, or with --json whole.
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "base/text.h"
#include "cli/command.h"
#include "cli/ledger.h"
#include "cli/list.h"
#include "ledger/kinds.h"

namespace setpoint::cli {
namespace {

struct Options {
  std::string folder;
  Strings kinds;
  int last = 0;
};
constexpr std::array kLast{
    base::Field<Options>{"last", &Options::last, 1, 1e9, "N", "Only the last N of them"}};

constexpr std::array kColumns{ListColumn{"seq", "seq"}, ListColumn{"time", "time", "UTC", 1},
                              ListColumn{"kind", "kind"}, ListColumn{"actor", "by", "", 2},
                              ListColumn{"what", "what"}};
constexpr int kOtherColumns = 58;  // width of all columns but the last
constexpr int kNarrowest = 20;

// Its short fields in the order of the kind's table: "trial t1, purpose trial, gpus 8".
std::string what(const ledger::Record& record) {
  std::string text;
  for (const ledger::KindSpec& kind : ledger::kinds()) {
    if (kind.name != record.kind) continue;
    for (const ledger::FieldSpec& field : kind.fields) {
      const base::Json value = record.fields.value(field.name, base::Json());
      if (value.is_null() || value.is_structured() || field.type == "digest") continue;
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", field.name,
                          value.is_string() ? value.get<std::string>() : value.dump());
    }
  }
  return text;
}

base::Json row(const ledger::Record& record, std::size_t most) {
  return {{"seq", std::to_string(record.seq)},
          {"time", utc(record.time)},
          {"kind", record.kind},
          {"actor", ledger::kActors[static_cast<std::size_t>(record.actor)]},
          {"what", one_line(what(record), most)}};
}

base::Json whole(const ledger::Record& record) {
  base::Json json{{"seq", record.seq},
                  {"time", record.time},
                  {"kind", record.kind},
                  {"actor", ledger::kActors[static_cast<std::size_t>(record.actor)]},
                  {"hash", record.hash}};
  for (const auto& [name, value] : record.fields.items()) json[name] = value;
  return json;
}

Result<void> check_kinds(const Strings& asked) {
  Strings known;
  for (const ledger::KindSpec& kind : ledger::kinds()) known.push_back(kind.name);
  for (const std::string& kind : asked) {
    if (std::find(known.begin(), known.end(), kind) == known.end()) {
      return Error::bad_input("--kind: " + base::unknown_name("kind", kind, known));
    }
  }
  return {};
}

Result<int> show(const Options& options, const Console& console) {
  SP_CHECK(check_kinds(options.kinds));
  SP_TRY(const ReadLedger read, read_books(options.folder));
  std::vector<const ledger::Record*> chosen;
  for (const ledger::Record& record : read.chain.records) {
    const auto& kinds = options.kinds;
    if (kinds.empty() || std::find(kinds.begin(), kinds.end(), record.kind) != kinds.end()) {
      chosen.push_back(&record);
    }
  }
  if (options.last > 0 && chosen.size() > std::size_t(options.last)) {
    chosen.erase(chosen.begin(), chosen.end() - options.last);
  }
  const auto most =
      static_cast<std::size_t>(std::max(kNarrowest, console.screen.columns - kOtherColumns));
  base::Json rows = base::Json::array();
  for (const ledger::Record* record : chosen) {
    rows.push_back(console.json ? whole(*record) : row(*record, most));
  }
  for (const std::string& fault : read.faults) console.note("fault: " + one_line(fault, 90));
  SP_CHECK(console.print(
      console.json ? base::json_text({{"faults", read.faults}, {"records", rows}}, 2) + "\n"
                   : list_text(console.screen, rows, kColumns)));
  return read.faults.empty() ? kDone : kNo;
}

}  // namespace

Action ledger_show_command(Flags& flags) {
  auto options = std::make_shared<Options>();
  declare_folder(flags, options->folder);
  flags.texts("--kind", options->kinds, "KIND", "Only records of this kind; may be repeated");
  flags.numbers(kLast, *options);
  return [options](const Console& console) { return show(*options, console); };
}

}  // namespace setpoint::cli
