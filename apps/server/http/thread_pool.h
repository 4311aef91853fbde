#pragma once

// Threads that answer requests.

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
  /// `most`: how much may wait.
  ThreadPool(std::size_t threads, std::size_t most);
  /// What waits is dropped.
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;
  ThreadPool(ThreadPool&&) = delete;
  ThreadPool& operator=(ThreadPool&&) = delete;

  /// False: too much waits already, and `work` is dropped. It must not throw.
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
