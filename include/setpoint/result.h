// SPDX-License-Identifier: Apache-2.0
// What can fail returns Result<T>: a value or one Error. Answers such as "infeasible" or "not
// measured" are values of their own, never errors.
#pragma once

#include <cassert>
#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace setpoint {

// The code is the process's exit code for this failure (docs/cli.md).
enum class ErrorCode {
  no = 1,           // the answer is "no": nothing meets the target
  bad_input = 2,    // what the user gave is wrong
  environment = 3,  // a file, the network or another program failed
};

// One line: what is wrong, where, what would be right.
struct Error {
  ErrorCode code = ErrorCode::bad_input;
  std::string text;

  static Error bad_input(std::string text) { return {ErrorCode::bad_input, std::move(text)}; }
  static Error environment(std::string text) { return {ErrorCode::environment, std::move(text)}; }
  // The caller adds where it happened.
  Error at(const std::string& where) const { return {code, where + ": " + text}; }
};

template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::move(value)) {}      // NOLINT(google-explicit-constructor)
  Result(Error error) : state_(std::move(error)) {}  // NOLINT(google-explicit-constructor)

  bool ok() const { return std::holds_alternative<T>(state_); }
  explicit operator bool() const { return ok(); }
  T& value() & { return std::get<T>(state_); }
  const T& value() const& { return std::get<T>(state_); }
  T&& value() && { return std::get<T>(std::move(state_)); }
  const Error& error() const { return std::get<Error>(state_); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

 private:
  std::variant<T, Error> state_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_(std::move(error)) {}  // NOLINT(google-explicit-constructor)
  bool ok() const { return !error_; }
  explicit operator bool() const { return ok(); }
  const Error& error() const { return *error_; }

 private:
  std::optional<Error> error_;
};

}  // namespace setpoint

#define SP_CONCAT2(a, b) a##b
#define SP_CONCAT(a, b) SP_CONCAT2(a, b)
// SP_TRY(auto db, open(path)); binds the value or returns the error to the caller.
#define SP_TRY(decl, expr) SP_TRY_IMPL(SP_CONCAT(sp_result_, __LINE__), decl, expr)
#define SP_TRY_IMPL(tmp, decl, expr) \
  auto tmp = (expr);                 \
  if (!tmp.ok()) return tmp.error(); \
  decl = std::move(tmp).value()
// SP_CHECK(write(path)); passes on the error of a Result<void>.
#define SP_CHECK(expr)                                                   \
  do {                                                                   \
    if (auto sp_check = (expr); !sp_check.ok()) return sp_check.error(); \
  } while (false)
