// SPDX-License-Identifier: Apache-2.0
// PyTorch's profiler writes one JSON object with millions of events: it is read as a stream, one
// event at a time, and never stands in memory as a tree.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/fields.h"
#include "profile/trace.h"

namespace setpoint::profile {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kMostDepth = 100;
constexpr std::string_view kDefaultMarker = "ProfilerStep#";

// What of one element of traceEvents counts.
struct Event {
  std::string phase, category, name;
  double ts = NAN, dur = NAN;
  std::int64_t thread = 0, correlation = 0;
};

bool is(const Event& event, std::initializer_list<std::string_view> categories) {
  return std::find(categories.begin(), categories.end(), event.category) != categories.end();
}

// Receives the values in the order of the text. Depth 1 is the document, 2 the list of events, 3 an
// event, 4 its arguments.
class Reader : public nlohmann::json_sax<Json> {
 public:
  explicit Reader(std::string_view marker) : marker_(marker) { trace_.format = "kineto"; }

  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t value) override {
    return number(static_cast<double>(value));
  }
  bool number_unsigned(number_unsigned_t value) override {
    return number(static_cast<double>(value));
  }
  bool number_float(number_float_t value, const string_t&) override { return number(value); }
  bool string(string_t& value) override {
    if (in_event(1)) {
      if (key_ == "ph") event_.phase = value;
      if (key_ == "cat") event_.category = value;
      if (key_ == "name") event_.name = value;
      if (key_ == "ts") event_.ts = parsed(value);  // some writers quote their numbers
      if (key_ == "dur") event_.dur = parsed(value);
    }
    return true;
  }
  bool binary(binary_t&) override { return true; }
  bool start_object(std::size_t) override {
    if (deep()) return false;
    if (depth_ == 0) is_object_ = true;
    ++depth_;
    if (in_events_ && depth_ == 3) event_ = {};
    if (in_events_ && depth_ == 4) in_arguments_ = key_ == "args";
    if (!in_events_ && depth_ == 2) section_ = key_;
    return true;
  }
  bool end_object() override {
    if (in_events_ && depth_ == 3) take();
    if (depth_ == 4) in_arguments_ = false;
    --depth_;
    return true;
  }
  bool start_array(std::size_t) override {
    if (deep()) return false;
    if (depth_ == 1 && key_ == "traceEvents") in_events_ = found_ = true;
    ++depth_;
    return true;
  }
  bool end_array() override {
    --depth_;
    if (depth_ == 1) in_events_ = false;
    return true;
  }
  bool key(string_t& value) override {
    key_ = value;
    return true;
  }
  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::detail::exception& problem) override {
    (void)problem;
    error_ = fmt::format("byte {}: not JSON", position);
    return false;
  }

  Result<Trace> result() {
    if (!error_.empty()) return Error::bad_input(error_);
    if (!is_object_ || !found_) {
      return Error::bad_input("no list traceEvents: not a trace of PyTorch's profiler");
    }
    use_host_threads_without_device();
    sort();
    return std::move(trace_);
  }

 private:
  bool deep() {
    if (depth_ < kMostDepth) return false;
    error_ = fmt::format("nested deeper than {} levels", kMostDepth);
    return true;
  }
  // `level` 1: a member of the event itself; 2: of its arguments.
  bool in_event(std::size_t level) const {
    return in_events_ && depth_ == 2 + level && (level == 1 || in_arguments_);
  }
  static double parsed(const std::string& text) {
    double value = NAN;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
  }
  bool number(double value) {
    if (in_event(1)) {
      if (key_ == "ts") event_.ts = value;
      if (key_ == "dur") event_.dur = value;
      if (key_ == "tid") event_.thread = whole(value);
    } else if (in_event(2) && key_ == "correlation") {
      event_.correlation = whole(value);
    } else if (!in_events_ && depth_ == 2 && section_ == "distributedInfo" && key_ == "rank") {
      trace_.rank = whole(value);
    }
    return true;
  }
  static std::int64_t whole(double value) {
    constexpr double kMost = 9e18;
    return std::abs(value) < kMost ? static_cast<std::int64_t>(value) : 0;
  }

  void take() {
    if (event_.phase != "X") return;
    const Interval when{event_.ts, event_.ts + event_.dur};
    if (!std::isfinite(when.begin) || !std::isfinite(when.end) || event_.dur < 0) {
      ++trace_.skipped;
      return;
    }
    if (is(event_, {"kernel", "Kernel"})) {
      device(when, kind_of_kernel(event_.name));
    } else if (is(event_, {"gpu_memcpy", "gpu_memset", "Memcpy", "Memset"})) {
      device(when, kind_of_copy(event_.name));
    } else if (is(event_, {"cuda_runtime", "cuda_driver", "Runtime"})) {
      if (event_.correlation != 0) trace_.launches.emplace(event_.correlation, when);
    } else if (is(event_, {"user_annotation", "gpu_user_annotation"})) {
      annotation(when);
    } else if (is(event_, {"cpu_op", "Operator"})) {
      host_.push_back({when, Kind::compute, false, event_.thread});
    }
  }
  void device(const Interval& when, Kind kind) {
    trace_.events.push_back({when, kind, is_send_receive(event_.name), event_.correlation});
  }
  void annotation(const Interval& when) {
    const std::int64_t step = step_number(event_.name, marker_);
    if (step >= 0) {
      auto& steps = event_.category == "user_annotation" ? trace_.host_steps : trace_.device_steps;
      steps.push_back({step, when});
    } else if (event_.name.starts_with("gloo:") || event_.name.starts_with("mpi:")) {
      host_.push_back({when, Kind::communication, is_send_receive(event_.name), 0});
    }
  }
  // Training on a CPU: its threads take the part of streams, collectives run on their own.
  void use_host_threads_without_device() {
    if (!trace_.events.empty()) return;
    trace_.host_only = true;
    trace_.events = std::move(host_);
    for (DeviceEvent& event : trace_.events) event.correlation = 0;
  }
  void sort() {
    const auto by_begin = [](const auto& a, const auto& b) { return a.when.begin < b.when.begin; };
    std::sort(trace_.events.begin(), trace_.events.end(), by_begin);
    std::sort(trace_.host_steps.begin(), trace_.host_steps.end(), by_begin);
    std::sort(trace_.device_steps.begin(), trace_.device_steps.end(), by_begin);
  }

  Trace trace_;
  std::vector<DeviceEvent> host_;
  Event event_;
  std::string key_, section_, error_;
  std::string_view marker_;
  std::size_t depth_ = 0;
  bool in_events_ = false, in_arguments_ = false, found_ = false, is_object_ = false;
};

}  // namespace

std::int64_t step_number(std::string_view name, std::string_view marker) {
  if (marker.empty() || !name.starts_with(marker)) return -1;
  const std::size_t digits = name.find_first_of("0123456789", marker.size());
  if (digits == std::string_view::npos) return -1;
  std::int64_t number = -1;
  std::from_chars(name.data() + digits, name.data() + name.size(), number);
  return number;
}

Result<Trace> read_kineto(const std::string& text, const std::string& step_marker) {
  Reader reader(step_marker.empty() ? kDefaultMarker : std::string_view(step_marker));
  Json::sax_parse(text, &reader);
  return reader.result();
}

}  // namespace setpoint::profile
