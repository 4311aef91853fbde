// poet solve --solver file, as a user goes about it: write the model, solve it elsewhere, come back.

#include <gtest/gtest.h>

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "poet/optimize/solvers/cbc.h"
#include "tests/support/background.h"
#include "tests/support/program.h"

namespace poet {
namespace {

using test::ProgramRun;

// 5,860 columns; greedy schedules are 3.6% above the baseline, the best known ones 1.4%.
constexpr const char* kProblem =
    "solve --model transformer --platform jetsontx2 --ram-budget 72MB --runtime-budget 1.3 --gap 0.0001 "
    "--quiet "
    "--json ";

ProgramRun run(const std::string& more) { return test::poet(kProblem + more); }

std::string first_lines(const std::string& file, int count) {
  std::ifstream in(file);
  std::string text, line;
  for (int i = 0; i < count && std::getline(in, line); ++i) text += line + "\n";
  return text;
}

TEST(SolverFile, WritesTheModelAndTakesTheAnswer) {
  const test::TemporaryFolder folder;
  const std::string mps = folder.file("m.mps");
  const ProgramRun wrote = run("--solver file --mps " + mps);
  ASSERT_EQ(wrote.exit_code, 0) << wrote.err;
  EXPECT_NE(wrote.json()["next_step"].get<std::string>().find("--solution"), std::string::npos);
  const std::string head = first_lines(mps, 4);
  EXPECT_EQ(head.rfind("* poet timing: conservative\n* poet exact stages:\n* poet model: ", 0), 0U) << head;
  EXPECT_GT(wrote.json()["staged_bound_joules"].get<double>(), wrote.json()["baseline_joules"].get<double>());

  // An answer that decides nothing: everything is kept, which does not fit; the model comes back with the
  // stages that overflow.
  const std::string nothing = folder.write("none.sol", "# Objective value = 0\nM 0\n");
  const ProgramRun refused = run(fmt::format("--solver file --mps {} --solution {}", mps, nothing));
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_NE(refused.err.find("none.sol:2: \"M\" is no column of the model"), std::string::npos)
      << refused.err;
  const std::string empty = folder.write("keep_all.sol", "Optimal - objective value 0\n");
  const ProgramRun overflow = run(fmt::format("--solver file --mps {} --solution {}", mps, empty));
  ASSERT_EQ(overflow.exit_code, 0) << overflow.err;
  EXPECT_NE(overflow.json()["next_step"].get<std::string>().find("exact rows"), std::string::npos);
  EXPECT_NE(first_lines(mps, 2).find("exact stages: "), std::string::npos);

  // The changed model is taken for its own again, another problem's is not.
  EXPECT_EQ(run(fmt::format("--solver file --mps {} --solution {}", mps, empty)).exit_code, 0);
  const ProgramRun other =
      run(fmt::format("--solver file --max-bytes-written 70MB --mps {} --solution {}", mps, empty));
  EXPECT_EQ(other.exit_code, 2);
  EXPECT_NE(other.err.find("is the model of another problem"), std::string::npos) << other.err;
}

TEST(SolverFile, SaysWhyNoModelWasWrittenOrNoAnswerRead) {
  const test::TemporaryFolder folder;
  const std::string mps = folder.file("m.mps");
  const auto next_step = [&](const std::string& options) {
    return test::poet(
               "solve --model transformer --platform jetsontx2 --ram-budget 72MB --runtime-budget 1.3 "
               "--quiet --json --solver file --mps " +
               mps + options)
        .json()
        .value("next_step", "");
  };
  EXPECT_EQ(next_step(" --time-limit 0.000001"),
            "no model was written before the time limit: run again with a longer --time-limit");
  EXPECT_EQ(next_step(" --gap 1"), "no model was written: nothing is left to solve");
  const ProgramRun none = test::poet(
      "solve --model transformer --platform jetsontx2 --ram-budget 1MB --quiet --json --solver file --mps " +
      mps);
  EXPECT_EQ(none.exit_code, 1);
  EXPECT_EQ(none.json().value("next_step", ""), "no model was written: no plan is within the limits");
  EXPECT_FALSE(std::filesystem::exists(mps));

  ASSERT_NE(next_step(" --gap 0.0001").find("minimise"), std::string::npos);
  const std::string answer = folder.write("m.sol", "Optimal - objective value 0\n");
  EXPECT_EQ(next_step(" --time-limit 0.000001 --solution " + answer),
            answer + " was not read before the time limit: run again with a longer --time-limit");
  EXPECT_EQ(next_step(" --gap 1 --solution " + answer), answer + " was not read: nothing is left to solve");
}

// The relaxation may take longer than everything before it.
TEST(SolverFile, WritesTheModelBeforeItSolvesTheRootRelaxation) {
  const test::TemporaryFolder folder;
  const std::string progress = folder.file("progress");
  const ProgramRun wrote =
      run(fmt::format("--solver file --mps {} --progress-out {}", folder.file("m.mps"), progress));
  ASSERT_EQ(wrote.exit_code, 0) << wrote.err;
  const std::string phases = first_lines(progress, 1000);
  const std::size_t written = phases.find("external solver");
  ASSERT_NE(written, std::string::npos) << phases;
  EXPECT_NE(phases.find("root relaxation", written), std::string::npos) << phases;
  EXPECT_EQ(phases.find("root relaxation"), phases.find("root relaxation", written)) << phases;
}

TEST(SolverFile, RefusesADamagedModel) {
  const test::TemporaryFolder folder;
  const std::string empty = folder.write("keep_all.sol", "Optimal - objective value 0\n");
  for (const char* stages : {"5000000", "-1", "65"}) {
    const std::string mps = folder.write(
        "m.mps",
        fmt::format("* poet timing: conservative\n* poet exact stages: {}\n* poet model: 1\n", stages));
    const ProgramRun refused = run(fmt::format("--solver file --mps {} --solution {}", mps, empty));
    EXPECT_EQ(refused.exit_code, 2) << stages;
    EXPECT_NE(refused.err.find(fmt::format("has exact rows for stage {}: there is none", stages)),
              std::string::npos)
        << refused.err;
  }
}

TEST(SolverFile, RunsACommand) {
  // A solver that finds nothing: poet's own schedule stands, with its own bound.
  std::vector<std::string> words = {test::program().string(),
                                    "solve",
                                    "--model",
                                    "transformer",
                                    "--platform",
                                    "jetsontx2",
                                    "--ram-budget",
                                    "72MB",
                                    "--runtime-budget",
                                    "1.3",
                                    "--gap",
                                    "0.0001",
                                    "--quiet",
                                    "--json",
                                    "--solver",
                                    "file",
                                    "--solver-command"};
  std::vector<std::string> nothing = words;
  nothing.emplace_back("test -s {mps} && echo '# nothing' > {solution}");
  const ProgramRun kept = test::run_command(nothing);
  ASSERT_EQ(kept.exit_code, 0) << kept.err;
  EXPECT_EQ(kept.json()["status"], "feasible");
  EXPECT_EQ(kept.json()["solver"], "MPS file, bound by " + cbc_version());
  EXPECT_EQ(kept.json()["external_solver"], "run 2 times; its last answer has no solution");

  std::vector<std::string> refuses = words;
  refuses.emplace_back("echo 'Infeasible - objective value 0' > {solution} # {mps}");
  EXPECT_EQ(test::run_command(refuses).json()["external_solver"],
            "run 2 times; its last answer \"Infeasible - objective value 0\" has no solution");

  std::vector<std::string> skipped = words;
  skipped.emplace_back("exit 4 # {mps} {solution}");
  skipped.insert(skipped.end(), {"--time-limit", "0.000001"});
  EXPECT_EQ(test::run_command(skipped).json()["external_solver"],
            "not run before the time limit: run again with a longer --time-limit");

  std::vector<std::string> fails = words;
  fails.emplace_back("exit 4 # {mps} {solution}");
  const ProgramRun failed = test::run_command(fails);
  EXPECT_EQ(failed.exit_code, 2);
  EXPECT_NE(failed.err.find("--solver-command: wrote no solution file; its exit code is 4"),
            std::string::npos)
      << failed.err;

  // Time is up while the command runs: it is ended, and its children with it.
  std::vector<std::string> slow = words;
  const test::TemporaryFolder folder;
  const std::string its_id = folder.file("id");
  slow.emplace_back("sleep 1000000 & echo $! > " + its_id + "; wait # {mps} {solution}");
  slow.insert(slow.end(), {"--time-limit", "5s"});
  const ProgramRun late = test::run_command(slow);
  EXPECT_EQ(late.exit_code, 0) << late.err;
  ASSERT_NE(test::file_text(its_id), "") << late.out << late.err;
  const pid_t sleeping = std::stoi(test::file_text(its_id));
  EXPECT_TRUE(test::wait_until([&] { return test::is_gone(sleeping); }));
  EXPECT_EQ(late.json()["external_solver"].get<std::string>().find("run "), 0U) << late.out;
}

// Before the search: with a gap that the first schedule meets, the files would never be read.
TEST(SolverFile, RefusesMissingFilesAtOnce) {
  const test::TemporaryFolder folder;
  const std::string empty = folder.write("keep_all.sol", "Optimal - objective value 0\n");
  const std::string mps =
      folder.write("m.mps", "* poet timing: relaxed\n* poet exact stages:\n* poet model: 1\n");
  const auto refused = [&](const std::string& model, const std::string& solution,
                           const std::string& message) {
    const ProgramRun result = test::poet(
        fmt::format("solve --model transformer --platform jetsontx2 --ram-budget 72MB --gap 1 --quiet "
                    "--solver file --mps {} --solution {}",
                    model, solution));
    EXPECT_EQ(result.exit_code, 2) << result.out;
    EXPECT_NE(result.err.find(message), std::string::npos) << result.err;
  };
  const std::string none = folder.file("none");
  refused(mps, none, "none: cannot be read; --solution names the file that the solver has written");
  refused(mps, folder.file(""), "cannot be read; --solution names");
  refused(none, empty, "none: cannot be read; --solution needs the model that was solved");
  refused(empty, empty, "keep_all.sol: does not begin as a model that poet has written");
  refused(folder.file("nowhere/m.mps"), empty, "--mps: no such folder");
}

TEST(SolverFile, OptionsThatDoNotGoTogether) {
  const auto refused = [](const std::string& options, const std::string& message) {
    const ProgramRun result = run(options);
    EXPECT_EQ(result.exit_code, 2) << options;
    EXPECT_NE(result.err.find(message), std::string::npos) << options << ": " << result.err;
  };
  refused("--solver file", "--solver: file needs --mps FILE.mps to write the model to, or --solver-command");
  refused("--mps m.mps", "is for --solver file only");
  refused("--solver cbc --solution a.sol", "is for --solver file only");
  refused("--solver file --solver-command x --mps m.mps",
          "must say where the files go: {mps} and {solution}");
  refused("--solver file --solver-command {mps}{solution} --solution a.sol", "--solution: is the answer");
  refused("--solver file --mps /nowhere/m.mps", "--mps");
}

}  // namespace
}  // namespace poet
