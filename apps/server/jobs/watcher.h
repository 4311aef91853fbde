#pragma once

// Tells clients what becomes of jobs, this server's and those of others on the same store.

#include <atomic>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "apps/server/http/event_loop.h"
#include "apps/server/jobs/job_store.h"

namespace poet::server {

class Watcher {
 public:
  /// `again`: answers a request once more. Store and loop must outlive this.
  Watcher(JobStore& store, EventLoop& loop, std::function<void(RawRequest&&)> again);
  ~Watcher();
  Watcher(const Watcher&) = delete;
  Watcher& operator=(const Watcher&) = delete;
  Watcher(Watcher&&) = delete;
  Watcher& operator=(Watcher&&) = delete;

  /// The request is answered again when the job has ended. False: too many wait already.
  [[nodiscard]] bool await_end(const std::string& id, RawRequest request);
  /// Tells the job's streams how it is now, or that of a connection only. Call it after a stream has begun,
  /// so that nothing which happened meanwhile is missed.
  void tell(const std::string& id, std::optional<std::uint64_t> connection = std::nullopt);
  /// What is awaited is never answered.
  void stop();

 private:
  void watch();
  void look();

  JobStore& store_;
  EventLoop& loop_;
  std::function<void(RawRequest&&)> again_;
  std::int64_t seen_ = 0;
  std::mutex mutex_;
  std::multimap<std::string, RawRequest> awaited_;
  std::atomic<bool> stopping_ = false;
  std::thread thread_;
};

}  // namespace poet::server
