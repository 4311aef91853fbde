#pragma once

// A wrapper of SQLite for the job store.

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

struct sqlite3;
struct sqlite3_stmt;

namespace poet::server {

/// A prepared statement. Parameters are bound in order, results read by column.
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

  /// Steps to the next row; returns false if there is none. Throws StorageError if the file cannot be read or
  /// written.
  bool next();
  /// Steps until there is no row.
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

/// A database file in write-ahead mode, which several processes may open. Not thread-safe.
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

/// A transaction: rolled back unless commit() is called.
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
