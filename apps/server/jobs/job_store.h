#pragma once

// The store of all jobs until they expire: queue, results and plans in one SQLite file, which several servers
// on a machine may share. Each call is one transaction. The queue is fair between clients (start-time fair
// queuing): a job's turn is one after its client's latest, but not before the turn being served, so that jobs
// of other clients run between a client's many jobs. A running job is leased to its server, which renews the
// lease. If the server dies, the lease expires and the job is queued again; after three expirations it fails.

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

/// The queue is full: of the client, or in total.
struct QueueFull {
  bool of_client = false;
  std::int64_t queued = 0;
};

/// A change of a job's state or progress.
struct Change {
  std::string id;
  std::int64_t version = 0;
};

class JobStore {
 public:
  /// Opens or creates FOLDER/jobs.sqlite. `now`: seconds since 1970. Throws InputError naming the file.
  JobStore(const std::filesystem::path& folder, QueueLimits limits, std::function<double()> now);

  /// Returns the job of that id, queueing it unless it is queued, running or done. Throws QueueFull. O(log
  /// jobs).
  [[nodiscard]] Job submit(const Order& order);

  [[nodiscard]] std::optional<Job> find(const std::string& id);
  /// Returns the job without its result, which may be long.
  [[nodiscard]] std::optional<Job> look(const std::string& id);
  /// Lists jobs, the latest first, without results and errors; only of `client` and `state` if given, and
  /// submitted earlier than `before`.
  [[nodiscard]] std::vector<Job> list(const std::string& client, const std::string& state, double before,
                                      std::size_t most);
  [[nodiscard]] std::string plan(const std::string& id);      // empty: there is none
  [[nodiscard]] std::string schedule(const std::string& id);  // likewise
  /// Numbers of queued and running jobs.
  struct Load {
    std::int64_t queued = 0, running = 0;
  };
  [[nodiscard]] Load load();

  /// Cancels a queued job at once, a running one when its worker notices. Returns whether it was either.
  bool cancel(const std::string& id);

  // ---- for workers

  /// Leases the next job to `owner`; nullopt if none is queued. `sweeps`: include sweeps, which take long.
  [[nodiscard]] std::optional<Job> claim(const std::string& owner, double lease_seconds, bool sweeps = true);
  /// Renews the lease. Returns false if the worker must stop: the job was cancelled or belongs to another
  /// owner.
  [[nodiscard]] bool renew(const std::string& id, const std::string& owner, double lease_seconds);
  void progress(const std::string& id, const std::string& owner, const std::string& json);
  /// Stores the outcome. Returns false, changing nothing, if the job belongs to another owner.
  bool finish(const std::string& id, const std::string& owner, const Outcome& outcome);
  /// Requeues a job as if it had not started, unless it was cancelled; used when the server stops.
  void give_back(const std::string& id, const std::string& owner);
  /// Returns the owners of running jobs.
  [[nodiscard]] std::set<std::string> owners();
  /// Requeues or fails the jobs with expired leases; returns their number.
  std::int64_t expire_leases();

  // ---- for those who watch

  /// Returns the changes since a version, the oldest first, each job once.
  [[nodiscard]] std::vector<Change> changes_since(std::int64_t version);
  [[nodiscard]] std::int64_t version();

  /// Deletes jobs that finished before then; returns their number.
  std::int64_t forget(double before);

 private:
  std::int64_t next_version();
  std::int64_t meta(std::string_view name);
  void set_meta(std::string_view name, std::int64_t value);
  std::optional<Job> read(const char* columns, const std::string& id);

  QueueLimits limits_;
  std::function<double()> now_;
  std::mutex mutex_;  // guards the writing connection
  Database database_;
  std::mutex
      reading_;  // guards the reading connection, which waits neither for the disk nor for other servers
  Database readable_;
};

}  // namespace poet::server
