#include "poet/study/store.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sqlite3.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string>
#include <system_error>
#include <type_traits>

#include "poet/base/error.h"
#include "poet/base/write_file.h"

namespace poet {
namespace {

constexpr int kApplication = 0x504f4554;  // "POET", in the file's header
constexpr int kFormat = 4;
struct LaterColumn {
  int since;  // the format
  const char* column;
};
/// Columns that format 1 did not have.
constexpr LaterColumn kLaterColumns[] = {
    {2, "split TEXT"},
    {2, "paged_persistent_values INTEGER"},
    {3, "part_bytes INTEGER"},
    {3, "ops INTEGER"},
    {3, "bytes_read INTEGER"},
    {3, "least_bytes_read INTEGER"},
    {3, "least_bytes_written INTEGER"},
    {3, "least_bytes_moved INTEGER"},
    {3, "endurance_steps REAL"},
    {4, "accumulate INTEGER"},
    {4, "clip_norm REAL"},
    {4, "label_smoothing REAL"},
    {4, "precision TEXT"},
};
constexpr int kBusyMilliseconds = 30'000;  // a reader holds its lock for as long as its query lasts

const char* sql_type(const std::string&) { return "TEXT NOT NULL"; }
const char* sql_type(double) { return "REAL NOT NULL"; }
const char* sql_type(const std::optional<std::string>&) { return "TEXT"; }
const char* sql_type(const std::optional<double>&) { return "REAL"; }
const char* sql_type(const std::optional<std::int64_t>&) { return "INTEGER"; }

/// CREATE TABLE, or with placeholders INSERT, or SELECT: `part` of each field, separated by commas.
template <class Part>
std::string for_columns(const Part& part) {
  std::string text;
  const SweepResult any;
  visit_fields(any, [&](const char* name, const auto& field) {
    text += (text.empty() ? "" : ", ") + part(std::string(name), sql_type(field));
  });
  return text;
}

std::string create_table() {
  const auto column = [](const std::string& name, const char* type) {
    return name + " " + (name == "key" ? "TEXT NOT NULL PRIMARY KEY" : type);
  };
  return "CREATE TABLE points (" + for_columns(column) + ") STRICT";
}

std::string column_names() {
  return for_columns([](const std::string& name, const char*) { return name; });
}

std::string placeholders() {
  return for_columns([](const std::string&, const char*) { return std::string("?"); });
}

[[noreturn]] void refuse(const std::filesystem::path& file, int error) {
  throw InputError(file.string(), std::string("cannot be opened for writing: ") + std::strerror(error));
}

void check_writable(const std::filesystem::path& file) {
  std::error_code ignored;
  if (std::filesystem::is_directory(file, ignored)) refuse(file, EISDIR);
  if (access(file.c_str(), W_OK) != 0 && errno != ENOENT) refuse(file, errno);
}

/// Excludes other sweeps from a store during its lifetime; readers are not affected. It locks STORE-lock,
/// which it removes at its end, since closing any descriptor of the database would release SQLite's own locks
/// in this process (sqlite.org/howtocorrupt.html, 2.2). The system releases the lock when the process ends.
class WriterLock {
 public:
  explicit WriterLock(const std::filesystem::path& file) : name_(behind_links(file).string() + "-lock") {
    check_writable(file);
    do lock(file);
    while (!is_current());
  }
  ~WriterLock() {
    unlink(name_.c_str());  // while it is locked: lock() notices
    close(descriptor_);
  }
  WriterLock(const WriterLock&) = delete;
  WriterLock& operator=(const WriterLock&) = delete;
  WriterLock(WriterLock&&) = delete;
  WriterLock& operator=(WriterLock&&) = delete;

 private:
  void lock(const std::filesystem::path& file) {
    descriptor_ = open(name_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (descriptor_ < 0) refuse(file, errno);
    if (flock(descriptor_, LOCK_EX | LOCK_NB) == 0) return;
    const int error = errno;
    close(descriptor_);
    if (error == EWOULDBLOCK)
      throw InputError(file.string(), "is in use by another sweep; wait for its end or name another store");
    throw InputError(file.string(), std::string("cannot be locked: ") + std::strerror(error));
  }

  /// False, and closes the descriptor, if another sweep removed the file between open() and flock().
  [[nodiscard]] bool is_current() const {
    struct stat locked {};
    struct stat named {};
    if (fstat(descriptor_, &locked) == 0 && stat(name_.c_str(), &named) == 0 &&
        locked.st_dev == named.st_dev && locked.st_ino == named.st_ino)
      return true;
    close(descriptor_);
    return false;
  }

  std::string name_;
  int descriptor_ = -1;
};

}  // namespace

class ResultsStore::Database {
 public:
  explicit Database(const std::filesystem::path& file) : file_(file.string()), lock_(file) {
    const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
    sqlite3* opened = nullptr;
    const int code = sqlite3_open_v2(file_.c_str(), &opened, flags, nullptr);
    handle_.reset(opened);  // there is one even when opening failed
    check(code);
    sqlite3_busy_timeout(handle_.get(), kBusyMilliseconds);
    // The rollback journal: one file, on network file systems too. FULL: a row is on the disk when put()
    // returns.
    run("PRAGMA synchronous = FULL");
    prepare_format();
  }
  ~Database() {
    for (sqlite3_stmt* statement : {insert_, select_, count_}) sqlite3_finalize(statement);
  }
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;
  Database(Database&&) = delete;
  Database& operator=(Database&&) = delete;

  void put(const SweepResult& result, const std::string& plan) {
    if (plan.empty() && !has_plans()) return put_row(result);
    run("BEGIN IMMEDIATE");
    try {
      run("CREATE TABLE IF NOT EXISTS plans (key TEXT NOT NULL PRIMARY KEY, plan BLOB NOT NULL) STRICT");
      put_row(result);
      put_plan(result.key, plan);
      run("COMMIT");
    } catch (...) {
      sqlite3_exec(handle_.get(), "ROLLBACK", nullptr, nullptr, nullptr);
      throw;
    }
  }

  void put_row(const SweepResult& result) {
    sqlite3_stmt* statement = ready(
        insert_, "INSERT OR REPLACE INTO points (" + column_names() + ") VALUES (" + placeholders() + ")");
    int column = 0;
    visit_fields(result, [&](const char*, const auto& field) { check(bind(statement, ++column, field)); });
    const int code = sqlite3_step(statement);
    sqlite3_reset(statement);  // ends the transaction
    if (code != SQLITE_DONE) fail();
  }

  /// `what` of a plan, as bytes; empty where there is none.
  std::string of_plan(const char* what, const std::string& key) {
    if (!has_plans()) return {};
    sqlite3_stmt* statement = prepare(fmt::format("SELECT {} FROM plans WHERE key = ?", what));
    int code = bind(statement, 1, key);
    if (code == SQLITE_OK) code = sqlite3_step(statement);
    std::string found;
    if (code == SQLITE_ROW) {
      const void* bytes = sqlite3_column_blob(statement, 0);
      const auto size = static_cast<std::size_t>(sqlite3_column_bytes(statement, 0));
      if (size > 0) found.assign(static_cast<const char*>(bytes), size);
    }
    sqlite3_finalize(statement);
    if (code != SQLITE_ROW && code != SQLITE_DONE) fail();
    return found;
  }

  std::optional<SweepResult> find(const std::string& key) {
    sqlite3_stmt* statement = ready(select_, "SELECT " + column_names() + " FROM points WHERE key = ?");
    check(bind(statement, 1, key));
    const int code = sqlite3_step(statement);
    std::optional<SweepResult> found;
    if (code == SQLITE_ROW) {
      found.emplace();
      int column = 0;
      visit_fields(*found, [&](const char*, auto& field) { get(statement, column++, field); });
    }
    sqlite3_reset(statement);
    if (code != SQLITE_ROW && code != SQLITE_DONE) fail();
    return found;
  }

  std::size_t size() {
    sqlite3_stmt* statement = ready(count_, "SELECT count(*) FROM points");
    if (sqlite3_step(statement) != SQLITE_ROW) fail();
    const auto rows = static_cast<std::size_t>(sqlite3_column_int64(statement, 0));
    sqlite3_reset(statement);
    return rows;
  }

 private:
  [[noreturn]] void fail() const {
    const int code = sqlite3_errcode(handle_.get());
    if (code == SQLITE_NOTADB) throw InputError(file_, "is not a results store (not an SQLite file)");
    if (code == SQLITE_BUSY) throw InputError(file_, "is locked by another program");
    throw InputError(file_, std::string("as a results store: ") + sqlite3_errmsg(handle_.get()));
  }
  void check(int code) const {
    if (code != SQLITE_OK) fail();
  }
  void run(const std::string& sql) const {
    check(sqlite3_exec(handle_.get(), sql.c_str(), nullptr, nullptr, nullptr));
  }

  sqlite3_stmt* prepare(const std::string& sql) const {
    sqlite3_stmt* statement = nullptr;
    check(sqlite3_prepare_v2(handle_.get(), sql.c_str(), -1, &statement, nullptr));
    return statement;
  }
  sqlite3_stmt* ready(sqlite3_stmt*& statement, const std::string& sql) const {
    if (statement == nullptr) statement = prepare(sql);
    return statement;
  }

  [[nodiscard]] std::int64_t number(const std::string& sql) const {
    sqlite3_stmt* statement = prepare(sql);
    const int code = sqlite3_step(statement);
    const std::int64_t out = code == SQLITE_ROW ? sqlite3_column_int64(statement, 0) : 0;
    sqlite3_finalize(statement);
    if (code != SQLITE_ROW) fail();
    return out;
  }

  /// The table comes with the first plan: a store without any is as it was before plans were kept.
  [[nodiscard]] bool has_plans() const {
    return number("SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = 'plans'") > 0;
  }

  /// In the place of one of the same key; an empty one: none.
  void put_plan(const std::string& key, const std::string& plan) const {
    sqlite3_stmt* statement =
        prepare(plan.empty() ? "DELETE FROM plans WHERE key = ?"
                             : "INSERT OR REPLACE INTO plans (key, plan) VALUES (?, ?)");
    int code = bind(statement, 1, key);
    if (code == SQLITE_OK && !plan.empty())
      code = sqlite3_bind_blob64(statement, 2, plan.data(), plan.size(), SQLITE_STATIC);
    if (code == SQLITE_OK) code = sqlite3_step(statement);
    sqlite3_finalize(statement);
    if (code != SQLITE_DONE) fail();
  }

  /// A new file gets its table, a known one is used, anything else is left alone.
  void prepare_format() const {
    const std::int64_t application = number("PRAGMA application_id");
    const std::int64_t format = number("PRAGMA user_version");
    if (application == kApplication && format == kFormat) return;
    if (application == kApplication && format >= 1 && format < kFormat) {
      run("BEGIN IMMEDIATE");
      for (const auto& [since, column] : kLaterColumns)
        if (since > format) run(fmt::format("ALTER TABLE points ADD COLUMN {}", column));
      run(fmt::format("PRAGMA user_version = {}", kFormat));
      run("COMMIT");
      return;
    }
    if (application == kApplication)
      throw InputError(file_,
                       fmt::format("is a results store of format {}; this poet knows {}", format, kFormat));
    if (application != 0 || format != 0 || number("SELECT count(*) FROM sqlite_master") != 0)
      throw InputError(file_, "is an SQLite file of another program, not a results store");
    run("BEGIN IMMEDIATE");
    run(create_table());
    run(fmt::format("PRAGMA application_id = {}", kApplication));
    run(fmt::format("PRAGMA user_version = {}", kFormat));
    run("COMMIT");
  }

  static int bind(sqlite3_stmt* statement, int column, const std::string& text) {
    return sqlite3_bind_text(statement, column, text.data(), static_cast<int>(text.size()), SQLITE_TRANSIENT);
  }
  static int bind(sqlite3_stmt* statement, int column, double number) {
    return sqlite3_bind_double(statement, column, number);
  }
  static int bind(sqlite3_stmt* statement, int column, std::int64_t number) {
    return sqlite3_bind_int64(statement, column, number);
  }
  template <class T>
  static int bind(sqlite3_stmt* statement, int column, const std::optional<T>& value) {
    return value ? bind(statement, column, *value) : sqlite3_bind_null(statement, column);
  }

  static void get(sqlite3_stmt* statement, int column, std::string& text) {
    const unsigned char* bytes = sqlite3_column_text(statement, column);
    const auto size = static_cast<std::size_t>(sqlite3_column_bytes(statement, column));
    text.assign(bytes, bytes + size);
  }
  static void get(sqlite3_stmt* statement, int column, double& number) {
    number = sqlite3_column_double(statement, column);
  }
  static void get(sqlite3_stmt* statement, int column, std::int64_t& number) {
    number = sqlite3_column_int64(statement, column);
  }
  template <class T>
  static void get(sqlite3_stmt* statement, int column, std::optional<T>& value) {
    value.reset();
    if (sqlite3_column_type(statement, column) != SQLITE_NULL) get(statement, column, value.emplace());
  }

  std::string file_;
  WriterLock lock_;  // released after the database is closed
  std::unique_ptr<sqlite3, int (*)(sqlite3*)> handle_{nullptr, sqlite3_close};
  sqlite3_stmt* insert_ = nullptr;
  sqlite3_stmt* select_ = nullptr;
  sqlite3_stmt* count_ = nullptr;
};

ResultsStore::ResultsStore(const std::filesystem::path& file) : database_(std::make_unique<Database>(file)) {}
ResultsStore::~ResultsStore() = default;
std::optional<SweepResult> ResultsStore::find(const std::string& key) { return database_->find(key); }
void ResultsStore::put(const SweepResult& result, const std::string& plan) { database_->put(result, plan); }
std::string ResultsStore::plan(const std::string& key) { return database_->of_plan("plan", key); }
bool ResultsStore::has_plan(const std::string& key) { return !database_->of_plan("1", key).empty(); }
std::size_t ResultsStore::size() { return database_->size(); }

}  // namespace poet
