// SPDX-License-Identifier: Apache-2.0
// SQLite with Result and without raw handles. Statements borrow their database.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "setpoint/result.h"

struct sqlite3;
struct sqlite3_stmt;

namespace setpoint::base {

class Statement {
 public:
  // Parameters count from 1, columns from 0. Text and BLOBs must live until the next reset().
  Statement& bind(int index, std::int64_t value);
  Statement& bind(int index, std::string_view value);
  Statement& bind(int index, std::span<const std::byte> value);

  Result<bool> step();  // true: a row is there
  Result<void> run();   // to the end, then reset
  void reset();         // also forgets the parameters

  std::int64_t integer(int column) const;
  std::string text(int column) const;
  std::span<const std::byte> blob(int column) const;  // until the next step or reset

 private:
  friend class Database;
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const;
  };
  explicit Statement(sqlite3_stmt* statement) : statement_(statement) {}
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
};

class Database {
 public:
  // Immutable: no locks, no journal. The file must not be changed in place while it is open
  // (replacing it by rename is fine: this connection keeps the old one).
  static Result<Database> open_immutable(const std::filesystem::path& file);
  static Result<Database> open(const std::filesystem::path& file);  // read and write, created

  Result<Statement> prepare(std::string_view sql) const;
  Result<void> execute(const std::string& sql) const;

 private:
  struct Close {
    void operator()(sqlite3* database) const;
  };
  static Result<Database> open_uri(const std::filesystem::path& file, const char* query, int flags);
  Database(sqlite3* database, std::string name) : database_(database), name_(std::move(name)) {}
  Error error() const;
  std::unique_ptr<sqlite3, Close> database_;
  std::string name_;
};

}  // namespace setpoint::base
