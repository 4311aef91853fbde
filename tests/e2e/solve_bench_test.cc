// The benchmark as its users run it: what it writes, how it continues, how it compares. Built with
// -DPOET_BENCH=ON only.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "tests/support/program.h"

namespace poet::test {
namespace {

using Json = nlohmann::ordered_json;
using testing::HasSubstr;
using testing::Not;

class SolveBench : public testing::Test {
 protected:
  void SetUp() override {
#ifndef POET_TEST_BENCH
    GTEST_SKIP() << "the benchmark is not part of this build; configure with -DPOET_BENCH=ON";
#endif
  }

  ProgramRun bench(const std::string& arguments, const std::string& interrupt_at = "") const {
#ifdef POET_TEST_BENCH
    std::vector<std::string> words = {POET_TEST_BENCH};
#else
    std::vector<std::string> words = {"false"};
#endif
    std::istringstream text(arguments);
    for (std::string word; text >> word;) words.push_back(word);
    return run_command(words, interrupt_at);
  }

  /// Two cases that take milliseconds, into `run_file()`.
  ProgramRun two_cases(const std::string& more = "") const {
    return bench("--only linear.m4,transformer.m0 --fractions 0.25 --time-limit 20 --json " + run_file() +
                 " " + more);
  }

  [[nodiscard]] std::string run_file() const { return folder_.file("run.json"); }
  [[nodiscard]] Json run() const { return Json::parse(std::ifstream(run_file())); }

  TemporaryFolder folder_;
};

TEST_F(SolveBench, WritesWhatItMeasured) {
  const ProgramRun program = two_cases();
  ASSERT_EQ(program.exit_code, 0) << program.err;
  EXPECT_THAT(program.err, HasSubstr("[2/2] published/transformer.m0 f=0.25 tight cbc: optimal"));
  EXPECT_THAT(program.out, HasSubstr("summary\n"));

  const Json file = run();
  EXPECT_EQ(file["finished"], true);
  EXPECT_GE(file["machine"]["cores"], 1);
  ASSERT_EQ(file["results"].size(), 2U);
  EXPECT_EQ(file["results"][0]["name"], "linear.m4");
  // W = 3,256 and A = 6,776 bytes: W + (A - W) / 4.
  EXPECT_EQ(file["results"][0]["ram_budget_bytes"], 4136);
  for (const Json& result : file["results"]) {
    EXPECT_EQ(result["status"], "optimal");
    EXPECT_EQ(result["verifier_accepts"], true);
    EXPECT_LE(result["gap"], 0.01);
    EXPECT_GT(result["energy_joules"], result["baseline_joules"]);
    EXPECT_LE(result["bound_joules"], result["energy_joules"]);
    EXPECT_LE(result["peak_ram_bytes"], result["ram_budget_bytes"]);
    EXPECT_LE(result["seconds_to_first"], result["seconds_to_near"]);
    EXPECT_LE(result["seconds_to_near"], result["seconds_to_gap"]);
    EXPECT_LE(result["seconds_to_gap"], result["wall_seconds"]);
    EXPECT_GT(result["peak_memory_bytes"], 1 << 20);
    EXPECT_GE(result["trace"].size(), 1U);
  }
  ASSERT_EQ(file["summary"].size(), 1U);
  EXPECT_EQ(file["summary"][0]["answered"], 2);
  EXPECT_EQ(file["summary"][0]["proven"], 2);
}

TEST_F(SolveBench, ShowsConfigurationsSideBySide) {
  const ProgramRun program =
      bench("--only linear.m4 --fractions 0.5 --formulation tight,published --without rounding,rounding");
  ASSERT_EQ(program.exit_code, 0) << program.err;
  EXPECT_THAT(program.err, HasSubstr("[3/3]"));  // what is asked for twice comes once
  EXPECT_THAT(program.out, HasSubstr("against tight cbc\n"));
  EXPECT_THAT(program.out, HasSubstr("tight cbc without rounding"));
  EXPECT_THAT(program.out, HasSubstr("published cbc"));
}

TEST_F(SolveBench, ARunComparedWithItselfIsNoWorse) {
  ASSERT_EQ(two_cases().exit_code, 0);
  const ProgramRun again = two_cases("--resume --compare " + run_file());
  EXPECT_EQ(again.exit_code, 0) << again.out;
  EXPECT_THAT(again.out, HasSubstr("2 of 2 solves"));
  EXPECT_THAT(again.out, HasSubstr("\n0 worse"));
}

TEST_F(SolveBench, FailsWhenAnEnergyGotWorse) {
  ASSERT_EQ(two_cases().exit_code, 0);
  Json old = run();
  Json& result = old["results"][0];
  const double baseline = result["baseline_joules"];
  result["energy_joules"] = baseline + 0.9 * (result["energy_joules"].get<double>() - baseline);
  const std::string file = folder_.write("old.json", old.dump());
  const ProgramRun now = two_cases("--resume --compare " + file);
  EXPECT_EQ(now.exit_code, 1);
  EXPECT_THAT(now.out, HasSubstr("WORSE"));
  EXPECT_THAT(now.out, HasSubstr("\n1 worse by more than 1% of the overhead, 0 answers lost"));
  // 1 / 0.9 = 11.1% more overhead.
  EXPECT_EQ(two_cases("--resume --tolerance 12% --compare " + file).exit_code, 0);
}

TEST_F(SolveBench, FailsWhenAnAnswerIsLost) {
  ASSERT_EQ(two_cases().exit_code, 0);
  Json old = run();
  old["results"][0]["ram_budget_bytes"] = 3255;  // one byte less than the largest working set
  const ProgramRun now =
      bench("--only linear.m4 --fractions 0.25 --compare " + folder_.write("old.json", old.dump()));
  EXPECT_EQ(now.exit_code, 1);
  EXPECT_THAT(now.out, HasSubstr("optimal -> infeasible"));
  EXPECT_THAT(now.out, HasSubstr("ANSWER LOST"));
}

TEST_F(SolveBench, SolvesOnlyWhatIsMissing) {
  ASSERT_EQ(two_cases().exit_code, 0);
  Json file = run();
  file["results"].erase(0);
  folder_.write("run.json", file.dump());
  const ProgramRun rest = two_cases("--resume");
  EXPECT_EQ(rest.exit_code, 0) << rest.err;
  EXPECT_THAT(rest.err, HasSubstr("linear.m4"));
  EXPECT_THAT(rest.err, Not(HasSubstr("transformer.m0")));
  EXPECT_EQ(run()["results"].size(), 2U);

  const ProgramRun other = two_cases("--resume --gap 2%");
  EXPECT_EQ(other.exit_code, 2);
  EXPECT_THAT(other.err, HasSubstr("other options"));
}

TEST_F(SolveBench, ASolveThatDiesIsAResult) {
  const ProgramRun program =
      bench("--only linear.m4 --fractions 0.25 --memory-limit 1000 --json " + run_file());
  EXPECT_EQ(program.exit_code, 0) << program.err;
  const Json file = run();
  EXPECT_TRUE(file["results"][0]["energy_joules"].is_null());
  EXPECT_EQ(file["summary"][0]["broken"], 1);
  EXPECT_EQ(file["summary"][0]["answered"], 0);
}

TEST_F(SolveBench, CtrlCKeepsWhatIsDone) {
  const ProgramRun program =
      bench("--only linear.m4,resnet18.m4 --fractions 0.5 --formulation published --time-limit 60 --json " +
                run_file(),
            "[1/2]");
  EXPECT_EQ(program.exit_code, 130);
  EXPECT_THAT(program.err, HasSubstr("interrupted; 1 of 2"));
  EXPECT_THAT(program.out, HasSubstr("linear.m4"));
  EXPECT_EQ(run()["finished"], false);
  EXPECT_EQ(run()["results"].size(), 1U);
}

TEST_F(SolveBench, RefusesWhatItDoesNotKnow) {
  for (const char* wrong : {"--set nosuch", "--without nosuch", "--formulation nosuch", "--solver nosuch",
                            "--only nosuch", "--fractions 2", "--resume", "--compare nosuch.json"}) {
    const ProgramRun program = bench(wrong);
    EXPECT_EQ(program.exit_code, 2) << wrong << ": " << program.err;
    EXPECT_THAT(program.err, HasSubstr("solve_bench: ")) << wrong;
  }
}

}  // namespace
}  // namespace poet::test
