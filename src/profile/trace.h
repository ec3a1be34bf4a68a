// SPDX-License-Identifier: Apache-2.0
// One recorded run of one rank, reduced to what the split needs: what ran on the device and when,
// when the host launched it, and where the training steps lie. Times are microseconds of one clock.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <unordered_map>
#include <vector>

#include "profile/intervals.h"
#include "profile/kinds.h"
#include "setpoint/result.h"

namespace setpoint::profile {

struct DeviceEvent {
  Interval when;
  Kind kind = Kind::compute;
  bool send_receive = false;
  std::int64_t correlation = 0;  // of the call that launched it, 0 = not known
};

// A training step as the framework marked it.
struct Step {
  std::int64_t number = 0;
  Interval when;
};

struct Trace {
  std::filesystem::path file;
  std::string format;                                   // "kineto", "nsys"
  std::int64_t rank = -1;                               // -1 = the file does not say
  std::vector<DeviceEvent> events;                      // by start
  std::unordered_map<std::int64_t, Interval> launches;  // host calls by correlation
  std::vector<Step> host_steps, device_steps;           // by start
  std::int64_t skipped = 0;                             // events without usable times or values
  bool host_only = false;  // no device in it: threads of the host stand for streams
};

// A Kineto/Chrome trace (.json, .json.gz) or an Nsight Systems SQLite export, known by its first
// bytes. `step_marker` is the start of the names that mark steps; "" = ProfilerStep# in Kineto
// traces, and in nsys exports "step", "iteration" or "ProfilerStep" ranges of NVTX.
Result<Trace> read_trace(const std::filesystem::path& file, const std::string& step_marker);

// The two formats, from their content.
Result<Trace> read_kineto(const std::string& text, const std::string& step_marker);
Result<Trace> read_nsys(const std::filesystem::path& file, const std::string& step_marker);

// The number at the end of "ProfilerStep#12"; -1 when `name` does not mark a step.
std::int64_t step_number(std::string_view name, std::string_view marker);

}  // namespace setpoint::profile
