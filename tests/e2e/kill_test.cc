// A run whose parameters are at home on storage is killed at hundreds of random instants, most of them in the
// middle of a write; whenever that is, it goes on from the last complete step, and ends with the bits of a
// run that was left alone.

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <random>

#include "poet/base/error.h"
#include "poet/runtime/storage/left_run.h"
#include "tests/support/background.h"
#include "tests/support/effort.h"
#include "tests/support/paged_training.h"
#include "tests/support/plan_with_tables.h"

namespace poet::test {
namespace {

namespace fs = std::filesystem;

#ifdef POET_TEST_FAULT
constexpr const char* kFaults = POET_TEST_FAULT;
#else
constexpr const char* kFaults = nullptr;
#endif

class Kill : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    plans_ = std::make_unique<TemporaryFolder>();
    linear_ = plan_of_linear_in_parts(*plans_);
    tables_ = plans_->file("tables.plan");
    write_plan(plan_with_tables(), tables_);
    several_ = plans_->file("several.plan");
    make_plan(
        "--model linear --platform m0 --beyond-device-ram --optimizer momentum --ram-budget "
        "600KB,100KiB,24KiB "
        "--gap 0.9 --time-limit 0.5s",
        several_);
  }
  static void TearDownTestSuite() { plans_.reset(); }

  void SetUp() override {
    if (kFaults == nullptr) GTEST_SKIP() << "this build has no library that kills at a system call";
  }

  [[nodiscard]] std::string file(const std::string& name) const { return folder_.file(name); }

  [[nodiscard]] std::vector<std::string> command(const std::string& option, const std::string& pages) const {
    std::vector<std::string> words = {program().string(), "run",       plan_,     "--quiet",
                                      "--kernels",        "reference", "--steps", std::to_string(steps_),
                                      "--checkpoint",     file("c"),   option,    pages};
    if (plan_ == several_)
      words.insert(words.end(), {"--control", file("control"), "--pressure", "off", "--cgroup", "off"});
    return words;
  }

  /// From now on by a plan whose tables are transferred by index, whose steps are shorter.
  void use_tables() {
    plan_ = tables_;
    steps_ = 240;
  }

  /// From now on by three plans, another one for every step or two.
  void change_plans() {
    plan_ = several_;
    std::ofstream control(file("control"));
    for (std::int64_t step = 1; step <= steps_; ++step)
      control << (step % 5 == 0   ? "all"
                  : step % 2 == 0 ? "100KiB"
                                  : "24KiB")
              << " from step " << step << "\n";
  }

  /// Until so many runs with a complete step behind them were killed, each going on from the one before.
  void kill_runs(const std::string& pages, int kills);
  void kill_runs_in_ram(int kills);

  TemporaryFolder folder_;

 private:
  static std::unique_ptr<TemporaryFolder> plans_;
  static std::string linear_, tables_, several_;
  std::string plan_ = linear_;
  std::int64_t steps_ = 16;
};
std::unique_ptr<TemporaryFolder> Kill::plans_;
std::string Kill::linear_, Kill::tables_, Kill::several_;

/// The step after which the page file can be resumed; none where it cannot, or is not there.
std::optional<std::int64_t> step_left(const std::string& pages) {
  try {
    return runtime::look_at_left_run(pages).record().step;
  } catch (const InputError&) {
    return std::nullopt;
  }
}

void Kill::kill_runs(const std::string& pages, int kills) {
  ASSERT_EQ(run_command(command("--storage", pages)).exit_code, 0);
  const std::string expected = file_text(file("c"));
  ASSERT_FALSE(fs::exists(pages));

  std::mt19937_64 random(7);
  double longest = 60;        // calls until a kill: adapts itself, so that a run comes some steps further
  int killed = 0;             // runs that left something to go on from
  int done = 0;               // runs that came to their end
  std::int64_t reached = -1;  // by runs that go on from each other; -1: there is nothing to go on from
  const auto finish = [&] {
    ASSERT_FALSE(fs::exists(pages));
    ASSERT_TRUE(file_text(file("c")) == expected) << "after " << killed << " kills";
    fs::remove(file("c"));
    reached = -1;
    ++done;
  };
  fs::remove(file("c"));
  for (int runs = 0; killed < kills || reached >= 0; ++runs) {
    ASSERT_LT(runs, 20 * kills) << killed << " were killed with a step behind them";
    const bool is_last = killed >= kills;
    std::vector<std::string> words = command(reached >= 0 ? "--resume" : "--storage", pages);
    if (!is_last) {
      // A quarter of the kills at any instant, the others when there is something to lose.
      const double least = random() % 4 == 0 ? 0 : 0.6;
      const double call = longest * std::uniform_real_distribution<double>(least, 1)(random);
      const char* kind = random() % 4 == 0 ? "read" : "write";
      words.insert(words.begin(), {"env", fmt::format("LD_PRELOAD={}", kFaults),
                                   fmt::format("POET_FAULT={}:{:.0f}:kill", kind, 1 + call)});
    }
    Background run(words, file("output"));
    const int code = run.wait();
    if (code == 0 || (code == 128 + SIGKILL && !fs::exists(pages) && fs::exists(file("c")))) {
      finish();  // at the latest instant before its end, if it was killed
      if (HasFatalFailure()) return;
      continue;
    }
    ASSERT_EQ(code, 128 + SIGKILL) << run.output();
    const std::int64_t step = step_left(pages).value_or(-1);
    ASSERT_GE(step, reached) << "a complete step is lost";
    ASSERT_LE(step, steps_);
    if (step > 0) ++killed;
    longest *= step >= std::max<std::int64_t>(reached, 0) + 3 * steps_ / 16 ? 0.93
               : step > reached                                             ? 1.01
                                                                            : 1.07;
    reached = step;
  }
  RecordProperty("runs_that_ended", done);
  EXPECT_GE(done, 1);
}

/// Where there is RAM to page to: many times as fast.
void Kill::kill_runs_in_ram(int kills) {
  const fs::path folder = "/dev/shm";
  std::error_code error;
  const std::string name = fmt::format("poet_test_pages_{}", getpid());
  const bool has_ram_disk =
      fs::space(folder, error).available > (1U << 26) && !error && access(folder.c_str(), W_OK) == 0;
  const std::string pages = has_ram_disk ? (folder / name).string() : file("pages");
  kill_runs(pages, kills);
  fs::remove(pages, error);
}

TEST_F(Kill, AtAnyInstantIsFollowedByTheSameBits) { kill_runs_in_ram(cases(60, 200)); }

TEST_F(Kill, AtAnyInstantOfTransfersByIndexIsFollowedByTheSameBits) {
  use_tables();
  kill_runs_in_ram(cases(40, 100));
}

// In the middle of a change, too: before, between and after the two plans.
TEST_F(Kill, OfARunThatChangesPlansIsFollowedByTheSameBits) {
  change_plans();
  kill_runs_in_ram(cases(30, 60));
}

TEST_F(Kill, OnADiskPastItsCache) { kill_runs(file("pages"), cases(5, 10)); }

}  // namespace
}  // namespace poet::test
