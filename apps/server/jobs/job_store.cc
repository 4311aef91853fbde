#include "apps/server/jobs/job_store.h"

#include <algorithm>

#include "poet/base/error.h"

namespace poet::server {
namespace {

constexpr int kFormat = 1;

constexpr const char* kTables = R"sql(
CREATE TABLE IF NOT EXISTS jobs (
  id TEXT NOT NULL PRIMARY KEY,
  kind TEXT NOT NULL,
  request TEXT NOT NULL,
  client TEXT NOT NULL,
  state TEXT NOT NULL,
  turn INTEGER NOT NULL,
  attempts INTEGER NOT NULL DEFAULT 0,
  cancel INTEGER NOT NULL DEFAULT 0,
  owner TEXT NOT NULL DEFAULT '',
  lease REAL NOT NULL DEFAULT 0,
  submitted REAL NOT NULL,
  started REAL NOT NULL DEFAULT 0,
  finished REAL NOT NULL DEFAULT 0,
  version INTEGER NOT NULL,
  progress TEXT NOT NULL DEFAULT '',
  result TEXT NOT NULL DEFAULT '',
  error TEXT NOT NULL DEFAULT '',
  plan BLOB,
  schedule BLOB
) STRICT;
CREATE INDEX IF NOT EXISTS jobs_in_turn ON jobs (state, turn, submitted);
CREATE INDEX IF NOT EXISTS jobs_changed ON jobs (version);
CREATE INDEX IF NOT EXISTS jobs_of_client ON jobs (client, state, turn);
CREATE INDEX IF NOT EXISTS jobs_by_time ON jobs (submitted);
CREATE TABLE IF NOT EXISTS meta (name TEXT NOT NULL PRIMARY KEY, value INTEGER NOT NULL) STRICT;
)sql";

constexpr const char* kColumns =
    "id, kind, request, client, state, version, attempts, submitted, started, finished, progress, result, "
    "error, plan IS NOT NULL, ";
constexpr const char* kColumnsButResult =
    "id, kind, request, client, state, version, attempts, submitted, started, finished, progress, '', error, "
    "plan IS NOT NULL, ";
constexpr const char* kColumnsInShort =
    "id, kind, request, client, state, version, attempts, submitted, started, finished, progress, '', '', "
    "plan IS NOT NULL, ";
constexpr const char* kAhead =
    "CASE WHEN state = 'queued' THEN (SELECT count(*) FROM jobs AS other WHERE other.state = 'queued' AND "
    "(other.turn < jobs.turn OR other.turn = jobs.turn AND other.submitted < jobs.submitted)) ELSE 0 END ";

JobState state_named(const std::string& name) {
  for (const JobState state :
       {JobState::queued, JobState::running, JobState::done, JobState::failed, JobState::cancelled})
    if (name == to_string(state)) return state;
  throw InputError("jobs.sqlite", "has a job that is \"" + name + "\"");
}

Job job_of(const Statement& row) {
  Job job;
  job.order = {row.text(0), row.text(1), row.text(2), row.text(3)};
  job.state = state_named(row.text(4));
  job.version = row.integer(5);
  job.attempts = static_cast<int>(row.integer(6));
  job.submitted = row.number(7);
  job.started = row.number(8);
  job.finished = row.number(9);
  job.progress = row.text(10);
  job.result = row.text(11);
  job.error = row.text(12);
  job.has_plan = row.integer(13) != 0;
  job.ahead = row.integer(14);
  return job;
}

}  // namespace

const char* to_string(JobState state) {
  switch (state) {
    case JobState::queued:
      return "queued";
    case JobState::running:
      return "running";
    case JobState::done:
      return "done";
    case JobState::failed:
      return "failed";
    case JobState::cancelled:
      return "cancelled";
  }
  throw InternalError("a job is in one of its states");
}

JobStore::JobStore(const std::filesystem::path& folder, QueueLimits limits, std::function<double()> now)
    : limits_(limits),
      now_(std::move(now)),
      database_(folder / "jobs.sqlite"),
      readable_(folder / "jobs.sqlite") {
  Transaction transaction(database_);
  std::int64_t format = 0;
  {
    Statement statement = database_.prepare("PRAGMA user_version");
    if (statement.next()) format = statement.integer(0);
  }
  if (format != 0 && format != kFormat)
    throw InputError((folder / "jobs.sqlite").string(),
                     "is of another version of poet; give another --data folder");
  database_.execute(kTables);
  database_.execute("PRAGMA user_version = 1");
  transaction.commit();
}

std::int64_t JobStore::meta(std::string_view name) {
  Statement statement = database_.prepare("SELECT value FROM meta WHERE name = ?");
  return statement.bind(name).next() ? statement.integer(0) : 0;
}

void JobStore::set_meta(std::string_view name, std::int64_t value) {
  database_
      .prepare("INSERT INTO meta (name, value) VALUES (?1, ?2) ON CONFLICT (name) DO UPDATE SET value = ?2")
      .bind(name)
      .bind(value)
      .run();
}

std::int64_t JobStore::next_version() {
  const std::int64_t version = meta("version") + 1;
  set_meta("version", version);
  return version;
}

Job JobStore::submit(const Order& order) {
  const auto is_to_do = [](JobState state) {
    return state == JobState::failed || state == JobState::cancelled;
  };
  // Mostly it is there already, which takes no turn at writing.
  if (std::optional<Job> known = find(order.id); known && !is_to_do(known->state)) return *std::move(known);
  {
    const std::scoped_lock lock(mutex_);
    Transaction transaction(database_);
    Statement known = database_.prepare("SELECT state FROM jobs WHERE id = ?");
    const bool is_known = known.bind(order.id).next();
    const JobState state = is_known ? state_named(known.text(0)) : JobState::cancelled;
    if (is_to_do(state)) {
      Statement counts =
          database_.prepare("SELECT count(*), coalesce(sum(client = ?), 0) FROM jobs WHERE state = 'queued'");
      counts.bind(order.client).next();
      if (counts.integer(1) >= static_cast<std::int64_t>(limits_.jobs_of_client))
        throw QueueFull{true, counts.integer(1)};
      // Who has none queued is not kept out by a few who fill the queue.
      const std::size_t most = (counts.integer(1) > 0 ? 1 : 2) * limits_.jobs;
      if (counts.integer(0) >= static_cast<std::int64_t>(most)) throw QueueFull{false, counts.integer(0)};
      Statement latest = database_.prepare(
          "SELECT coalesce(max(turn), -1) FROM jobs WHERE client = ? AND state IN ('queued', 'running')");
      latest.bind(order.client).next();
      const std::int64_t turn = std::max(meta("turn"), latest.integer(0) + 1);
      database_
          .prepare(
              "INSERT OR REPLACE INTO jobs (id, kind, request, client, state, turn, submitted, version) "
              "VALUES (?, ?, ?, ?, 'queued', ?, ?, ?)")
          .bind(order.id)
          .bind(order.kind)
          .bind(order.request)
          .bind(order.client)
          .bind(turn)
          .bind(now_())
          .bind(next_version())
          .run();
    }
    transaction.commit();
  }
  return find(order.id).value();
}

std::optional<Job> JobStore::find(const std::string& id) { return read(kColumns, id); }

std::optional<Job> JobStore::look(const std::string& id) { return read(kColumnsButResult, id); }

std::optional<Job> JobStore::read(const char* columns, const std::string& id) {
  const std::scoped_lock lock(reading_);
  Statement statement =
      readable_.prepare(std::string("SELECT ") + columns + kAhead + "FROM jobs WHERE id = ?");
  if (!statement.bind(id).next()) return std::nullopt;
  return job_of(statement);
}

std::vector<Job> JobStore::list(const std::string& client, const std::string& state, double before,
                                std::size_t most) {
  const std::scoped_lock lock(reading_);
  Statement statement = readable_.prepare(
      std::string("SELECT ") + kColumnsInShort + kAhead +
      "FROM jobs WHERE submitted < ?1 AND (?2 = '' OR client = ?2) AND (?3 = '' OR state = ?3) "
      "ORDER BY submitted DESC, id LIMIT ?4");
  statement.bind(before).bind(client).bind(state).bind(static_cast<std::int64_t>(most));
  std::vector<Job> jobs;
  while (statement.next()) jobs.push_back(job_of(statement));
  return jobs;
}

std::string JobStore::plan(const std::string& id) {
  const std::scoped_lock lock(reading_);
  Statement statement = readable_.prepare("SELECT plan FROM jobs WHERE id = ?");
  return statement.bind(id).next() ? statement.text(0) : std::string();
}

std::string JobStore::schedule(const std::string& id) {
  const std::scoped_lock lock(reading_);
  Statement statement = readable_.prepare("SELECT schedule FROM jobs WHERE id = ?");
  return statement.bind(id).next() ? statement.text(0) : std::string();
}

JobStore::Load JobStore::load() {
  const std::scoped_lock lock(reading_);
  Statement statement = readable_.prepare(
      "SELECT (SELECT count(*) FROM jobs WHERE state = 'queued'), (SELECT count(*) FROM jobs WHERE state = "
      "'running')");
  statement.next();
  return {statement.integer(0), statement.integer(1)};
}

bool JobStore::cancel(const std::string& id) {
  const std::scoped_lock lock(mutex_);
  Transaction transaction(database_);
  database_.prepare("UPDATE jobs SET cancel = 1 WHERE id = ? AND state IN ('queued', 'running')")
      .bind(id)
      .run();
  const bool found = database_.changed_rows() > 0;
  if (found)
    database_
        .prepare(
            "UPDATE jobs SET state = 'cancelled', finished = ?, version = ? WHERE id = ? AND state = "
            "'queued'")
        .bind(now_())
        .bind(next_version())
        .bind(id)
        .run();
  transaction.commit();
  return found;
}

std::vector<Change> JobStore::changes_since(std::int64_t version) {
  const std::scoped_lock lock(reading_);
  Statement statement = readable_.prepare("SELECT id, version FROM jobs WHERE version > ? ORDER BY version");
  statement.bind(version);
  std::vector<Change> changes;
  while (statement.next()) changes.push_back({statement.text(0), statement.integer(1)});
  return changes;
}

std::int64_t JobStore::version() {
  const std::scoped_lock lock(reading_);
  Statement statement = readable_.prepare("SELECT value FROM meta WHERE name = 'version'");
  return statement.next() ? statement.integer(0) : 0;
}

std::int64_t JobStore::forget(double before) {
  const std::scoped_lock lock(mutex_);
  database_.prepare("DELETE FROM jobs WHERE state IN ('done', 'failed', 'cancelled') AND finished < ?")
      .bind(before)
      .run();
  return database_.changed_rows();
}

}  // namespace poet::server
