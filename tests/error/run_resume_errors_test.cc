// What poet run says of a page file that a killed run has left, and of storage that is too small for
// parameters at home on it: one line, exit 2, and everything as it was.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <memory>

#include "poet/base/error.h"
#include "poet/runtime/storage/left_run.h"
#include "tests/support/background.h"
#include "tests/support/paged_training.h"
#include "tests/support/real_faults.h"

namespace poet::test {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

class RunResumeErrors : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    plans_ = std::make_unique<TemporaryFolder>();
    plan_ = plan_of_linear_in_parts(*plans_);
  }
  static void TearDownTestSuite() { plans_.reset(); }

  [[nodiscard]] std::string file(const std::string& name) const { return folder_.file(name); }
  [[nodiscard]] std::string pages() const { return file("pages"); }

  /// The options of a run by `plan`.
  static std::string by(const std::string& plan) { return plan + " --kernels reference "; }

  /// stderr of `poet run`, which must be refused with one line and leave the page file as it is.
  std::string refused(const std::string& options) const {
    const std::string before = file_text(pages());
    const ProgramRun run = poet("run --quiet " + options);
    EXPECT_EQ(run.exit_code, 2) << run.out << run.err;
    EXPECT_EQ(run.out, "");
    EXPECT_EQ(std::count(run.err.begin(), run.err.end(), '\n'), 1) << run.err;
    EXPECT_TRUE(file_text(pages()) == before) << run.err;
    return run.err;
  }

  /// Of a run that goes on while its page file is read.
  [[nodiscard]] std::int64_t step_of_running() const {
    try {
      return runtime::LeftRun(pages()).record().step;
    } catch (const InputError&) {
      return -1;
    }
  }

  /// Kills a run that has come some steps far.
  void leave_a_run() const {
    Background run({program().string(), "run", plan_, "--kernels", "reference", "--steps", "1000000",
                    "--storage", pages()},
                   file("output"));
    ASSERT_TRUE(wait_until([&] { return step_of_running() >= 2; })) << run.output();
    run.send(SIGKILL);
    ASSERT_EQ(run.wait(), 128 + SIGKILL);
    fs::remove(file("output"));
  }

  TemporaryFolder folder_;
  static std::unique_ptr<TemporaryFolder> plans_;
  static std::string plan_;
};
std::unique_ptr<TemporaryFolder> RunResumeErrors::plans_;
std::string RunResumeErrors::plan_;

TEST_F(RunResumeErrors, ARunThatCanBeGoneOnFromIsNotOverwritten) {
  leave_a_run();
  const std::int64_t step = runtime::look_at_left_run(pages()).record().step;
  const std::string steps = " --steps 100000000";
  EXPECT_EQ(refused(by(plan_) + steps + " --storage " + pages()),
            "poet: " + pages() + ": holds a run that can be resumed after step " + std::to_string(step) +
                ": do so with --resume, or remove the file\n");
  // Whatever would page there.
  EXPECT_THAT(refused("--model linear --platform a72 --ram-budget 1MB --steps 3 --storage " + pages()),
              HasSubstr("holds a run that can be resumed"));
  EXPECT_EQ(
      poet("profile --model linear -o " + file("p.json") + " --seconds 0.1 --storage " + pages()).exit_code,
      2);
  EXPECT_THAT(refused(by(plan_) + steps + " --checkpoint " + pages() + " --resume " + pages()),
              AllOf(HasSubstr("--checkpoint"), HasSubstr("must name another file than")));
  EXPECT_EQ(refused(by(plan_) + "--resume " + pages() + " --steps " + std::to_string(step - 1)),
            "poet: --steps: must be at least " + std::to_string(step) + ", the steps that " + pages() +
                " has done\n");
  EXPECT_THAT(names_in(file("")), ElementsAre("pages"));
}

TEST_F(RunResumeErrors, OnlyTheSameRunGoesOn) {
  leave_a_run();
  const std::string go_on = " --steps 100000000 --resume " + pages();
  const TemporaryFolder others;
  EXPECT_EQ(
      refused(by(plan_of_linear_in_parts(others, "24KiB", "2KiB")) + go_on),
      "poet: " + pages() + ": holds a run of another network, or of one in other parts or another order\n");
  EXPECT_EQ(
      refused(by(plan_of_small_cnn(others, kPlenty)) + go_on),
      "poet: " + pages() + ": holds a run of another network, or of one in other parts or another order\n");
  EXPECT_EQ(
      refused("--model resnet14_cifar --platform m4 --ram-budget 1GB --beyond-device-ram" + go_on),
      "poet: " + pages() + ": holds a run of another network, or of one in other parts or another order\n");
  EXPECT_THAT(refused(by(plan_) + "--momentum 0.5" + go_on),
              HasSubstr("holds a run that differs in its optimizer: "));
  EXPECT_THAT(refused(by(plan_) + "--lr-warmup 7" + go_on),
              HasSubstr("holds a run that differs in its schedule: constant, not constant warmup=7"));
  EXPECT_THAT(refused(by(plan_) + "--samples 77" + go_on),
              HasSubstr("holds a run that differs in its data: "));
  EXPECT_THAT(refused(plan_ + " --kernels lean" + go_on),
              HasSubstr("holds a run that differs in its kernels: "));
  EXPECT_EQ(refused(by(plan_) + "--seed 5" + go_on), "poet: --seed: is 5, that of " + pages() + " is 0\n");
  EXPECT_THAT(refused(by(plan_) + "--encrypt" + go_on), StartsWith("poet: --encrypt: is not possible: "));
  EXPECT_THAT(refused(by(plan_) + "--storage " + file("") + go_on), StartsWith("poet: --storage: must be "));
  EXPECT_THAT(names_in(file("")), ElementsAre("pages"));
}

TEST_F(RunResumeErrors, ADamagedPartIsNamed) {
  leave_a_run();
  const runtime::LeftRun left = runtime::look_at_left_run(pages());
  // Slots of paged values come first, and all of these are of less than a block.
  const runtime::PageFileHeader header = left.header();
  const std::int64_t first = (header.block + 2 * rounded_up(header.record, header.block)).value();
  std::fstream stream(pages(), std::ios::binary | std::ios::in | std::ios::out);
  const std::size_t slot = left.record().homes.at(3).slot;
  stream.seekp(first + static_cast<std::int64_t>(slot) * header.block.value());
  stream.write("damage", 6);
  stream.close();
  EXPECT_THAT(
      refused(by(plan_) + "--steps 100000000 --checkpoint " + file("c") + " --resume " + pages()),
      ::testing::MatchesRegex("poet: page [0-9]+ of .*pages \\(fc[0-9][.]weight(.velocity)?\\[[0-9:,]+\\]\\)"
                              " is corrupted: what the storage gave back is not what was written to it\n"));
  EXPECT_THAT(names_in(file("")), ElementsAre("pages"));
}

TEST_F(RunResumeErrors, NothingToGoOnFrom) {
  leave_a_run();
  const std::string whole = file_text(pages());
  std::ofstream(pages(), std::ios::binary) << whole.substr(0, 4096);
  EXPECT_EQ(refused(by(plan_) + "--resume " + pages()),
            "poet: " + pages() + ": holds no complete step to go on from; start without --resume\n");
  train(by(plan_) + "--steps 1 --storage " + pages());
  EXPECT_THAT(names_in(file("")), IsEmpty());
}

TEST_F(RunResumeErrors, AnInterruptedRunSaysHowToGoOn) {
  const ProgramRun run = run_command({program().string(), "run", plan_, "--kernels", "reference", "--steps",
                                      "1000000", "--storage", pages()},
                                     "poet: step ");
  EXPECT_EQ(run.exit_code, 1) << run.err;
  EXPECT_THAT(run.out, HasSubstr("; --resume " + pages() + " goes on"));
  const std::int64_t step = runtime::look_at_left_run(pages()).record().step;
  // With a checkpoint there is nothing else to keep.
  const ProgramRun saved = run_command({program().string(), "run", plan_, "--kernels", "reference", "--steps",
                                        "1000000", "--resume", pages(), "--checkpoint", file("c"), "--json"},
                                       "poet: step ");
  EXPECT_EQ(saved.exit_code, 1) << saved.err;
  EXPECT_EQ(saved.json()["first_step"], step + 1);
  EXPECT_TRUE(saved.json()["resumable"].is_null());
  EXPECT_THAT(names_in(file("")), ElementsAre("c"));
}

TEST_F(RunResumeErrors, WhatIsNotFiniteIsNothingToGoOnFrom) {
  const ProgramRun run =
      poet("run --quiet " + by(plan_) + "--learning-rate 1e30 --steps 9 --storage " + pages());
  EXPECT_EQ(run.exit_code, 1) << run.err;
  EXPECT_THAT(run.out, HasSubstr("; try a smaller --learning-rate"));
  EXPECT_THAT(names_in(file("")), IsEmpty());
}

TEST_F(RunResumeErrors, StorageThatIsTooSmallForHomes) {
  const FileSizeLimit limit(200'000);
  for (const std::string& where : {pages(), file("")}) {
    const ProgramRun run =
        poet("run --quiet " + by(plan_) + "--steps 1 --checkpoint " + file("c") + " --storage " + where);
    EXPECT_EQ(run.exit_code, 2);
    EXPECT_EQ(run.out, "");
    EXPECT_THAT(run.err, AllOf(HasSubstr(": cannot be given the "), HasSubstr("bytes that it needs")));
    EXPECT_THAT(names_in(file("")), IsEmpty());
  }
}

}  // namespace
}  // namespace poet::test
