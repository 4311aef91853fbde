#pragma once

// A pool of threads that answer requests.

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace poet::server {

class ThreadPool {
 public:
  /// `most`: capacity of the queue.
  ThreadPool(std::size_t threads, std::size_t most);
  /// Drops queued work.
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;
  ThreadPool(ThreadPool&&) = delete;
  ThreadPool& operator=(ThreadPool&&) = delete;

  /// Queues `work`, which must not throw. Returns false, and drops it, if the queue is full.
  [[nodiscard]] bool post(std::function<void()> work);

 private:
  void serve();
  void stop();

  std::size_t most_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> waiting_;
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace poet::server
