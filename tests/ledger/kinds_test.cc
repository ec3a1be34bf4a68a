// SPDX-License-Identifier: Apache-2.0
// The page about the format and the table in the code name the same kinds and fields.
#include "ledger/kinds.h"

#include <gtest/gtest.h>

#include <map>
#include <regex>
#include <sstream>

#include "base/file.h"

namespace setpoint::ledger {
namespace {

TEST(Kinds, AreThoseOfTheFormatsPage) {
  std::map<std::string, std::string> rows;  // kind -> its row
  std::istringstream page(base::read_file(SETPOINT_SOURCE_DIR "/docs/formats/ledger.md").value());
  const std::regex row("\\| `([a-z0-9_]+)` \\| (.*) \\|");
  for (std::string line; std::getline(page, line);) {
    std::smatch match;
    if (std::regex_match(line, match, row)) rows[match[1]] = match[2];
  }
  EXPECT_GE(kinds().size(), 26u);
  for (const KindSpec& kind : kinds()) {
    ASSERT_TRUE(rows.contains(kind.name)) << kind.name;
    const std::string& text = rows.at(kind.name);
    for (const FieldSpec& field : kind.fields) {
      const std::string shown = (field.required ? "`" : "(`") + field.name + "`";
      EXPECT_NE(text.find(shown), std::string::npos) << kind.name << "." << field.name;
      for (const std::string& choice : field.choices) {
        if (field.name == "verdict" || field.name == "why" || field.name == "outcome" ||
            field.name == "how" || field.name == "state") {
          EXPECT_NE(text.find(choice), std::string::npos) << kind.name << ": " << choice;
        }
      }
    }
  }
}

}  // namespace
}  // namespace setpoint::ledger
