#include "apps/server/jobs/database.h"

#include <sqlite3.h>

#include <chrono>
#include <thread>

#include "apps/server/jobs/storage_error.h"
#include "poet/base/error.h"

namespace poet::server {
namespace {

constexpr int kBusyMilliseconds = 10'000;  // another server's transaction lasts a moment

[[noreturn]] void fail_at(sqlite3* database) {
  const char* file = database != nullptr ? sqlite3_db_filename(database, "main") : nullptr;
  throw StorageError(std::string(file != nullptr ? file : "the job store") + ": " + sqlite3_errmsg(database));
}

/// Of servers that start together on a new file SQLite lets one do this, and does not wait for the others by
/// itself.
void use_write_ahead_log(sqlite3* database) {
  constexpr std::chrono::milliseconds kPause{10};
  for (int waited = 0;; waited += static_cast<int>(kPause.count())) {
    const int code = sqlite3_exec(database, "PRAGMA journal_mode = WAL", nullptr, nullptr, nullptr);
    if (code == SQLITE_OK) return;
    if (code != SQLITE_BUSY || waited > kBusyMilliseconds) fail_at(database);
    std::this_thread::sleep_for(kPause);
  }
}

}  // namespace

Statement::Statement(sqlite3* database, std::string_view sql) : database_(database) {
  if (sqlite3_prepare_v2(database_, sql.data(), static_cast<int>(sql.size()), &statement_, nullptr) !=
      SQLITE_OK)
    fail();
}

Statement::~Statement() { sqlite3_finalize(statement_); }

Statement& Statement::bind(std::string_view text) {
  if (sqlite3_bind_text64(statement_, ++bound_, text.data(), text.size(), SQLITE_TRANSIENT, SQLITE_UTF8) !=
      SQLITE_OK)
    fail();
  return *this;
}

Statement& Statement::bind(std::int64_t number) {
  if (sqlite3_bind_int64(statement_, ++bound_, number) != SQLITE_OK) fail();
  return *this;
}

Statement& Statement::bind(double number) {
  if (sqlite3_bind_double(statement_, ++bound_, number) != SQLITE_OK) fail();
  return *this;
}

Statement& Statement::bind_blob(std::string_view bytes) {
  const int code =
      bytes.empty() ? sqlite3_bind_null(statement_, ++bound_)
                    : sqlite3_bind_blob64(statement_, ++bound_, bytes.data(), bytes.size(), SQLITE_TRANSIENT);
  if (code != SQLITE_OK) fail();
  return *this;
}

bool Statement::next() {
  const int code = sqlite3_step(statement_);
  if (code != SQLITE_ROW && code != SQLITE_DONE) fail();
  return code == SQLITE_ROW;
}

void Statement::run() {
  while (next()) {
  }
}

std::string Statement::text(int column) const {
  const void* bytes = sqlite3_column_blob(statement_, column);
  if (bytes == nullptr) return {};
  return {static_cast<const char*>(bytes),
          static_cast<std::size_t>(sqlite3_column_bytes(statement_, column))};
}

std::int64_t Statement::integer(int column) const { return sqlite3_column_int64(statement_, column); }
double Statement::number(int column) const { return sqlite3_column_double(statement_, column); }
bool Statement::is_null(int column) const { return sqlite3_column_type(statement_, column) == SQLITE_NULL; }

void Statement::fail() const { fail_at(database_); }

Database::Database(const std::filesystem::path& file) {
  if (sqlite3_open_v2(file.c_str(), &database_,
                      SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_FULLMUTEX,
                      nullptr) != SQLITE_OK) {
    const std::string why = sqlite3_errmsg(database_);
    sqlite3_close(database_);
    throw InputError(file.string(), why);
  }
  try {
    sqlite3_busy_timeout(database_, kBusyMilliseconds);
    use_write_ahead_log(database_);
    execute(
        "PRAGMA synchronous = NORMAL");  // a killed process loses nothing; a power failure the latest jobs
  } catch (const StorageError& error) {
    sqlite3_close(database_);
    throw InputError(error.what());
  }
}

Database::~Database() { sqlite3_close(database_); }

void Database::execute(const char* sql) {
  if (sqlite3_exec(database_, sql, nullptr, nullptr, nullptr) != SQLITE_OK) fail_at(database_);
}

Statement Database::prepare(std::string_view sql) { return {database_, sql}; }

std::int64_t Database::changed_rows() const { return sqlite3_changes64(database_); }

Transaction::Transaction(Database& database) : database_(database) { database_.execute("BEGIN IMMEDIATE"); }

Transaction::~Transaction() {
  if (!open_) return;
  try {
    database_.execute("ROLLBACK");
  } catch (const std::exception&) {  // SQLite has done so itself
  }
}

void Transaction::commit() {
  database_.execute("COMMIT");
  open_ = false;
}

}  // namespace poet::server
