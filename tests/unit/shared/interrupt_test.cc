// Ctrl-C: the first asks, the second ends.

#include "apps/shared/interrupt.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>

#include "tests/support/background.h"

namespace poet::cli {
namespace {

void interrupt_and_wait(const InterruptGuard& guard) {
  kill(getpid(), SIGINT);
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

}  // namespace
}  // namespace poet::cli
