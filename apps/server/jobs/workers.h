#pragma once

// Workers run each job in a process of the program, with limits on time and memory, so that a crash costs one
// job.

#include <atomic>
#include <condition_variable>
#include <filesystem>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "apps/server/jobs/job_store.h"
#include "apps/server/jobs/uploads.h"

namespace poet::server {

struct WorkSettings {
  std::filesystem::path program;
  std::filesystem::path folder;  // for temporary files of running jobs
  std::size_t workers = 1;
  std::int64_t memory_bytes = std::int64_t{4} << 30;  // of a process's address space
  double lease_seconds = 10;
};

class Workers {
 public:
  /// Starts the workers. Store and uploads must outlive this.
  Workers(JobStore& store, const Uploads& uploads, WorkSettings settings);
  /// Stops the workers and requeues their jobs.
  ~Workers();
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;
  Workers(Workers&&) = delete;
  Workers& operator=(Workers&&) = delete;

  /// Wakes a worker: a job was queued.
  void wake();
  /// Removes folders of killed servers; keeps those of live servers that share the store.
  void remove_leftovers();

 private:
  void stop();
  void work(std::size_t number);
  void run(const Job& job, const std::string& owner, const std::filesystem::path& folder);

  JobStore& store_;
  const Uploads& uploads_;
  WorkSettings settings_;
  std::atomic<bool> stopping_ = false;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<std::thread> threads_;
};

}  // namespace poet::server
