#include "apps/shared/activity.h"

#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <new>
#include <system_error>
#include <utility>

#include "apps/shared/live_line.h"
#include "apps/shared/terminal.h"

namespace poet::cli {

Activity::Activity(std::string what) : what_(std::move(what)) {
  if (!is_live(stderr)) return;
  try {
    painter_ = std::thread([this] { draw_until_done(); });
  } catch (const std::system_error&) {  // where no thread can be had, nothing is said
  }
}

Activity::~Activity() {
  if (!painter_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    done_ = true;
  }
  done_changed_.notify_all();
  painter_.join();
}

void Activity::draw_until_done() {
  std::unique_lock lock(mutex_);
  for (int seconds = 1; !done_changed_.wait_for(lock, std::chrono::seconds(1), [this] { return done_; });
       ++seconds)
    try {
      draw_line(stderr, fmt::format("{}, {} s", what_, seconds));
    } catch (const std::bad_alloc&) {  // in a second, then
    }
  remove_line(stderr);
}

}  // namespace poet::cli
