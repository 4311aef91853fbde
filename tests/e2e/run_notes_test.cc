// What poet run says of itself besides its figures, and what it keeps when something fails between two steps.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/support/background.h"
#include "tests/support/real_faults.h"
#include "tests/support/training.h"

namespace poet::test {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

const std::string kPairs = "--model linear --platform a72 --ram-budget 1MB --batch-size 2 ";

class RunNotes : public ::testing::Test {
 protected:
  [[nodiscard]] std::string file(const std::string& name) const { return folder_.file(name); }
  static std::string notes(const std::string& options) { return trained(options)["notices"].dump(); }

  const TemporaryFolder folder_;
};

TEST_F(RunNotes, StepsThatDidNoUpdate) {
  const std::string options = kPairs + "--accumulate 4 ";
  EXPECT_THAT(notes(options + "--steps 3"),
              AllOf(HasSubstr("no update was done"), HasSubstr("3 of them are done"),
                    HasSubstr("without --checkpoint")));
  EXPECT_THAT(notes(options + "--steps 6 --checkpoint " + file("c")),
              AllOf(HasSubstr("the last 2 steps did no update"), HasSubstr("the checkpoint has the sum")));
  EXPECT_EQ(notes(options + "--steps 8"), "[]");
  EXPECT_EQ(notes(options + "--steps 8 --resume " + file("c")), "[]");
}

TEST_F(RunNotes, ABestCheckpointThatWasNotWritten) {
  const std::string options = kPairs + "--samples 8 --checkpoint " + file("c") + " --best " + file("best") +
                              " --validate " + file("data") + " ";
  std::filesystem::create_directory(file("data"));
  // One sample, and batches of two.
  std::ofstream(file("data/input.bin"), std::ios::binary) << std::string(784 * sizeof(float), '\0');
  std::ofstream(file("data/targets.u8"), std::ios::binary) << '\3';
  EXPECT_THAT(notes(options + "--validate-every 4 --steps 3"),
              HasSubstr("measured after every 4 steps, and the run ended before"));
  EXPECT_FALSE(std::filesystem::exists(file("best")));
  const auto json = trained(options + "--validate-every 2 --steps 2");
  EXPECT_EQ(json["notices"].dump(), "[]");
  ASSERT_EQ(json["validations"].size(), 1U);
  EXPECT_GT(json["validations"][0]["loss"], 0);
}

TEST_F(RunNotes, PartsThatAddUpInAnotherOrder) {
  EXPECT_EQ(notes(kPairs + "--steps 1 --split off"), "[]");
  EXPECT_THAT(notes(kPairs + "--steps 1 --split 8KiB"), HasSubstr("operators in parts (--split) sum"));
  EXPECT_EQ(notes(kPairs + "--steps 1 --split 8KiB --kernels reference"), "[]");
}

TEST_F(RunNotes, AnEventFileThatCannotGrowKeepsTheRun) {
  std::filesystem::create_directory(file("tb"));
  ProgramRun run;
  {
    // Steps are 71 bytes each; the checkpoint of a network this small is below the limit.
    const FileSizeLimit limit(1'000'000);
    run = poet("run --quiet " + kPairs + "--samples 2 --steps 30000 --tensorboard " + file("tb") +
               " --checkpoint " + file("c") + " --loss-out " + file("l.csv"));
  }
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_EQ(run.out, "");
  EXPECT_EQ(std::count(run.err.begin(), run.err.end(), '\n'), 1) << run.err;
  EXPECT_THAT(run.err,
              ContainsRegex("tfevents[^:]*: cannot be written: File too large.*\\(the run up to step "
                            "[0-9]+ is in .*c\\)"));
  const std::string losses = file_text(file("l.csv"));
  const auto rows = std::count(losses.begin(), losses.end(), '\n') - 1;
  const auto resumed =
      trained(kPairs + "--samples 2 --resume " + file("c") + " --steps " + std::to_string(rows + 1));
  EXPECT_EQ(resumed["first_step"], rows + 1);
}

TEST_F(RunNotes, ACheckpointThatFailsKeepsTheLosses) {
  const FileSizeLimit limit(100'000);  // of a checkpoint of 400 KB
  const ProgramRun run = poet("run --quiet " + kPairs + "--steps 9 --checkpoint-every 4 --checkpoint " +
                              file("c") + " --loss-out " + file("l.csv"));
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_THAT(run.err,
              AllOf(HasSubstr("c: cannot be written: File too large"), Not(HasSubstr("the run up to"))));
  const std::string losses = file_text(file("l.csv"));
  EXPECT_EQ(std::count(losses.begin(), losses.end(), '\n'), 1 + 4);
}

}  // namespace
}  // namespace poet::test
