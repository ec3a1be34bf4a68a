// SPDX-License-Identifier: Apache-2.0
// Known defects: a condition over several parameters that computes wrongly in some versions of a
// framework or of a library beneath it. docs/formats/register.md has the file format.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "judge/register.h"

namespace setpoint::judge {

struct Defect {
  std::string id, effect, kind, reference;
  std::string package;     // whose version counts: "megatron-core", "transformer-engine", ...
  std::string introduced;  // first release that has it; "" = from the beginning
  std::string fixed_in;    // first release without it; "" = in all releases so far
  std::string fixed_on;    // date of the fix on the main branch, 2026-02-13
  Rule condition;          // with the names of the register it was read for
  std::vector<std::string> shows_in;  // signals of a run that can tell
  Confidence confidence = Confidence::medium;
};

struct Defects {
  std::string hash;         // SHA-256 of the file's bytes
  std::vector<Defect> all;  // those with a condition for the register's framework
};

// As strict as parse_register; names and facts of conditions are those of `by`.
Result<Defects> parse_defects(std::string_view text, const std::string& what, const Register& by);
Result<Defects> shipped_defects(const Register& by);

// Does a build lie between introduction and fix? A release by its number; a build of the very
// release that brought the fix by its date, where it states one; an unknown version is unknown.
Truth in_window(const Defect& defect, std::string_view version, std::string_view date);

struct DefectMatch {
  const Defect* defect = nullptr;
  Truth applies = Truth::unknown;         // to the candidate: yes or unknown
  Truth applied_before = Truth::unknown;  // to the baseline
  bool touched = false;                   // a value it depends on differs between the two
  std::vector<std::string> unknown;       // what was missing where it is unknown
};
// All that apply to the candidate or may. One that is only unknown and not touched says nothing
// about the change.
std::vector<DefectMatch> match_defects(const Defects& defects, const Register& by,
                                       const recipe::FinalValues& candidate,
                                       const recipe::FinalValues& baseline);
// What `defect_matched` means in the rule of this parameter or variable.
Truth defect_matched(const std::vector<DefectMatch>& matches, const Register& by,
                     const RuleName& name);

}  // namespace setpoint::judge
