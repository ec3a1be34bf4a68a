// SPDX-License-Identifier: Apache-2.0
// What a framework's own validation does to the values that were asked for: the register's side
// effects, replayed in file order, later ones winning. It tells which parameters move unasked and
// from which line; it never calls a move explained that it cannot compute.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "judge/register.h"

namespace setpoint::judge {

struct Replay {
  recipe::FinalValues values;                 // what became unknown is missing
  std::map<std::string, std::string> origin;  // of every parameter ("env.X": variable) that an
                                              // effect wrote or may have written: its place
};
// From what was asked for, with the register's defaults for the rest.
Replay replay(const Register& by, const recipe::FinalValues& requested);
// From what Megatron-LM prints after it has validated its options: only what its configuration
// classes still do to them. No defaults: the print is complete.
Replay replay_after_print(const Register& by, const recipe::FinalValues& printed);

// A parameter whose final value differs although nobody asked for that.
struct Unasked {
  std::string name;             // of variables "env.X"
  bool overruled = false;       // it was asked for, and the framework set something else
  Truth explained = Truth::no;  // do the side effects compute exactly these final values?
  std::string origin;           // "megatron/training/arguments.py:validate_args:1439", or ""
};
struct RequestAndResult {
  const recipe::FinalValues& requested;
  const recipe::FinalValues& final;
};
// All that differ between the two results and not between the two requests, and all requests of
// the candidate that were overruled.
std::vector<Unasked> unasked_moves(const Register& by, const RequestAndResult& candidate,
                                   const RequestAndResult& baseline);

}  // namespace setpoint::judge
