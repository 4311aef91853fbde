#include "poet/compile/side_by_side.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstddef>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>

namespace poet {
namespace {

/// All signals are blocked in threads that are started meanwhile.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  sigset_t before_{};
};

class SideBySide {
 public:
  explicit SideBySide(const std::vector<std::function<void()>>& slices)
      : slices_(slices), thrown_(slices.size()) {}

  void run(std::size_t threads, const std::function<void()>& poll) {
    std::vector<std::jthread> others = start(threads - 1);
    work();
    std::unique_lock lock(mutex_);
    constexpr std::chrono::milliseconds kBetweenPolls{5};
    while (ended_ < slices_.size()) {
      if (all_ended_.wait_for(lock, kBetweenPolls) == std::cv_status::no_timeout) continue;
      lock.unlock();
      poll();
      lock.lock();
    }
    lock.unlock();
    others.clear();
    for (const std::exception_ptr& thrown : thrown_)
      if (thrown) std::rethrow_exception(thrown);
  }

 private:
  std::vector<std::jthread> start(std::size_t count) {
    const SignalsBlocked blocked;
    std::vector<std::jthread> threads;
    try {
      while (threads.size() < count) threads.emplace_back([this] { work(); });
    } catch (const std::system_error&) {  // the calling thread runs what is left
    }
    return threads;
  }

  void work() {
    for (std::size_t i = next_++; i < slices_.size(); i = next_++) {
      try {
        slices_[i]();
      } catch (...) {
        thrown_[i] = std::current_exception();
      }
      const std::lock_guard lock(mutex_);
      if (++ended_ == slices_.size()) all_ended_.notify_one();
    }
  }

  const std::vector<std::function<void()>>& slices_;
  std::vector<std::exception_ptr> thrown_;
  std::atomic<std::size_t> next_{0};
  std::mutex mutex_;
  std::condition_variable all_ended_;
  std::size_t ended_ = 0;
};

}  // namespace

void run_side_by_side(const std::vector<std::function<void()>>& slices, int threads,
                      const std::function<void()>& poll) {
  const auto most = std::min(static_cast<std::size_t>(threads), slices.size());
  if (most > 0) SideBySide(slices).run(most, poll);
}

}  // namespace poet
