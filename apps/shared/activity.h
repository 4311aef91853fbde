#pragma once

// Activity lines on the terminal.

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace poet::cli {

/// Shows what is done and for how long on stderr, after one second, if stderr is a terminal.
class Activity {
 public:
  explicit Activity(std::string what);
  ~Activity();
  Activity(const Activity&) = delete;
  Activity& operator=(const Activity&) = delete;
  Activity(Activity&&) = delete;
  Activity& operator=(Activity&&) = delete;

 private:
  void draw_until_done();

  std::string what_;
  std::mutex mutex_;
  std::condition_variable done_changed_;
  bool done_ = false;
  std::thread painter_;  // on terminals only
};

}  // namespace poet::cli
