#pragma once

// Every job that was ever ordered and is not forgotten yet: queue, results and plans in one SQLite file,
// which several servers of a machine may share. What is in it outlives them: each call is one transaction.
//
// The queue is fair between clients (start-time fair queuing): a job's turn is one after the latest of its
// client, but never before the turn that is being served, so that who orders a hundred jobs waits for others
// between them.
//
// A job that runs is leased to its server, which renews the lease; where that server is gone, the lease runs
// out and the job is queued again, or has failed after three such ends.

#include <cstddef>
#include <filesystem>
#include <functional>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "apps/server/jobs/database.h"
#include "apps/server/jobs/job.h"

namespace poet::server {

struct QueueLimits {
  std::size_t jobs = 1000;           // queued; twice as many, where they are the only ones of their clients
  std::size_t jobs_of_client = 200;  // queued
};

/// Too much is queued; of the client, or of all.
struct QueueFull {
  bool of_client = false;
  std::int64_t queued = 0;
};

/// What clients who watch a job are told: its state and progress changed.
struct Change {
  std::string id;
  std::int64_t version = 0;
};

class JobStore {
 public:
  /// Opens FOLDER/jobs.sqlite, or creates it. `now`: seconds since 1970. Throws InputError naming the file.
  JobStore(const std::filesystem::path& folder, QueueLimits limits, std::function<double()> now);

  /// The job of that id, queued now unless it is queued, running or done already. Throws QueueFull. O(log
  /// jobs).
  [[nodiscard]] Job submit(const Order& order);

  [[nodiscard]] std::optional<Job> find(const std::string& id);
  /// The same without its result, which may be long.
  [[nodiscard]] std::optional<Job> look(const std::string& id);
  /// The latest first; of one client or one state, where given, without results and errors. `before`:
  /// submitted earlier than that.
  [[nodiscard]] std::vector<Job> list(const std::string& client, const std::string& state, double before,
                                      std::size_t most);
  [[nodiscard]] std::string plan(const std::string& id);      // empty: there is none
  [[nodiscard]] std::string schedule(const std::string& id);  // likewise
  /// Jobs queued, and running.
  struct Load {
    std::int64_t queued = 0, running = 0;
  };
  [[nodiscard]] Load load();

  /// A queued job is cancelled at once, a running one when its worker sees that. Whether it was either.
  bool cancel(const std::string& id);

  // ---- for workers

  /// The next in turn, leased to `owner` for so long. Nothing: none is queued. `sweeps`: also those, which
  /// take long.
  [[nodiscard]] std::optional<Job> claim(const std::string& owner, double lease_seconds, bool sweeps = true);
  /// Whether the worker is to go on: false where the job was cancelled, or is another's by now.
  [[nodiscard]] bool renew(const std::string& id, const std::string& owner, double lease_seconds);
  void progress(const std::string& id, const std::string& owner, const std::string& json);
  /// False: it was another's by now, and nothing is changed.
  bool finish(const std::string& id, const std::string& owner, const Outcome& outcome);
  /// Queues it again, as if it had not begun, unless it was cancelled: the server stops.
  void give_back(const std::string& id, const std::string& owner);
  /// Who has a job now.
  [[nodiscard]] std::set<std::string> owners();
  /// Queues or fails the jobs whose leases have run out; how many.
  std::int64_t expire_leases();

  // ---- for those who watch

  /// Changes since a version, the oldest first, each job once.
  [[nodiscard]] std::vector<Change> changes_since(std::int64_t version);
  [[nodiscard]] std::int64_t version();

  /// Deletes what was finished before then.
  std::int64_t forget(double before);

 private:
  std::int64_t next_version();
  std::int64_t meta(std::string_view name);
  void set_meta(std::string_view name, std::int64_t value);
  std::optional<Job> read(const char* columns, const std::string& id);

  QueueLimits limits_;
  std::function<double()> now_;
  std::mutex mutex_;  // of the connection that writes
  Database database_;
  std::mutex reading_;  // of the one that reads, which waits neither for a disk nor for other servers
  Database readable_;
};

}  // namespace poet::server
