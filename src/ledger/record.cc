// SPDX-License-Identifier: Apache-2.0
#include "ledger/record.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/canonical.h"
#include "base/sha256.h"
#include "ledger/kinds.h"

namespace setpoint::ledger {
namespace {

using base::Json;

constexpr std::array<std::string_view, 7> kCommon{"actor", "campaign",  "hash", "kind",
                                                  "seq",   "prev_hash", "time"};
constexpr std::int64_t kMostSeq = std::int64_t{1} << 53;
constexpr double kLatestTime = 1e12;

Json without_hash(const Record& record) {
  Json line = record.fields;
  line["actor"] = kActors[static_cast<std::size_t>(record.actor)];
  line["campaign"] = record.campaign;
  line["kind"] = record.kind;
  line["prev_hash"] = record.prev_hash;
  line["seq"] = record.seq;
  line["time"] = record.time;
  return line;
}

Result<std::string> hash_of(const std::string& prev_hash, const Json& hashless) {
  SP_TRY(const std::string text, base::canonical_json(hashless));
  return base::sha256_hex(prev_hash + text);
}

Result<std::string> digest(const base::JsonView& line, std::string_view key) {
  SP_TRY(const base::JsonView member, line.at(key));
  SP_TRY(std::string text, member.string());
  if (!base::is_sha256_hex(text)) return member.error("expected a SHA-256");
  return text;
}

Result<Record> read_common(const base::JsonView& line) {
  Record record;
  SP_TRY(const auto seq, line.at("seq"));
  SP_TRY(record.seq, seq.integer(0, kMostSeq));
  SP_TRY(const auto time, line.at("time"));
  SP_TRY(record.time, time.number(0, kLatestTime));
  SP_TRY(const auto kind, line.at("kind"));
  SP_TRY(record.kind, kind.string());
  SP_TRY(const auto actor, line.at("actor"));
  SP_TRY(const std::string name, actor.string());
  const auto* const found = std::find(kActors.begin(), kActors.end(), name);
  if (found == kActors.end()) return actor.error("expected judge, agent, person or cluster");
  record.actor = static_cast<Actor>(found - kActors.begin());
  SP_TRY(record.campaign, digest(line, "campaign"));
  SP_TRY(record.prev_hash, digest(line, "prev_hash"));
  SP_TRY(record.hash, digest(line, "hash"));
  return record;
}

}  // namespace

Result<std::string> seal(Record& record) {
  SP_CHECK(check_fields(record.kind, record.fields));
  Json line = without_hash(record);
  SP_TRY(record.hash, hash_of(record.prev_hash, line));
  line["hash"] = record.hash;
  SP_TRY(std::string text, base::canonical_json(line));
  if (text.size() > kLongestLine) {
    return Error::bad_input(fmt::format("{}: {} bytes, more than the {} a record may have",
                                        record.kind, text.size(), kLongestLine));
  }
  return text;
}

Result<Record> open_line(std::string_view line) {
  if (line.size() > kLongestLine) return Error::bad_input("longer than a record may be");
  SP_TRY(const Json json, base::parse_json(line, "record"));
  const base::JsonView view(json, "record");
  SP_TRY(Record record, read_common(view));
  for (const auto& [key, value] : json.items()) {
    if (std::find(kCommon.begin(), kCommon.end(), key) == kCommon.end()) record.fields[key] = value;
  }
  SP_CHECK(check_fields(record.kind, record.fields));
  SP_TRY(const std::string canonical, base::canonical_json(json));
  if (canonical != line) return Error::bad_input("the line is not canonical JSON");
  SP_TRY(const std::string hash, hash_of(record.prev_hash, without_hash(record)));
  if (hash != record.hash) {
    return Error::bad_input(
        "the hash is not that of the line: it was changed after it was written");
  }
  return record;
}

Result<std::string> campaign_of(const Json& contract_fields) {
  SP_TRY(const std::string text, base::canonical_json(contract_fields));
  return base::sha256_hex(text);
}

std::string Record::text(std::string_view field) const {
  return fields.at(std::string(field)).get<std::string>();
}
double Record::number(std::string_view field) const {
  return fields.at(std::string(field)).get<double>();
}
bool Record::yes(std::string_view field) const { return fields.at(std::string(field)).get<bool>(); }
bool Record::has(std::string_view field) const { return fields.contains(std::string(field)); }
std::string Record::text_or(std::string_view field, std::string_view otherwise) const {
  return has(field) ? text(field) : std::string(otherwise);
}
base::JsonView Record::view() const { return {fields, fmt::format("record {} ({})", seq, kind)}; }

}  // namespace setpoint::ledger
