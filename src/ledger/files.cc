// SPDX-License-Identifier: Apache-2.0
#include "ledger/files.h"

#include "base/canonical.h"
#include "base/sha256.h"

namespace setpoint::ledger {

Result<Head> parse_head(std::string_view text) {
  SP_TRY(const base::Json json, base::parse_json(text, kHeadFile));
  const base::JsonView view(json, kHeadFile);
  Head head;
  SP_TRY(const auto seq, view.at("seq"));
  SP_TRY(head.seq, seq.integer(-1, std::int64_t{1} << 53));
  SP_TRY(const auto hash, view.at("hash"));
  SP_TRY(head.hash, hash.string());
  if (!base::is_sha256_hex(head.hash)) return hash.error("expected a SHA-256");
  return head;
}

std::string head_text(const Head& head) {
  return base::Json{{"hash", head.hash}, {"seq", head.seq}}.dump() + "\n";
}

}  // namespace setpoint::ledger
