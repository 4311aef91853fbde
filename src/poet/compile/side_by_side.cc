#include "poet/compile/side_by_side.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>

#include "poet/base/process/signals_blocked.h"

namespace poet {
namespace {

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
