// Work in a child process: what arrives, what ends it, and that its end is not ours.

#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <stdexcept>
#include <thread>
#include <vector>

#include "poet/optimize/solvers/apart.h"

namespace poet {
namespace {

using Clock = std::chrono::steady_clock;

double since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

[[noreturn]] void forever() {
  for (;;) std::this_thread::sleep_for(std::chrono::seconds(1));
}

struct Received {
  std::vector<ChildMessage> messages;
  ChildWatch watch;
  Received() {
    watch.time_limit_seconds = 20;
    watch.receive = [this](ChildMessage&& message) {
      messages.push_back(std::move(message));
      return true;
    };
  }
};

TEST(Apart, MessagesArriveInOrderAndWhole) {
  Received received;
  const ChildEnd end = run_apart(
      [](Outbox& outbox) {
        for (int i = 0; i < 300; ++i) outbox.send(i, std::vector<double>(static_cast<std::size_t>(i * i), i));
        outbox.send(7, {});
      },
      received.watch);
  EXPECT_EQ(end, ChildEnd::finished);
  ASSERT_EQ(received.messages.size(), 301U);
  for (int i = 0; i < 300; ++i) {
    EXPECT_EQ(received.messages[static_cast<std::size_t>(i)].kind, i);
    EXPECT_EQ(received.messages[static_cast<std::size_t>(i)].numbers,
              std::vector<double>(static_cast<std::size_t>(i * i), i));
  }
  EXPECT_EQ(received.messages[300].kind, 7);
}

TEST(Apart, ManyThreadsMaySend) {
  Received received;
  const ChildEnd end = run_apart(
      [](Outbox& outbox) {
        std::vector<std::thread> threads;
        for (int t = 0; t < 4; ++t)
          threads.emplace_back([&outbox, t] {
            for (int i = 0; i < 200; ++i) outbox.send(t, std::vector<double>(50, t));
          });
        for (std::thread& thread : threads) thread.join();
      },
      received.watch);
  EXPECT_EQ(end, ChildEnd::finished);
  EXPECT_EQ(received.messages.size(), 800U);
  for (const ChildMessage& message : received.messages)
    EXPECT_EQ(message.numbers, std::vector<double>(50, message.kind));
}

TEST(Apart, CrashesStayThere) {
  const std::function<void()> crashes[] = {[] { std::abort(); }, [] { std::raise(SIGSEGV); },
                                           [] { throw std::runtime_error("no"); },
                                           [] { std::raise(SIGKILL); }, [] { std::_Exit(0); }};
  for (const auto& crash : crashes) {
    Received received;
    const ChildEnd end = run_apart(
        [&](Outbox& outbox) {
          outbox.send(1, {4, 5});
          crash();
        },
        received.watch);
    EXPECT_EQ(end, ChildEnd::lost);
    ASSERT_EQ(received.messages.size(), 1U);  // what was said before counts
    EXPECT_EQ(received.messages[0].numbers, (std::vector<double>{4, 5}));
  }
}

TEST(Apart, TheParentsMemoryIsItsOwn) {
  int mine = 1;
  Received received;
  EXPECT_EQ(run_apart([&mine](Outbox&) { mine = 2; }, received.watch), ChildEnd::finished);
  EXPECT_EQ(mine, 1);
}

TEST(Apart, TheClockEndsIt) {
  for (const double limit : {0.0, 0.05, 0.3}) {
    Received received;
    received.watch.time_limit_seconds = limit;
    const auto start = Clock::now();
    EXPECT_EQ(run_apart(
                  [](Outbox& outbox) {
                    outbox.send(3, {});
                    forever();
                  },
                  received.watch),
              ChildEnd::stopped);
    EXPECT_LT(since(start), limit + 0.3);
    EXPECT_EQ(received.messages.size(), limit > 0 ? 1U : 0U);
  }
}

TEST(Apart, ThePollEndsItThoughTheChildIsSilent) {
  Received received;
  const auto start = Clock::now();
  received.watch.keep_going = [start] { return since(start) < 0.1; };
  EXPECT_EQ(run_apart([](Outbox&) { forever(); }, received.watch), ChildEnd::stopped);
  EXPECT_LT(since(start), 0.1 + 0.3);
}

TEST(Apart, NothingIsReceivedAfterARefusal) {
  int count = 0;
  ChildWatch watch;
  watch.time_limit_seconds = 20;
  watch.receive = [&count](ChildMessage&&) { return ++count < 3; };
  EXPECT_EQ(run_apart(
                [](Outbox& outbox) {
                  for (int i = 0; i < 100; ++i) outbox.send(i, {});
                },
                watch),
            ChildEnd::stopped);
  EXPECT_EQ(count, 3);
}

TEST(Apart, ExceptionsOfCallbacksEndIt) {
  ChildWatch watch;
  watch.time_limit_seconds = 20;
  watch.receive = [](ChildMessage&&) -> bool { throw std::runtime_error("mine"); };
  const auto start = Clock::now();
  EXPECT_THROW((void)run_apart(
                   [](Outbox& outbox) {
                     outbox.send(0, {});
                     forever();
                   },
                   watch),
               std::runtime_error);
  EXPECT_LT(since(start), 1);
}

}  // namespace
}  // namespace poet
