// The clock of time limits, as tests have it: of work, whoever else wants the processor.

#include "poet/base/work_clock.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <ctime>
#include <string>
#include <thread>

#include "poet/base/process/child.h"
#include "poet/base/process/program.h"

namespace poet {
namespace {

constexpr double kWork = 0.2;

/// Works for `kWork` seconds since this process began.
int work() {
  while (static_cast<double>(std::clock()) < kWork * CLOCKS_PER_SEC) continue;
  return 0;
}

class WorkClock : public testing::Test {
 protected:
  void SetUp() override {
    const char* clock = std::getenv("POET_CLOCK");
    if (clock == nullptr || std::string(clock) != "processor") GTEST_SKIP() << "POET_CLOCK is not processor";
  }
};

TEST_F(WorkClock, StandsWhereNothingIsDone) {
  const double before = work_seconds();
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  EXPECT_LT(work_seconds() - before, kWork);
}

TEST_F(WorkClock, CountsChildrenThatHaveEnded) {
  const double before = work_seconds();
  EXPECT_EQ(run_child([](Parent&) { return work(); }, {}).exit_code, 0);
  EXPECT_GE(work_seconds() - before, 0.9 * kWork);
}

TEST_F(WorkClock, KnowsWhatAChildHasDoneSoFar) {
  Child child([](Parent& parent) {
    work();
    parent.send("done");
    return parent.receive() ? 0 : 1;
  });
  EXPECT_EQ(child.receive(), "done");
  EXPECT_GE(work_seconds_of(child.id()), 0.9 * kWork);
}

// Of no work at all, however long it lasts.
TEST_F(WorkClock, LimitsChildrenByTheirWork) {
  ChildWatch watch;
  watch.time_limit_seconds = kWork;
  watch.limits_work = true;
  const ChildWork sleep = [](Parent&) {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    return 0;
  };
  EXPECT_EQ(run_child(sleep, watch).how, ChildEnd::How::finished);
  const ChildWork never_ends = [](Parent&) {
    while (std::clock() >= 0) continue;
    return 0;
  };
  EXPECT_EQ(run_child(never_ends, watch).how, ChildEnd::How::stopped);
}

TEST_F(WorkClock, LimitsProgramsByTheirWork) {
  ProgramCall call;
  call.arguments = {"sleep", "0.3"};
  call.limits_work = true;
  EXPECT_EQ(run_program(call, kWork).how, ChildEnd::How::finished);
  call.arguments = {"sh", "-c", "while :; do :; done"};
  EXPECT_EQ(run_program(call, kWork).how, ChildEnd::How::stopped);
}

}  // namespace
}  // namespace poet
