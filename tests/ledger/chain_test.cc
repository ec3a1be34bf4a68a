// SPDX-License-Identifier: Apache-2.0
// Nobody changes, removes, reorders or cuts what was written without being noticed.
#include <gtest/gtest.h>

#include <functional>
#include <random>

#include "base/canonical.h"
#include "ledger/files.h"
#include "ledger/record.h"
#include "support/campaign_records.h"
#include "support/memory_disk.h"

namespace setpoint::ledger {
namespace {

const std::filesystem::path kFolder = "campaign";
const std::string kFile = "campaign/ledger.jsonl", kHead = "campaign/ledger.head";

// A disk with the whole campaign on it, nobody writing.
test::MemoryDisk written() {
  test::MemoryDisk disk;
  auto ledger = Ledger::open(disk, kFolder, test::counting_clock()).value();
  const auto done = test::write_all(ledger, test::whole_campaign());
  EXPECT_TRUE(done.ok()) << (done.ok() ? "" : done.error().text);
  return disk;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::size_t at = 0;
  for (std::size_t end = 0; (end = text.find('\n', at)) != std::string::npos; at = end + 1) {
    lines.push_back(text.substr(at, end - at));
  }
  return lines;
}
std::string text_of(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

// The line anew with other fields, and a hash that fits it.
std::string forged(const std::string& line, const std::function<void(base::Json&)>& change) {
  base::Json json = base::parse_json(line, "line").value();
  change(json);
  json.erase("hash");
  const std::string hashless = base::canonical_json(json).value();
  json["hash"] = base::sha256_hex(json["prev_hash"].get<std::string>() + hashless);
  return base::canonical_json(json).value();
}

TEST(Chain, AWholeLedgerReadsBackAsItWasWritten) {
  test::MemoryDisk disk = written();
  const Chain chain = read_ledger(disk, kFolder).value();
  EXPECT_FALSE(chain.stopped);
  EXPECT_EQ(chain.torn_bytes, 0u);
  const auto drafts = test::whole_campaign();
  ASSERT_EQ(chain.records.size(), drafts.size());
  for (std::size_t i = 0; i < drafts.size(); ++i) {
    EXPECT_EQ(chain.records[i].kind, drafts[i].kind);
    EXPECT_EQ(base::canonical_json(chain.records[i].fields).value(),
              base::canonical_json(drafts[i].fields).value());
    EXPECT_EQ(chain.records[i].campaign, campaign_of(test::contract_fields()).value());
  }
}

// The definition in docs/formats/ledger.md, computed apart from the code that writes.
TEST(Chain, TheHashIsThatOfThePreviousHashAndTheLineWithoutItsOwn) {
  test::MemoryDisk disk = written();
  std::string previous(64, '0');
  for (const std::string& line : lines_of(disk.files[kFile].bytes)) {
    const std::size_t at = line.find("\"hash\":\"");
    const std::string hash = line.substr(at + 8, 64);
    std::string without = line;
    without.erase(at, 8 + 64 + 2);  // and the comma behind it
    EXPECT_EQ(hash, base::sha256_hex(previous + without));
    EXPECT_NE(line.find("\"prev_hash\":\"" + previous), std::string::npos);
    previous = hash;
  }
}

struct Tamper {
  const char* name;
  std::function<void(std::vector<std::string>&)> change;
  std::size_t line;  // where it is noticed
  const char* reason;
};

TEST(Chain, EveryKindOfTamperingIsFoundWithItsLine) {
  const std::vector<Tamper> cases{
      {"a figure is edited",
       [](auto& lines) {
         const std::size_t at = lines[6].find("\"gpu_hours\":4");
         ASSERT_NE(at, std::string::npos);
         lines[6].replace(at, 13, "\"gpu_hours\":3");
       },
       7, "changed after it was written"},
      {"a line is removed", [](auto& lines) { lines.erase(lines.begin() + 10); }, 11,
       "missing or out of order"},
      {"two lines are swapped", [](auto& lines) { std::swap(lines[7], lines[8]); }, 8,
       "missing or out of order"},
      {"a line is there twice", [](auto& lines) { lines.insert(lines.begin() + 4, lines[4]); }, 6,
       "missing or out of order"},
      {"the first line is removed", [](auto& lines) { lines.erase(lines.begin()); }, 1,
       "missing or out of order"},
      {"an edited line with a hash forged to fit",
       [](auto& lines) {
         lines[6] = forged(lines[6], [](base::Json& json) { json["gpu_hours"] = 3; });
       },
       8, "not the hash of the record before"},
      {"the last line forged, where no later one tells",
       [](auto& lines) {
         lines.back() = forged(lines.back(), [](base::Json& json) { json["reason"] = "other"; });
       },
       0, "another hash"},
      {"a line of another campaign",
       [](auto& lines) {
         lines[3] =
             forged(lines[3], [](base::Json& json) { json["campaign"] = test::digest("x"); });
       },
       4, "another campaign"},
      {"another contract",
       [](auto& lines) {
         lines[0] = forged(lines[0], [](base::Json& json) { json["budget_gpu_hours"] = 1e6; });
       },
       1, "hash of the contract"},
      {"spaces are put in", [](auto& lines) { lines[2].insert(1, " "); }, 3, "canonical"},
      {"a key stands twice", [](auto& lines) { lines[2].insert(1, "\"actor\":\"person\","); }, 3,
       "canonical"},
      {"an empty line", [](auto& lines) { lines.insert(lines.begin() + 2, ""); }, 3, "not JSON"},
      {"bytes that are no text", [](auto& lines) { lines[2][20] = '\xff'; }, 3, "not JSON"},
  };
  for (const Tamper& tamper : cases) {
    SCOPED_TRACE(tamper.name);
    test::MemoryDisk disk = written();
    auto lines = lines_of(disk.files[kFile].bytes);
    const std::size_t count = lines.size();
    tamper.change(lines);
    disk.files[kFile].bytes = text_of(lines);
    const Chain chain = read_ledger(disk, kFolder).value();
    ASSERT_TRUE(chain.stopped);
    EXPECT_EQ(chain.stopped->line, tamper.line == 0 ? count : tamper.line) << chain.stopped->reason;
    EXPECT_NE(chain.stopped->reason.find(tamper.reason), std::string::npos)
        << chain.stopped->reason;
    const auto opened = Ledger::open(disk, kFolder, test::counting_clock());
    ASSERT_FALSE(opened.ok());
    EXPECT_EQ(opened.error().code, ErrorCode::no);
    EXPECT_NE(opened.error().text.find("line "), std::string::npos);
  }
}

TEST(Chain, ACutTailIsFoundByTheHeadFile) {
  test::MemoryDisk disk = written();
  auto lines = lines_of(disk.files[kFile].bytes);
  lines.resize(lines.size() - 3);
  disk.files[kFile].bytes = text_of(lines);
  EXPECT_FALSE(read_chain(disk.files[kFile].bytes).stopped);  // the chain itself does not show it
  const Chain chain = read_ledger(disk, kFolder).value();
  ASSERT_TRUE(chain.stopped);
  EXPECT_NE(chain.stopped->reason.find("records are lost"), std::string::npos);
  disk.files.erase(kFile);
  EXPECT_FALSE(Ledger::open(disk, kFolder, test::counting_clock()).ok());
}

TEST(Chain, AMissingHeadIsALossAndAHeadBehindIsACrash) {
  test::MemoryDisk disk = written();
  const auto records = read_ledger(disk, kFolder)->records;
  disk.files[kHead].bytes = head_text({records[4].seq, records[4].hash});
  EXPECT_FALSE(read_ledger(disk, kFolder)->stopped);
  disk.files[kHead].bytes = head_text({records[4].seq, records[5].hash});
  EXPECT_TRUE(read_ledger(disk, kFolder)->stopped);
  disk.files[kHead].bytes = "{";
  EXPECT_TRUE(read_ledger(disk, kFolder)->stopped);
  disk.files.erase(kHead);
  EXPECT_TRUE(read_ledger(disk, kFolder)->stopped);
}

TEST(Chain, AThousandRandomTruncationsLoseNothingInSilence) {
  const test::MemoryDisk whole = written();
  const std::string text = whole.files.at(kFile).bytes;
  const auto records = read_chain(text).records;
  std::mt19937 random(7);  // fixed: the same cuts each time
  int dropped = 0, lost = 0;
  for (int i = 0; i < 1000; ++i) {
    test::MemoryDisk disk = whole;
    const std::size_t cut = random() % text.size();
    disk.files[kFile].bytes.resize(cut);
    // What the head says was safe: anything from nothing to all.
    const auto safe = static_cast<std::int64_t>(random() % (records.size() + 1)) - 1;
    const Head head{safe, safe < 0 ? std::string(kNoHash) : records[std::size_t(safe)].hash};
    disk.files[kHead].bytes = head_text(head);
    const Chain chain = read_ledger(disk, kFolder).value();
    const std::size_t complete = lines_of(text.substr(0, cut)).size();
    ASSERT_EQ(chain.records.size(), complete);
    EXPECT_EQ(chain.whole_bytes + chain.torn_bytes, cut);
    EXPECT_EQ(chain.stopped.has_value(), safe >= std::int64_t(complete));
    const auto opened = Ledger::open(disk, kFolder, test::counting_clock());
    ASSERT_EQ(opened.ok(), !chain.stopped);
    if (!opened) {
      ++lost;
      continue;
    }
    const bool noted = chain.torn_bytes > 0 && complete > 0;
    dropped += noted ? 1 : 0;
    ASSERT_EQ(opened->records().size(), complete + (noted ? 1 : 0));
    if (noted) {
      EXPECT_NE(opened->records().back().text("text").find("torn"), std::string::npos);
    }
    EXPECT_FALSE(read_ledger(disk, kFolder)->stopped);
  }
  EXPECT_GT(dropped, 200);
  EXPECT_GT(lost, 200);
}

}  // namespace
}  // namespace setpoint::ledger
