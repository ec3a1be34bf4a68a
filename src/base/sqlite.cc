// SPDX-License-Identifier: Apache-2.0
#include "base/sqlite.h"

#include <fmt/format.h>
#include <sqlite3.h>

namespace setpoint::base {
namespace {

// A file name inside a SQLite URI: everything but plain characters becomes %XX.
std::string uri_escaped(const std::string& path) {
  std::string out;
  for (const char c : path) {
    const bool plain = (std::isalnum(static_cast<unsigned char>(c)) != 0) ||
                       std::string_view("/._-").find(c) != std::string_view::npos;
    out += plain ? std::string(1, c) : fmt::format("%{:02x}", static_cast<unsigned char>(c));
  }
  return out;
}

}  // namespace

void Statement::Finalize::operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }

Statement& Statement::bind(int index, std::int64_t value) {
  sqlite3_bind_int64(statement_.get(), index, value);
  return *this;
}

Statement& Statement::bind(int index, std::string_view value) {
  sqlite3_bind_text(statement_.get(), index, value.data(), static_cast<int>(value.size()),
                    SQLITE_STATIC);
  return *this;
}

Statement& Statement::bind(int index, std::span<const std::byte> value) {
  sqlite3_bind_blob64(statement_.get(), index, value.data(), value.size(), SQLITE_STATIC);
  return *this;
}

Result<bool> Statement::step() {
  const int code = sqlite3_step(statement_.get());
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  sqlite3* const database = sqlite3_db_handle(statement_.get());
  const char* const name = sqlite3_db_filename(database, "main");
  return Error::bad_input(
      fmt::format("{}: {}", name != nullptr ? name : "database", sqlite3_errmsg(database)));
}

Result<void> Statement::run() {
  for (;;) {
    SP_TRY(const bool row, step());
    if (!row) break;
  }
  reset();
  return {};
}

void Statement::reset() {
  sqlite3_reset(statement_.get());
  sqlite3_clear_bindings(statement_.get());
}

std::int64_t Statement::integer(int column) const {
  return sqlite3_column_int64(statement_.get(), column);
}

std::string Statement::text(int column) const {
  const auto* const text = sqlite3_column_text(statement_.get(), column);
  const int size = sqlite3_column_bytes(statement_.get(), column);
  if (text == nullptr) return {};
  return {reinterpret_cast<const char*>(text), static_cast<std::size_t>(size)};
}

std::span<const std::byte> Statement::blob(int column) const {
  const void* const data = sqlite3_column_blob(statement_.get(), column);
  const int size = sqlite3_column_bytes(statement_.get(), column);
  return {static_cast<const std::byte*>(data), static_cast<std::size_t>(size)};
}

void Database::Close::operator()(sqlite3* database) const { sqlite3_close_v2(database); }

Error Database::error() const {
  return Error::bad_input(fmt::format("{}: {}", name_, sqlite3_errmsg(database_.get())));
}

Result<Database> Database::open_uri(const std::filesystem::path& file, const char* query,
                                    int flags) {
  sqlite3* raw = nullptr;
  const std::string uri = "file:" + uri_escaped(std::filesystem::absolute(file).string()) + query;
  const int code = sqlite3_open_v2(uri.c_str(), &raw, flags | SQLITE_OPEN_URI, nullptr);
  Database database(raw, file.string());
  if (code != SQLITE_OK) return database.error();
  return database;
}

Result<Database> Database::open_immutable(const std::filesystem::path& file) {
  return open_uri(file, "?immutable=1", SQLITE_OPEN_READONLY);
}

Result<Database> Database::open(const std::filesystem::path& file) {
  return open_uri(file, "", SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
}

Result<Statement> Database::prepare(std::string_view sql) const {
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v3(database_.get(), sql.data(), static_cast<int>(sql.size()),
                         SQLITE_PREPARE_PERSISTENT, &statement, nullptr) != SQLITE_OK) {
    return error();
  }
  return Statement(statement);
}

Result<void> Database::execute(const std::string& sql) const {
  if (sqlite3_exec(database_.get(), sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) {
    return error();
  }
  return {};
}

}  // namespace setpoint::base
