// Solution files as solvers write them, and what is wrong with others.

#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

#include "poet/base/error.h"
#include "poet/optimize/solvers/command.h"
#include "poet/optimize/solvers/mps.h"

namespace poet {
namespace {

const ColumnNames kNames = {"R_1_0", "S_2_3", "x2", "7"};

SolutionFile read(const std::string& text) {
  std::istringstream in(text);
  return read_solution(in, kNames, "a.sol");
}

using Values = std::vector<double>;

TEST(SolutionFile, Gurobi) {
  const SolutionFile file = read("# Solution for model poet\n# Objective value = 5\nR_1_0 1\nx2 -2.5e-1\n");
  EXPECT_TRUE(file.has_solution);
  EXPECT_EQ(file.x, (Values{1, 0, -0.25, 0}));
}

TEST(SolutionFile, Scip) {
  const SolutionFile file = read(
      "solution status: optimal solution found\n"
      "objective value:                                    5\n"
      "R_1_0                                               1 \t(obj:2.5)\n"
      "S_2_3                              0.9999999999999999 \t(obj:0)\n");
  EXPECT_TRUE(file.has_solution);
  EXPECT_EQ(file.claim, "solution status: optimal solution found");
  EXPECT_EQ(file.x, (Values{1, 0.9999999999999999, 0, 0}));
  const SolutionFile none = read("solution status: infeasible\nno solution available\n");
  EXPECT_FALSE(none.has_solution);
  EXPECT_EQ(none.claim, "solution status: infeasible");
}

TEST(SolutionFile, Cbc) {
  const SolutionFile file = read(
      "Optimal - objective value 5.00000000\n"
      "      0 R_1_0                  1                     2.5\n"
      "**    1 S_2_3          1.0000001                       0\n"
      "      3 7                      2                       0\n");
  EXPECT_TRUE(file.has_solution);
  EXPECT_EQ(file.claim, "Optimal - objective value 5.00000000");
  EXPECT_EQ(file.x, (Values{1, 1.0000001, 0, 2}));
  EXPECT_TRUE(read("Optimal - objective value 0.00000000\n").has_solution);  // all zero
  EXPECT_TRUE(read("Stopped on time - objective value 4.2\n 0 R_1_0 1 0\n").has_solution);
  for (const std::string none :
       {"Infeasible - objective value 3", "Integer infeasible - objective value 3",
        "Stopped on time (no integer solution - continuous used) - objective value 3"})
    EXPECT_FALSE(read(none + "\n      0 R_1_0      0.5      2.5\n").has_solution) << none;
}

TEST(SolutionFile, Highs) {
  const SolutionFile file = read(
      "Model status\nOptimal\n\n# Primal solution values\nFeasible\nObjective 5\n# Columns 4\nR_1_0 1\nS_2_3 "
      "0\n"
      "x2 3\n7 0\n# Rows 1\nr0 4\n\n# Dual solution values\nNone\n");
  EXPECT_TRUE(file.has_solution);
  EXPECT_EQ(file.claim, "Optimal");
  EXPECT_EQ(file.x, (Values{1, 0, 3, 0}));
  const SolutionFile none =
      read("Model status\nInfeasible\n\n# Primal solution values\nNone\n\n# Dual solution values\nNone\n");
  EXPECT_FALSE(none.has_solution);
  EXPECT_EQ(none.claim, "Infeasible");
  EXPECT_FALSE(read("Model status\nTime limit reached\n\n# Primal solution values\nInfeasible\nObjective 5\n"
                    "# Columns 4\nR_1_0 0.5\n")
                   .has_solution);
}

TEST(SolutionFile, Glpsol) {
  const std::string head = "c Problem:    poet\nc Rows:       1\nc Columns:    4\nc\n";
  const SolutionFile file = read(head + "s mip 1 4 o 5\ni 1 4\nj 1 1\nj 2 0\nj 3 3\nj 4 0\ne o f\n");
  EXPECT_TRUE(file.has_solution);
  EXPECT_EQ(file.claim, "s mip 1 4 o 5");
  EXPECT_EQ(file.x, (Values{1, 0, 3, 0}));
  EXPECT_EQ(read(head + "s bas 1 4 f f 5\ni 1 b 4 0\nj 1 b 1 0\nj 3 u 3 -1\ne o f\n").x,
            (Values{1, 0, 3, 0}));
  for (const std::string none : {"s mip 1 4 n 0", "s mip 1 4 u 0", "s bas 1 4 i f 0"})
    EXPECT_FALSE(read(head + none + "\nj 1 1\n").has_solution) << none;
}

TEST(SolutionFile, BareLinesAndLineEnds) {
  EXPECT_EQ(read("7 4\r\n\r\nR_1_0\t1\r\n").x, (Values{1, 0, 0, 4}));
  EXPECT_EQ(read("7 4").x, (Values{0, 0, 0, 4}));
  EXPECT_FALSE(read("").has_solution);
  EXPECT_FALSE(read("# nothing found\n").has_solution);
}

std::string solution_diagnostic(const std::string& text) {
  try {
    (void)read(text);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(SolutionFile, WrongOnes) {
  EXPECT_EQ(solution_diagnostic("# a\nR_1_1 1\n"), "a.sol:2: \"R_1_1\" is no column of the model");
  EXPECT_EQ(solution_diagnostic("R_1_0 one\n"), "a.sol:1: \"one\" is no finite number");
  EXPECT_EQ(solution_diagnostic("R_1_0 nan\n"), "a.sol:1: \"nan\" is no finite number");
  EXPECT_EQ(solution_diagnostic("R_1_0 1e999\n"), "a.sol:1: \"1e999\" is no finite number");
  EXPECT_EQ(solution_diagnostic("R_1_0 1x\n"), "a.sol:1: \"1x\" is no finite number");
  EXPECT_EQ(solution_diagnostic("R_1_0\n"), "a.sol:1: must be \"name value\"");
  EXPECT_EQ(solution_diagnostic("\nx2 1\nx2 1\n"), "a.sol:3: \"x2\" is given twice");
  EXPECT_EQ(solution_diagnostic("Optimal - objective value 1\n 0 nix 1 0\n"),
            "a.sol:2: \"nix\" is no column of the model");
  EXPECT_EQ(solution_diagnostic("c\ns mip 1 4 o 5\nj 5 1\n"), "a.sol:3: \"5\" is no column of the model");
  EXPECT_EQ(solution_diagnostic("c\ns mip 1 4 o 5\nj 0 1\n"), "a.sol:3: \"0\" is no column of the model");
  EXPECT_EQ(solution_diagnostic("c\ns mip 1 4 o 5\nj 1\n"), "a.sol:3: must be \"j column value\"");
}

TEST(SolverCommand, SaysWhereFilesGo) {
  EXPECT_EQ(expand_command("s {mps} {seconds} -o {solution} {mps}", "a b", "c'd", 2.9),
            "s 'a b' 2 -o 'c'\\''d' 'a b'");
  EXPECT_EQ(expand_command("{mps} {solution} {seconds}", "a", "b", 0.1), "'a' 'b' 1");
  EXPECT_EQ(expand_command("{mps} {solution}", "{solution}", "{mps}", 1), "'{solution}' '{mps}'");
  EXPECT_THROW((void)expand_command("solve {mps}", "a", "b", 1), InputError);
  EXPECT_THROW((void)expand_command("solve {solution}", "a", "b", 1), InputError);
}

TEST(SolverCommand, ThatFailsIsBadInput) {
  Model model;
  model.add_binary(1);
  MipOptions options;
  options.solver = Solver::file;
  options.file.command = "exit 3 # {mps} {solution}";
  try {
    (void)solve_mip(model, options);
    FAIL() << "no diagnostic";
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(), "file.command: wrote no solution file; its exit code is 3");
  }
  // An answer that breaks the model is none.
  options.file.command = "echo x0 5 > {solution} # {mps}";
  EXPECT_EQ(solve_mip(model, options).status, MipStatus::unknown);
  options.file.command = "echo x0 1 > {solution} # {mps}";
  EXPECT_EQ(solve_mip(model, options).status, MipStatus::feasible);
}

}  // namespace
}  // namespace poet
