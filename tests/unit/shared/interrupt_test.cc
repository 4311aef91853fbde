// Ctrl-C, SIGTERM: the first asks, the second ends.

#include "apps/shared/interrupt.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <string>
#include <utility>

#include "tests/support/background.h"

namespace poet::cli {
namespace {

void interrupt_and_wait(const InterruptGuard& guard, int signal = SIGINT) {
  kill(getpid(), signal);
  (void)test::wait_until([&] { return guard.interrupted(); });
}

TEST(InterruptGuard, TakesTheFirstInterrupt) {
  {
    const InterruptGuard guard;
    EXPECT_FALSE(guard.interrupted());
    interrupt_and_wait(guard);
    EXPECT_TRUE(guard.interrupted());
  }
  EXPECT_FALSE(InterruptGuard().interrupted());
}

TEST(InterruptGuard, TakesItFromAnyHandler) {
  // As solvers do in the middle of their work.
  const InterruptGuard guard;
  const auto previous = std::signal(SIGINT, SIG_IGN);
  interrupt_and_wait(guard);
  std::signal(SIGINT, previous);
  EXPECT_TRUE(guard.interrupted());
}

TEST(InterruptGuard, EndsAtTheSecondInterrupt) {
  const auto interrupt_twice = [] {
    const InterruptGuard guard;
    interrupt_and_wait(guard);
    kill(getpid(), SIGINT);
    sleep(600);
  };
  EXPECT_EXIT(interrupt_twice(), testing::ExitedWithCode(130), "Ctrl-C again quits at once");
}

TEST(InterruptGuard, NamesTheSignal) {
  for (const auto& [signal, name] :
       {std::pair(SIGINT, "Ctrl-C"), std::pair(SIGTERM, "SIGTERM"), std::pair(SIGHUP, "SIGHUP")}) {
    testing::internal::CaptureStderr();
    {
      const InterruptGuard guard("stopping");
      EXPECT_EQ(guard.signal(), 0);
      interrupt_and_wait(guard, signal);
      EXPECT_EQ(guard.signal(), signal);
      EXPECT_STREQ(request_name(guard.signal()), name);
    }
    const std::string said = testing::internal::GetCapturedStderr();
    EXPECT_THAT(said, testing::HasSubstr(name + std::string(" again quits at once"))) << signal;
    EXPECT_EQ(said.find("Ctrl-C") != std::string::npos, signal == SIGINT) << said;
  }
}

TEST(InterruptGuard, EndsAtTheSecondTermination) {
  const auto terminate_twice = [] {
    const InterruptGuard guard;
    interrupt_and_wait(guard, SIGTERM);
    kill(getpid(), SIGTERM);
    sleep(600);
  };
  EXPECT_EXIT(terminate_twice(), testing::ExitedWithCode(143), "SIGTERM again quits at once");
}

}  // namespace
}  // namespace poet::cli
