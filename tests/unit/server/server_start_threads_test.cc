// The server's threads are there all, or none: what could not be started ends those that were.

#include "apps/server/start_threads.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <system_error>

#include "tests/support/input_error.h"

namespace poet::server {
namespace {

/// Cannot be copied to every thread, as if the system had none left to give.
struct FewThreads {
  std::atomic<int>& done;
  explicit FewThreads(std::atomic<int>& d) : done(d) {}
  FewThreads(const FewThreads& other) : done(other.done), copies(other.copies) {
    if (++*copies > 6)
      throw std::system_error(std::make_error_code(std::errc::resource_unavailable_try_again));
  }
  FewThreads& operator=(const FewThreads&) = delete;
  FewThreads(FewThreads&&) = default;
  FewThreads& operator=(FewThreads&&) = delete;
  ~FewThreads() = default;
  void operator()(std::size_t) const { ++done; }
  std::shared_ptr<int> copies = std::make_shared<int>(0);
};

TEST(StartThreads, AllWithTheirNumbers) {
  std::vector<std::thread> threads;
  std::atomic<std::size_t> sum = 0;
  start_threads(
      threads, 4, [&](std::size_t number) { sum += number; }, [] { FAIL(); });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(threads.size(), 4);
  EXPECT_EQ(sum, 6);
}

TEST(StartThreads, NoneWhereOneCannotBeStarted) {
  std::vector<std::thread> threads;
  std::atomic<int> done = 0;
  int stops = 0;
  const auto stop = [&] {
    ++stops;
    for (std::thread& thread : threads) thread.join();
  };
  EXPECT_EQ(test::input_error([&] { start_threads(threads, 7, FewThreads(done), stop); }),
            "the server's threads: cannot be started: Resource temporarily unavailable");
  EXPECT_EQ(stops, 1);
  EXPECT_GT(threads.size(), 0);
  EXPECT_LT(threads.size(), 7);
  EXPECT_EQ(done, static_cast<int>(threads.size()));
}

}  // namespace
}  // namespace poet::server
