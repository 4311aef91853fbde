// By which plan a run goes on, with a clock that the test sets, and files that it writes.

#include "poet/runtime/training/plan_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "poet/runtime/sensors/memory_pressure.h"
#include "tests/support/input_error.h"
#include "tests/support/program.h"

namespace poet::runtime {
namespace {

namespace fs = std::filesystem;
using test::input_error;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class PlanWatchTest : public ::testing::Test {
 protected:
  [[nodiscard]] std::string file(const std::string& name) const { return folder_.file(name); }
  void write(const std::string& name, const std::string& text) const {
    fs::create_directories(fs::path(file(name)).parent_path());
    std::ofstream(file(name)) << text;
  }
  void pressure(const std::string& percent) const {
    write("pressure", "some avg10=" + percent + " avg60=0.00 avg300=0.00 total=1\nfull avg10=0.00 total=0\n");
  }

  /// Three plans for 1000, 600 and 300 bytes.
  PlanWatch watch(PlanWatchOptions options) {
    PlanWatchHooks hooks;
    hooks.now = [this] { return Seconds(now_); };
    hooks.outside = [] { return Bytes(50); };
    hooks.notice = [this](const std::string& notice) { notices_.push_back(notice); };
    hooks.signals = [this] { return std::exchange(signals_, 0); };
    return PlanWatch({Bytes(1000), Bytes(600), Bytes(300)}, {Bytes(990), Bytes(600), Bytes(280)},
                     std::move(options), std::move(hooks));
  }

  /// The plan that it goes over to, which then is the present one; -1: none.
  int next(PlanWatch& watch, std::int64_t step = 1) {
    const auto wanted = watch.choose(step, present_);
    if (!wanted) return -1;
    EXPECT_NE(wanted->plan, present_);
    EXPECT_NE(wanted->reason, "");
    reason_ = wanted->reason;
    present_ = wanted->plan;
    return static_cast<int>(present_);
  }

  test::TemporaryFolder folder_;
  double now_ = 100;
  int signals_ = 0;
  std::size_t present_ = 0;
  std::string reason_;
  std::vector<std::string> notices_;
};

TEST_F(PlanWatchTest, WithNothingToWatchStays) {
  PlanWatch nothing = watch({});
  for (int i = 0; i < 5; ++i, now_ += 100) EXPECT_EQ(next(nothing), -1);
}

TEST_F(PlanWatchTest, FollowsAControlFile) {
  PlanWatch told = watch({.control = file("control")});
  EXPECT_EQ(next(told), -1);  // not there
  write("control", "700\n");
  EXPECT_EQ(next(told), 1);
  EXPECT_EQ(reason_, file("control") + ": 700 B");
  write("control", "# nothing yet\n   300 B \n");
  EXPECT_EQ(next(told), 2);
  write("control", "");  // about to be written
  EXPECT_EQ(next(told), -1);
  write("control", "al");
  EXPECT_EQ(next(told), -1);
  write("control", "all\n");
  EXPECT_EQ(next(told), 0);
  EXPECT_EQ(reason_, file("control") + ": all");
  write("control", "0.3KB\n");
  EXPECT_EQ(next(told), 2);
  fs::remove(file("control"));
  EXPECT_EQ(next(told), 0);
  EXPECT_THAT(notices_, IsEmpty());
  write("control", "250\n");
  EXPECT_EQ(next(told), 2);
  EXPECT_EQ(next(told), -1);
  EXPECT_THAT(notices_, ElementsAre(file("control") + " says 250 B: no plan is for less than 300 B"));
}

TEST_F(PlanWatchTest, FollowsAScheduleOfSteps) {
  write("control", "all\n600 from step 3\n300 from step 5 # less\nall from step 6\n");
  PlanWatch told = watch({.control = file("control")});
  std::vector<int> plans;
  for (std::int64_t step = 1; step <= 7; ++step) plans.push_back(next(told, step));
  EXPECT_THAT(plans, ElementsAre(-1, -1, 1, -1, 2, 0, -1));
}

TEST_F(PlanWatchTest, RefusesAControlFileThatSaysNothingKnown) {
  write("control", "600\n\nmuch\n");
  EXPECT_THAT(input_error([&] { watch({.control = file("control")}); }),
              HasSubstr(file("control") + ": line 3: \"much\" is not an amount of bytes"));
  write("control", "600 from step x\n");
  EXPECT_THAT(input_error([&] { watch({.control = file("control")}); }), HasSubstr(": line 1: \"x\" is not"));
  // While a run goes on it is no reason to end it.
  write("control", "600\n");
  PlanWatch told = watch({.control = file("control")});
  EXPECT_EQ(next(told), 1);
  write("control", "lots\n");
  for (int i = 0; i < 3; ++i) EXPECT_EQ(next(told), -1);
  ASSERT_EQ(notices_.size(), 1U);
  EXPECT_THAT(notices_[0], HasSubstr("what it said before holds"));
}

// Reading a pipe would wait for its writer, reading /dev/zero would not end.
TEST_F(PlanWatchTest, ReadsRegularFilesOnly) {
  ASSERT_EQ(mkfifo(file("pipe").c_str(), 0600), 0);
  fs::create_directory(file("folder"));
  for (const std::string& other : {file("pipe"), file("folder"), std::string("/dev/zero")})
    EXPECT_EQ(input_error([&] { watch({.control = other}); }), other + ": is not a regular file");
  write("long", std::string((1 << 20) + 1, '\n'));
  EXPECT_THAT(input_error([&] { watch({.control = file("long")}); }),
              HasSubstr("; a control file has at most "));
  // While a run goes on it is no reason to end it.
  write("control", "600\n");
  PlanWatch told = watch({.control = file("control")});
  EXPECT_EQ(next(told), 1);
  fs::rename(file("pipe"), file("control"));
  for (int i = 0; i < 3; ++i) EXPECT_EQ(next(told), -1);
  EXPECT_THAT(notices_, ElementsAre(file("control") + ": is not a regular file; what it said before holds"));
  fs::remove(file("control"));
  EXPECT_EQ(next(told), 0);
}

TEST_F(PlanWatchTest, FollowsSignals) {
  PlanWatch told = watch({});
  signals_ = 1;
  EXPECT_EQ(next(told), 1);
  EXPECT_EQ(reason_, "SIGUSR1");
  EXPECT_EQ(next(told), -1);
  signals_ = 5;  // no further than the smallest
  EXPECT_EQ(next(told), 2);
  signals_ = -1;
  EXPECT_EQ(next(told), 1);
  EXPECT_EQ(reason_, "SIGUSR2");
  signals_ = -1;
  EXPECT_EQ(next(told), 0);
  signals_ = -1;
  EXPECT_EQ(next(told), -1);
}

TEST_F(PlanWatchTest, StaysBelowTheLimitOfAGroup) {
  write("group/memory.high", "max\n");
  write("group/memory.max", "max\n");
  PlanWatch limited = watch({.groups = {file("group")}});
  EXPECT_EQ(next(limited), -1);
  write("group/memory.max", "1039\n");  // 990 + 50 are more
  EXPECT_EQ(next(limited), -1) << "not looked at again so soon";
  now_ += 1;
  EXPECT_EQ(next(limited), 1);
  EXPECT_THAT(reason_, HasSubstr("limit of the control group: 1,039 B"));
  write("group/memory.high", "330\n");
  now_ += 1;
  EXPECT_EQ(next(limited), 2);
  write("group/memory.high", "100\n");
  now_ += 1;
  EXPECT_EQ(next(limited), -1);
  EXPECT_THAT(notices_, ElementsAre("the control group's limit of 100 B is too little for any plan"));
  // Back when there has been room for a minute.
  write("group/memory.high", "max\n");
  now_ += 1;
  EXPECT_EQ(next(limited), -1);
  now_ += 59;
  EXPECT_EQ(next(limited), -1);
  now_ += 1;
  EXPECT_EQ(next(limited), 1);
  write("group/memory.max", "1040\n");
  now_ += 30;
  EXPECT_EQ(next(limited), -1);
  write("group/memory.max", "700\n");  // no room again: the minute starts anew
  now_ += 30;
  EXPECT_EQ(next(limited), -1);
  write("group/memory.max", "1040\n");
  now_ += 1;
  EXPECT_EQ(next(limited), -1);
  now_ += 59;
  EXPECT_EQ(next(limited), -1);
  now_ += 1;
  EXPECT_EQ(next(limited), 0);
}

TEST_F(PlanWatchTest, GivesWayToPressure) {
  pressure("9.99");
  PlanWatch pressed = watch({.pressure = {file("none"), file("pressure")}});
  EXPECT_EQ(next(pressed), -1);
  pressure("10.00");
  now_ += 1;
  EXPECT_EQ(next(pressed), 1);
  EXPECT_EQ(reason_, "memory pressure: 10% of the last 10 s");
  now_ += 9;
  EXPECT_EQ(next(pressed), -1) << "what is measured is of ten seconds";
  now_ += 1;
  EXPECT_EQ(next(pressed), 2);
  now_ += 10;
  EXPECT_EQ(next(pressed), -1) << "there is none smaller";
  // Neither high nor gone.
  pressure("1.00");
  now_ += 1000;
  EXPECT_EQ(next(pressed), -1);
  pressure("0.99");
  now_ += 1;
  EXPECT_EQ(next(pressed), -1);
  now_ += 59;
  EXPECT_EQ(next(pressed), -1);
  now_ += 1;
  EXPECT_EQ(next(pressed), 1);
  EXPECT_EQ(reason_, "no memory pressure for 60 s");
  now_ += 59;
  EXPECT_EQ(next(pressed), -1);
  pressure("2.00");  // a moment of it: the minute starts anew
  now_ += 1;
  EXPECT_EQ(next(pressed), -1);
  pressure("0.00");
  now_ += 1;
  EXPECT_EQ(next(pressed), -1);
  now_ += 60;
  EXPECT_EQ(next(pressed), 0);
  now_ += 1000;
  EXPECT_EQ(next(pressed), -1);
}

TEST_F(PlanWatchTest, PressureThatCannotBeReadAnyMoreIsNone) {
  pressure("10.00");
  PlanWatch pressed = watch({.pressure = {file("pressure")}});
  EXPECT_EQ(next(pressed), 1);
  fs::remove(file("pressure"));
  for (int i = 0; i < 60; ++i) {
    now_ += 1;
    EXPECT_EQ(next(pressed), -1);
  }
  EXPECT_THAT(notices_, ElementsAre("memory pressure cannot be read any more; it counts as none"));
  now_ += 1;
  EXPECT_EQ(next(pressed), 0);
  now_ += 1000;
  EXPECT_EQ(next(pressed), -1);
  EXPECT_EQ(notices_.size(), 1U);
}

TEST_F(PlanWatchTest, TheSmallestPlanThatIsAskedForDecides) {
  pressure("0.00");
  write("control", "600\n");
  PlanWatch told = watch({.control = file("control"), .pressure = {file("pressure")}});
  EXPECT_EQ(next(told), 1);
  signals_ = -1;
  EXPECT_EQ(next(told), -1) << "the control file allows no more";
  pressure("50");
  now_ += 1;
  EXPECT_EQ(next(told), 2);
  write("control", "all\n");
  EXPECT_EQ(next(told), -1);
  pressure("0");
  now_ += 1;
  EXPECT_EQ(next(told), -1);
  now_ += 60;
  EXPECT_EQ(next(told), 1);
  now_ += 60;
  EXPECT_EQ(next(told), 0);
}

TEST_F(PlanWatchTest, AsksLaterForWhatWasDeclined) {
  PlanWatch told = watch({.control = file("control")});
  write("control", "300\n");
  EXPECT_EQ(next(told), 2);
  write("control", "all\n");
  ASSERT_TRUE(told.choose(1, 2));
  told.declined();
  EXPECT_FALSE(told.choose(2, 2));
  now_ += 59;
  EXPECT_FALSE(told.choose(3, 2));
  write("control", "600\n");  // something else is said
  ASSERT_TRUE(told.choose(4, 2));
  told.declined();
  EXPECT_FALSE(told.choose(5, 2));
  now_ += 60;
  EXPECT_TRUE(told.choose(6, 2));
}

TEST_F(PlanWatchTest, ReadsWhatTheKernelWrites) {
  EXPECT_EQ(memory_pressure(file("none")), std::nullopt);
  write("p",
        "some avg10=12.34 avg60=1.00 avg300=0.10 total=123456\nfull avg10=2.00 avg60=0 avg300=0 total=9\n");
  EXPECT_EQ(memory_pressure(file("p")), 12.34);
  for (const char* text : {"", "some avg10=", "some avg10=x", "some avg10=-1", "full avg10=3"}) {
    write("p", text);
    EXPECT_EQ(memory_pressure(file("p")), std::nullopt) << text;
  }
  EXPECT_EQ(group_limit(file("g")), std::nullopt);
  write("g/memory.max", "2000\n");
  EXPECT_EQ(group_limit(file("g")), Bytes(2000));
  write("g/memory.high", "1500\n");
  EXPECT_EQ(group_limit(file("g")), Bytes(1500));
  EXPECT_FALSE(tells_limit(file("none")));
  EXPECT_FALSE(tells_limit(file("")));
  EXPECT_TRUE(tells_limit(file("g")));
  write("unlimited/memory.max", "max\n");
  EXPECT_TRUE(tells_limit(file("unlimited")));
  write("odd/memory.max", "much\n");
  EXPECT_FALSE(tells_limit(file("odd")));
  // Groups of this process, and those around it.
  write("root/proc/self/cgroup", "1:cpu:/x\n0::/a/b\n");
  fs::create_directories(file("root/sys/fs/cgroup/a/b"));
  EXPECT_THAT(own_groups(file("root")),
              ElementsAre(fs::path(file("root/sys/fs/cgroup/a/b")), fs::path(file("root/sys/fs/cgroup/a")),
                          fs::path(file("root/sys/fs/cgroup/"))));
  write("root/proc/self/cgroup", "1:memory:/x\n");
  EXPECT_THAT(own_groups(file("root")), IsEmpty());
}

}  // namespace
}  // namespace poet::runtime
