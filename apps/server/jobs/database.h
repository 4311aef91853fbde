#pragma once

// SQLite, as the job store uses it.

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

struct sqlite3;
struct sqlite3_stmt;

namespace poet::server {

/// One statement under way. Parameters are bound in order, results read by column.
class Statement {
 public:
  Statement(sqlite3* database, std::string_view sql);
  ~Statement();
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;
  Statement(Statement&&) = delete;
  Statement& operator=(Statement&&) = delete;

  Statement& bind(std::string_view text);
  Statement& bind(std::int64_t number);
  Statement& bind(double number);
  Statement& bind_blob(std::string_view bytes);  // empty: NULL

  /// The next row; false: there is none. Throws InputError where the file cannot be read or written.
  bool next();
  /// Until there is no row.
  void run();

  [[nodiscard]] std::string text(int column) const;  // NULL is empty
  [[nodiscard]] std::int64_t integer(int column) const;
  [[nodiscard]] double number(int column) const;
  [[nodiscard]] bool is_null(int column) const;

 private:
  [[noreturn]] void fail() const;

  sqlite3* database_;
  sqlite3_stmt* statement_ = nullptr;
  int bound_ = 0;
};

/// A file that several processes may have open, in write-ahead mode. For one thread at a time.
class Database {
 public:
  /// Opens or creates it. Throws InputError naming the file.
  explicit Database(const std::filesystem::path& file);
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;
  Database(Database&&) = delete;
  Database& operator=(Database&&) = delete;

  void execute(const char* sql);
  [[nodiscard]] Statement prepare(std::string_view sql);
  [[nodiscard]] std::int64_t changed_rows() const;  // by the latest statement

 private:
  sqlite3* database_ = nullptr;
};

/// All or nothing: what was done since is undone unless commit() is called.
class Transaction {
 public:
  explicit Transaction(Database& database);
  ~Transaction();
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  Transaction(Transaction&&) = delete;
  Transaction& operator=(Transaction&&) = delete;
  void commit();

 private:
  Database& database_;
  bool open_ = true;
};

}  // namespace poet::server
