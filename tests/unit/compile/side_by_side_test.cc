#include "poet/compile/side_by_side.h"

#include <gtest/gtest.h>

#include <atomic>
#include <csignal>
#include <functional>
#include <stdexcept>
#include <thread>
#include <vector>

namespace poet {
namespace {

using Slices = std::vector<std::function<void()>>;

TEST(SideBySide, RunsEachOnce) {
  for (const int threads : {1, 2, 5, 40}) {
    std::vector<int> runs(17);
    Slices slices;
    for (int& count : runs) slices.emplace_back([&count] { ++count; });
    run_side_by_side(slices, threads, [] {});
    EXPECT_EQ(runs, std::vector<int>(17, 1)) << threads;
  }
  run_side_by_side({}, 3, [] {});
}

TEST(SideBySide, RunsAtTheSameTime) {
  std::atomic<int> running{0};
  const auto meet = [&] {
    ++running;
    while (running < 3) std::this_thread::yield();
  };
  run_side_by_side({meet, meet, meet}, 3, [] {});
  EXPECT_EQ(running, 3);
}

TEST(SideBySide, OneThreadIsTheCallers) {
  const auto caller = std::this_thread::get_id();
  std::vector<std::thread::id> ids;
  const auto note = [&] { ids.push_back(std::this_thread::get_id()); };
  run_side_by_side({note, note, note}, 1, [] {});
  EXPECT_EQ(ids, std::vector<std::thread::id>(3, caller));
}

TEST(SideBySide, PollsWhileItWaits) {
  std::atomic<bool> is_polled{false};
  const auto caller = std::this_thread::get_id();
  const auto wait = [&] {
    while (std::this_thread::get_id() != caller && !is_polled) std::this_thread::yield();
  };
  run_side_by_side({wait, wait}, 2, [&] {
    EXPECT_EQ(std::this_thread::get_id(), caller);
    is_polled = true;
  });
}

TEST(SideBySide, RethrowsTheFirstSlicesError) {
  std::atomic<int> ended{0};
  const auto fails_with = [&](const char* text) {
    return [&ended, text] {
      ++ended;
      throw std::runtime_error(text);
    };
  };
  const Slices slices{[&] { ++ended; }, fails_with("second"), fails_with("third"), [&] { ++ended; }};
  for (const int threads : {1, 4}) {
    ended = 0;
    try {
      run_side_by_side(slices, threads, [] {});
      ADD_FAILURE() << "it threw nothing";
    } catch (const std::runtime_error& error) {
      EXPECT_STREQ(error.what(), "second");
    }
    EXPECT_EQ(ended, 4);
  }
}

TEST(SideBySide, OtherThreadsGetNoSignals) {
  const auto caller = std::this_thread::get_id();
  std::atomic<int> here{0};
  const auto check = [&] {
    sigset_t blocked;
    pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
    const bool is_blocked = sigismember(&blocked, SIGINT) == 1;
    EXPECT_EQ(is_blocked, std::this_thread::get_id() != caller);
    ++here;
    while (here < 2) std::this_thread::yield();
  };
  run_side_by_side({check, check}, 2, [] {});
}

}  // namespace
}  // namespace poet
