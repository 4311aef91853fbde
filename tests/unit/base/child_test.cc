// Child processes: what arrives, what ends them, and that their end is not ours.

#include "poet/base/process/child.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <stdexcept>
#include <thread>
#include <vector>

#include "tests/support/background.h"
#include "tests/support/input_error.h"

namespace poet {
namespace {

using ::testing::ElementsAre;
using How = ChildEnd::How;

constexpr double kLong = 600;  // seconds: nothing that comes is waited for so long

[[noreturn]] void forever() {
  for (;;) std::this_thread::sleep_for(std::chrono::seconds(1));
}

struct Received {
  std::vector<std::string> messages;
  ChildWatch watch;
  Received() {
    watch.time_limit_seconds = kLong;
    watch.receive = [this](std::string&& message) {
      messages.push_back(std::move(message));
      return true;
    };
  }
};

TEST(RunChild, MessagesArriveInOrderAndWhole) {
  Received received;
  const ChildEnd end = run_child(
      [](Parent& parent) {
        for (std::size_t i = 0; i < 300; ++i) parent.send(std::string(8 * i * i, static_cast<char>(i)));
        parent.send("");
        return 7;
      },
      received.watch);
  EXPECT_EQ(end.how, How::finished);
  EXPECT_EQ(end.exit_code, 7);
  ASSERT_EQ(received.messages.size(), 301U);
  for (std::size_t i = 0; i < 300; ++i)
    EXPECT_EQ(received.messages[i], std::string(8 * i * i, static_cast<char>(i)));
  EXPECT_EQ(received.messages[300], "");
}

TEST(RunChild, ManyThreadsMaySend) {
  Received received;
  const ChildEnd end = run_child(
      [](Parent& parent) {
        std::vector<std::thread> threads;
        for (char t = 'a'; t < 'e'; ++t)
          threads.emplace_back([&parent, t] {
            for (int i = 0; i < 200; ++i) parent.send(std::string(400, t));
          });
        for (std::thread& thread : threads) thread.join();
        return 0;
      },
      received.watch);
  EXPECT_EQ(end.how, How::finished);
  EXPECT_EQ(received.messages.size(), 800U);
  for (const std::string& message : received.messages) EXPECT_EQ(message, std::string(400, message.front()));
}

TEST(RunChild, CrashesStayThere) {
  struct Crash {
    std::function<void()> happens;
    std::string end;
  };
  const Crash crashes[] = {{[] { std::abort(); }, "signal 6"},
                           {[] { std::raise(SIGSEGV); }, "signal 11"},
                           {[] { throw std::runtime_error("no"); }, "exit code 1"},
                           {[] { std::raise(SIGKILL); }, "signal 9"},
                           {[] { std::_Exit(0); }, "exit code 0"}};
  for (const Crash& crash : crashes) {
    Received received;
    const ChildEnd end = run_child(
        [&](Parent& parent) {
          parent.send("before");
          crash.happens();
          return 0;
        },
        received.watch);
    EXPECT_EQ(end.how, How::lost);
    EXPECT_EQ(to_string(end), crash.end);
    EXPECT_THAT(received.messages, ElementsAre("before")) << "what was said before counts";
  }
}

TEST(RunChild, FinishEndsItFromAnywhere) {
  Received received;
  const ChildEnd end = run_child(
      [](Parent& parent) -> int {
        std::thread other([&parent] { parent.finish(3); });
        forever();
      },
      received.watch);
  EXPECT_EQ(end.how, How::finished);
  EXPECT_EQ(end.exit_code, 3);
}

TEST(RunChild, TheParentsMemoryIsItsOwn) {
  int mine = 1;
  EXPECT_EQ(run_child([&mine](Parent&) { return mine = 2; }, {}).exit_code, 2);
  EXPECT_EQ(mine, 1);
}

TEST(RunChild, TheClockEndsIt) {
  for (const double limit : {0.0, 0.1}) {
    Received received;
    received.watch.time_limit_seconds = limit;
    EXPECT_EQ(run_child([](Parent&) -> int { forever(); }, received.watch).how, How::stopped);
    EXPECT_TRUE(received.messages.empty());
  }
}

TEST(RunChild, ThePollEndsItThoughTheChildIsSilent) {
  ChildWatch watch;
  int polls = 0;
  watch.keep_going = [&polls] { return ++polls < 3; };
  EXPECT_EQ(run_child([](Parent&) -> int { forever(); }, watch).how, How::stopped);
  EXPECT_EQ(polls, 3);
}

TEST(RunChild, NothingIsReceivedAfterARefusal) {
  int count = 0;
  ChildWatch watch;
  watch.receive = [&count](std::string&&) { return ++count < 3; };
  const ChildEnd end = run_child(
      [](Parent& parent) {
        for (int i = 0; i < 100; ++i) parent.send("");
        return 0;
      },
      watch);
  EXPECT_EQ(end.how, How::stopped);
  EXPECT_EQ(count, 3);
}

TEST(RunChild, ExceptionsOfCallbacksEndIt) {
  ChildWatch watch;
  watch.receive = [](std::string&&) -> bool { throw std::runtime_error("mine"); };
  EXPECT_THROW((void)run_child(
                   [](Parent& parent) -> int {
                     parent.send("");
                     forever();
                   },
                   watch),
               std::runtime_error);
  EXPECT_TRUE(test::children_of(getpid()).empty());
}

TEST(RunChild, WhatItUsedIsTold) {
  const ChildEnd end = run_child(
      [](Parent&) {
        std::vector<char> memory(100'000'000, 'x');
        while (std::clock() < CLOCKS_PER_SEC / 10) memory.front() = 'y';
        return memory.back() == 'x' ? 0 : 1;
      },
      {});
  EXPECT_EQ(end.exit_code, 0);
  EXPECT_GT(end.cpu_seconds, 0.09);
  EXPECT_GT(end.peak_bytes, 100'000'000);
}

TEST(RunChild, MemoryIsLimited) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers do not live with a limit";
#endif
  ChildSettings settings;
  settings.memory_limit_bytes = 1'000'000'000;
  const auto take = [](std::size_t bytes) {
    return [bytes](Parent&) { return std::vector<char>(bytes, 'x').back() == 'x' ? 0 : 1; };
  };
  EXPECT_EQ(run_child(take(10'000'000), {}, settings).how, How::finished);
  EXPECT_EQ(run_child(take(2'000'000'000), {}, settings).how, How::lost);
}

/// Writes bytes to the connection as they are: a size, and what follows it.
int write_raw(const std::vector<std::uint64_t>& words) {
  for (int i = STDERR_FILENO + 1; i < 1000; ++i)
    if (fcntl(i, F_GETFD) != -1) (void)!::write(i, words.data(), words.size() * sizeof words[0]);
  forever();
}

// What runs in a child may be led astray by its input: its sizes are not to be believed.
TEST(RunChild, AMessageThatIsTooLongLosesIt) {
  ChildSettings settings;
  settings.most_message_bytes = 16;
  for (const std::uint64_t size : {std::uint64_t{17}, kMostMessageBytes + 1, ~std::uint64_t{0} - 3}) {
    Received received;
    const ChildEnd end = run_child(
        [size](Parent&) {
          return write_raw({8, 5, 16, 1, 2, size, 1, 2, 3});
        },
        received.watch, settings);
    EXPECT_EQ(end.how, How::lost) << size;
    ASSERT_EQ(received.messages.size(), 2U) << size;
    EXPECT_EQ(received.messages[1].size(), 16U);
  }
}

TEST(Child, ThatCannotBeStartedIsNoInternalError) {
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  rlimit none = before;
  none.rlim_cur = 3;
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
  const std::string said = test::input_error([] { const Child child([](Parent&) { return 0; }); });
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_EQ(said, "a child process: cannot be started: Too many open files");
}

TEST(Child, AnswersMessages) {
  Child child([](Parent& parent) {
    while (const auto message = parent.receive()) parent.send(*message + *message);
    return 0;
  });
  for (const std::string& text : {std::string("ab"), std::string(), std::string(5'000'000, 'x')}) {
    EXPECT_TRUE(child.send(text));
    EXPECT_EQ(child.receive(), text + text);
  }
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(child.receive(0.05), std::nullopt);
  EXPECT_GE(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(50));
  EXPECT_TRUE(child.open());
}

TEST(Child, ADeadOneTakesMessagesAndSaysSo) {
  Child child([](Parent&) -> int { forever(); });
  ::kill(child.id(), SIGKILL);
  EXPECT_EQ(child.receive(kLong), std::nullopt);
  EXPECT_FALSE(child.open());
  EXPECT_FALSE(child.send("a")) << "and no SIGPIPE";
  EXPECT_EQ(to_string(child.wait()), "signal 9");
}

// So that the end of one child is not hidden by another, whatever thread made that.
TEST(Child, HoldsNoDescriptorOfTheParents) {
  const int file = open("/dev/null", O_RDONLY);
  ASSERT_GE(file, 0);
  Child first([](Parent& parent) { return static_cast<int>(parent.receive().has_value()); });
  Child second([file](Parent& parent) {
    int open_ones = 0;
    for (int i = 0; i < 1000; ++i) open_ones += fcntl(i, F_GETFD) != -1 ? 1 : 0;
    parent.send(std::to_string(open_ones) + (fcntl(file, F_GETFD) == -1 ? " closed" : " open"));
    return 0;
  });
  EXPECT_EQ(second.receive(), "4 closed") << "streams and connection";
  close(file);
}

// With a helper that holds the dead child's end of the connection.
TEST(Child, ItsEndIsSeenThoughItsOwnChildLives) {
  Child child([](Parent& parent) -> int {
    if (const pid_t helper = fork(); helper != 0) {
      if (helper < 0) return 0;
      parent.send(std::to_string(helper));
      _exit(5);
    }
    forever();
  });
  const std::optional<std::string> helper = child.receive(kLong);
  ASSERT_TRUE(helper);
  EXPECT_EQ(child.receive(kLong), std::nullopt);
  EXPECT_FALSE(child.open());
  EXPECT_EQ(to_string(child.wait()), "exit code 5");
  ::kill(std::stoi(*helper), SIGKILL);
}

TEST(Child, LeavesRequestsToItsParentUnlessItIsToObey) {
  const auto echo = [](Parent& parent) {
    parent.send("ready");
    while (const auto message = parent.receive()) parent.send(*message);
    return 0;
  };
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    Child deaf(echo);
    ASSERT_EQ(deaf.receive(), "ready");
    ::kill(deaf.id(), signal);
    EXPECT_TRUE(deaf.send("a"));
    EXPECT_EQ(deaf.receive(), "a") << signal;
    Child obedient(echo, {Streams::quiet, true, {}});
    ASSERT_EQ(obedient.receive(), "ready");
    EXPECT_EQ(getpgid(obedient.id()), obedient.id());
    ::kill(obedient.id(), signal);
    EXPECT_EQ(obedient.receive(kLong), std::nullopt);
    EXPECT_EQ(to_string(obedient.wait()), "signal " + std::to_string(signal));
  }
}

TEST(Child, HasNoHandlersAndNothingBlocked) {
  const auto previous = std::signal(SIGUSR1, [](int) { _exit(9); });
  sigset_t blocked;
  sigset_t before;
  sigfillset(&blocked);
  pthread_sigmask(SIG_SETMASK, &blocked, &before);
  Child child([](Parent& parent) {
    sigset_t mask;
    pthread_sigmask(SIG_SETMASK, nullptr, &mask);
    parent.send(sigismember(&mask, SIGUSR1) == 1 ? "blocked" : "free");
    std::raise(SIGUSR1);
    return 0;
  });
  sigset_t mask;
  pthread_sigmask(SIG_SETMASK, &before, &mask);
  EXPECT_EQ(sigismember(&mask, SIGUSR2), 1) << "the caller's mask is as it was";
  EXPECT_EQ(child.receive(), "free");
  EXPECT_EQ(to_string(child.wait()), "signal 10");
  std::signal(SIGUSR1, previous);
}

TEST(Child, EndsWithTheThreadThatMadeIt) {
  Child* left = nullptr;
  std::thread([&] {
    left = new Child([](Parent& parent) -> int {
      parent.send("begun");
      forever();
    });
    EXPECT_EQ(left->receive(), "begun");
  }).join();
  EXPECT_EQ(left->receive(kLong), std::nullopt);
  EXPECT_FALSE(left->open());
  EXPECT_EQ(to_string(left->kill()), "signal 9");
  delete left;
}

}  // namespace
}  // namespace poet
