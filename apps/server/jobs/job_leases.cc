// The job store for workers: jobs that run are leased, and what their workers have made of them.

#include <algorithm>

#include "apps/server/jobs/job_store.h"

namespace poet::server {
namespace {

constexpr int kMostAttempts = 3;

}  // namespace

std::optional<Job> JobStore::claim(const std::string& owner, double lease_seconds, bool sweeps) {
  std::string id;
  {
    const std::scoped_lock lock(mutex_);
    Transaction transaction(database_);
    Statement first = database_.prepare(
        "SELECT id, turn FROM jobs WHERE state = 'queued' AND (? OR kind <> 'sweep') ORDER BY turn, "
        "submitted, id LIMIT 1");
    first.bind(std::int64_t{sweeps});
    if (!first.next()) return std::nullopt;
    id = first.text(0);
    set_meta("turn", std::max(meta("turn"), first.integer(1)));
    database_
        .prepare(
            "UPDATE jobs SET state = 'running', owner = ?, lease = ?, attempts = attempts + 1, started = ?, "
            "progress = '', version = ? "
            "WHERE id = ?")
        .bind(owner)
        .bind(now_() + lease_seconds)
        .bind(now_())
        .bind(next_version())
        .bind(id)
        .run();
    transaction.commit();
  }
  return find(id);
}

bool JobStore::renew(const std::string& id, const std::string& owner, double lease_seconds) {
  const std::scoped_lock lock(mutex_);
  database_
      .prepare("UPDATE jobs SET lease = ? WHERE id = ? AND owner = ? AND state = 'running' AND cancel = 0")
      .bind(now_() + lease_seconds)
      .bind(id)
      .bind(owner)
      .run();
  return database_.changed_rows() > 0;
}

void JobStore::progress(const std::string& id, const std::string& owner, const std::string& json) {
  const std::scoped_lock lock(mutex_);
  Transaction transaction(database_);
  database_
      .prepare("UPDATE jobs SET progress = ?, version = ? WHERE id = ? AND owner = ? AND state = 'running'")
      .bind(json)
      .bind(next_version())
      .bind(id)
      .bind(owner)
      .run();
  transaction.commit();
}

bool JobStore::finish(const std::string& id, const std::string& owner, const Outcome& outcome) {
  const std::scoped_lock lock(mutex_);
  Transaction transaction(database_);
  database_
      .prepare(
          "UPDATE jobs SET state = ?, owner = '', cancel = 0, finished = ?, version = ?, result = ?, error = "
          "?, plan = ?, "
          "schedule = ? "
          "WHERE id = ? AND owner = ? AND state = 'running'")
      .bind(std::string_view(to_string(outcome.state)))
      .bind(now_())
      .bind(next_version())
      .bind(outcome.result)
      .bind(outcome.error)
      .bind_blob(outcome.plan)
      .bind_blob(outcome.schedule)
      .bind(id)
      .bind(owner)
      .run();
  const bool mine = database_.changed_rows() > 0;
  transaction.commit();
  return mine;
}

void JobStore::give_back(const std::string& id, const std::string& owner) {
  const std::scoped_lock lock(mutex_);
  Transaction transaction(database_);
  database_
      .prepare(
          "UPDATE jobs SET state = CASE WHEN cancel THEN 'cancelled' ELSE 'queued' END, owner = '', "
          "attempts = attempts - 1, started = 0, finished = CASE WHEN cancel THEN ? ELSE 0 END, progress = "
          "'', "
          "version = ? WHERE id = ? AND owner = ? AND state = 'running'")
      .bind(now_())
      .bind(next_version())
      .bind(id)
      .bind(owner)
      .run();
  transaction.commit();
}

std::set<std::string> JobStore::owners() {
  const std::scoped_lock lock(mutex_);
  Statement statement = database_.prepare("SELECT owner FROM jobs WHERE state = 'running'");
  std::set<std::string> names;
  while (statement.next()) names.insert(statement.text(0));
  return names;
}

std::int64_t JobStore::expire_leases() {
  const std::scoped_lock lock(mutex_);
  const double now = now_();
  {
    Statement statement =
        database_.prepare("SELECT 1 FROM jobs WHERE state = 'running' AND lease < ? LIMIT 1");
    if (!statement.bind(now).next()) return 0;
  }
  Transaction transaction(database_);
  const std::int64_t version = next_version();
  database_
      .prepare(
          "UPDATE jobs SET state = CASE WHEN cancel THEN 'cancelled' WHEN attempts < ?1 THEN 'queued' ELSE "
          "'failed' END, owner = '', started = CASE WHEN cancel OR attempts >= ?1 THEN started ELSE 0 END, "
          "error = CASE WHEN cancel OR attempts < ?1 THEN '' ELSE ?2 END, "
          "finished = CASE WHEN cancel OR attempts >= ?1 THEN ?3 ELSE 0 END, progress = '', version = ?4 "
          "WHERE state = 'running' AND lease < ?3")
      .bind(std::int64_t{kMostAttempts})
      .bind(std::string_view(
          R"({"error":"died","message":"every server that worked on it has ended in the middle"})"))
      .bind(now)
      .bind(version)
      .run();
  const std::int64_t expired = database_.changed_rows();
  transaction.commit();
  return expired;
}

}  // namespace poet::server
