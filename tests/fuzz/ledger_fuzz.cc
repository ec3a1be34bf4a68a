// SPDX-License-Identifier: Apache-2.0
// Any bytes as ledger.jsonl and, after a zero byte, as ledger.head: a chain with a stated end,
// whose records fold, and which the writer opens exactly when the reader found it whole.
#include <cstdlib>

#include "ledger/files.h"
#include "ledger/ledger.h"
#include "support/memory_disk.h"

using namespace setpoint;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const std::size_t split = text.find('\0');
  test::MemoryDisk disk;
  disk.files["f/ledger.jsonl"] = {text.substr(0, split), 0};
  if (split != std::string::npos) disk.files["f/ledger.head"] = {text.substr(split + 1), 0};
  const ledger::Chain chain = ledger::read_ledger(disk, "f").value();
  if (chain.stopped && chain.stopped->reason.empty()) std::abort();
  if (chain.whole_bytes + chain.torn_bytes > size) std::abort();
  const auto state = ledger::fold(chain.records);
  const auto opened = ledger::Ledger::open(disk, "f", [] { return 1.0; });
  if (opened.ok() != (!chain.stopped && state.ok())) std::abort();
  if (!opened && opened.error().text.empty()) std::abort();
  if (opened && ledger::read_ledger(disk, "f")->stopped) std::abort();
  return 0;
}
