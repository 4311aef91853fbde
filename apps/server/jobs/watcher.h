#pragma once

// Publishes changes of jobs, those of this server and of others on the same store.

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <thread>

#include "apps/server/http/event_loop.h"
#include "apps/server/jobs/job_store.h"

namespace poet::server {

class Watcher {
 public:
  /// Store and loop must outlive this.
  Watcher(JobStore& store, EventLoop& loop);
  ~Watcher();
  Watcher(const Watcher&) = delete;
  Watcher& operator=(const Watcher&) = delete;
  Watcher(Watcher&&) = delete;
  Watcher& operator=(Watcher&&) = delete;

  /// Publishes the job's state on its topic, or to one connection of it. Call it after a connection has
  /// joined the topic (as a stream or by EventLoop::hold), so that no change in between is missed.
  void publish(const std::string& id, std::optional<std::uint64_t> connection = std::nullopt);
  /// Publishes no more changes.
  void stop();

 private:
  void watch();
  void look();

  JobStore& store_;
  EventLoop& loop_;
  std::int64_t seen_ = 0;
  std::atomic<bool> stopping_ = false;
  std::thread thread_;
};

}  // namespace poet::server
