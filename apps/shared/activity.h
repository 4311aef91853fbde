#pragma once

// What a command is doing, for whoever waits at a terminal.

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace poet::cli {

/// While it lives, and once it has lived a second, a line on stderr says what is done and for how long.
/// Nothing where stderr is no terminal.
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
