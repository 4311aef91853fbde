// What the program says about a result, from results made by hand.

#include "apps/cli/solve/summary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <nlohmann/json.hpp>

#include "apps/cli/solve/family_text.h"
#include "apps/cli/solve/result_json.h"
#include "apps/cli/solve/suggestions.h"
#include "poet/optimize/certificate.h"
#include "poet/plan/schedule/linearise.h"
#include "tests/support/tiny_instance.h"

namespace poet::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// chain() of tests/support: a (10 B); b (20 B) reads a; c (5 B) reads b; d (1 B) reads a and c. Peak 35 B at
/// c with everything kept; b with its operand needs 30 B, which no schedule avoids.
Solved infeasible() {
  Solved solved;
  solved.request.instance = test::chain();
  solved.request.semantics = Semantics::staged;
  solved.request.limits.ram_budget = Bytes(29);
  solved.workload.origin = "instance file chain.json";
  solved.figures.keep_all.peak_ram = Bytes(35);
  solved.figures.keep_all.runtime = Seconds(4);
  solved.figures.keep_all.energy = Joules(8);
  solved.result.keep_all = solved.figures.keep_all;
  solved.result.certificate.status = Status::infeasible;
  solved.result.outcome.explanation.least_ram = Bytes(30);
  solved.suggestions.ram = Bytes(30);
  solved.result.outcome.explanation.reason = "b needs 30 B";
  solved.figures.floor.largest.values = Bytes(30);
  solved.figures.floor.op = OpId(1);
  return solved;
}

TEST(Suggestions, PutsTheSmallestChangeFirst) {
  Solved solved = infeasible();
  EXPECT_THAT(suggestion_texts(solved), ElementsAre("--ram-budget 30 (3.4% more)"));  // 30 / 29 - 1

  // Enough RAM for every op, too little for this deadline: either limit may give way.
  solved.request.limits.ram_budget = Bytes(30);
  solved.request.limits.deadline = Seconds(4.5);
  solved.suggestions.ram = Bytes(34);        // 13% more
  solved.suggestions.deadline = Seconds(5);  // 11% more
  EXPECT_THAT(suggestion_texts(solved), ElementsAre("--deadline 5 (11% more)", "--ram-budget 34 (13% more)"));
  solved.suggestions.ram = Bytes(35);
  solved.suggestions.ram_keeps_all = true;
  EXPECT_THAT(suggestion_texts(solved),
              ElementsAre("--deadline 5 (11% more)",
                          "--ram-budget 35 (17% more), with which everything can be kept"));
}

// The explanation knows a schedule, and there was no time to search with its limits.
TEST(Suggestions, SaysPerhapsOfWhatWasNotTried) {
  Solved solved = infeasible();
  solved.suggestions = {};
  EXPECT_THAT(suggestion_texts(solved), ElementsAre("perhaps --ram-budget 30 (3.4% more)"));
  solved.request.limits.ram_budget = Bytes(32);
  solved.request.limits.deadline = Seconds(4.5);
  solved.result.outcome.explanation.least_deadline = Seconds(5.0000001);
  EXPECT_THAT(suggestion_texts(solved), ElementsAre("perhaps --deadline 5.000001 (11% more)"));
}

TEST(Suggestions, NamesBothLimitsWhereNeitherAloneWillDo) {
  Solved solved = infeasible();
  solved.request.limits.deadline = Seconds(1);  // the four ops alone take 4 s
  solved.suggestions = {};
  solved.suggestions.both = {Bytes(35), Seconds(4)};
  EXPECT_THAT(suggestion_texts(solved),
              ElementsAre("--ram-budget 35 together with --deadline 4: the step without limits"));
}

TEST(Suggestions, NamesWhateverElseWasTried) {
  Solved solved = infeasible();
  solved.request.limits.ram_budget = Bytes(31);
  solved.request.limits.max_bytes_written = Bytes(1);
  solved.suggestions.ram = Bytes(34);
  solved.suggestions.others = {"without --no-paging"};
  solved.suggestions.max_bytes_written = Bytes(10);
  solved.suggestions.batch_size = 4;
  EXPECT_THAT(suggestion_texts(solved), ElementsAre("--ram-budget 34 (9.7% more)", "without --no-paging",
                                                    "--max-bytes-written 10", "--batch-size 4"));
  // Where nothing was found there is no figure.
  solved.suggestions = {};
  EXPECT_THAT(suggestion_texts(solved), ElementsAre("a larger --ram-budget"));
  solved.request.limits.deadline = Seconds(1);
  EXPECT_THAT(suggestion_texts(solved), ElementsAre("a later deadline, or none"));
}

TEST(Suggestions, PersistentBytesNameTheirOption) {
  Solved solved = infeasible();
  solved.request.instance.costs.persistent = Bytes(1000);
  solved.workload.device = DeviceProfile{};
  solved.figures.floor.persistent = Bytes(1000);
  solved.floor_elsewhere = Bytes(30);
  solved.request.limits.ram_budget = Bytes(500);
  EXPECT_EQ(why_not(solved),
            "parameters and optimiser state alone take 1,000 B, more than the budget of 500 B; --persistent "
            "excluded "
            "assumes that they live elsewhere and then needs 30 B");
}

TEST(Summary, UnknownIsNotInfeasible) {
  Solved solved = infeasible();
  solved.result.certificate.status = Status::unknown;
  solved.result.outcome.solve_seconds = 60;
  solved.result.outcome.timed_out = true;
  solved.request.options.time_limit_seconds = 60;
  solved.request.limits.ram_budget = Bytes(32);
  solved.result.outcome.explanation.least_ram.reset();
  solved.suggestions.ram = Bytes(35);
  solved.suggestions.ram_keeps_all = true;
  const std::string text = summary_text(solved);
  EXPECT_THAT(
      text,
      HasSubstr("unknown: time ran out after 60 s without a plan, which does not mean that none exists"));
  EXPECT_THAT(text, HasSubstr("--ram-budget 35 (9.4% more), with which everything can be kept"));
  EXPECT_THAT(text, HasSubstr("a longer --time-limit"));
  solved.result.outcome.timed_out = false;
  EXPECT_THAT(summary_text(solved), HasSubstr("unknown: the search ended after 60 s without a plan"));
  EXPECT_THAT(summary_text(solved), Not(HasSubstr("a longer --time-limit")));
  const nlohmann::ordered_json json = result_json(solved);
  EXPECT_EQ(json["status"], "unknown");
  EXPECT_TRUE(json["energy_joules"].is_null());
  EXPECT_TRUE(json["bound_joules"].is_number());

  solved.interrupted = true;
  solved.stopped_by = SIGINT;
  EXPECT_THAT(summary_text(solved), HasSubstr("unknown: stopped by Ctrl-C"));
  solved.stopped_by = SIGTERM;
  EXPECT_THAT(summary_text(solved), HasSubstr("unknown: stopped by SIGTERM"));
}

TEST(Summary, FeasibleSaysWhatIsNotProven) {
  Solved solved = infeasible();
  solved.result.certificate.status = Status::feasible;
  solved.result.plan =
      linearise(solved.request.instance, test::chain_recomputing(), solved.request.semantics);
  solved.result.report.energy = Joules(10);
  solved.result.certificate.bounds.every_plan = Joules(9);
  solved.result.certificate.gap = 0.5;  // (10 - 9) / (10 - 8)
  solved.result.overhead = 0.25;
  solved.result.report.recomputations = 1;
  const std::string text = summary_text(solved);
  EXPECT_THAT(text, HasSubstr("feasible, not proven best"));
  EXPECT_THAT(text, HasSubstr("50% of the overhead"));
  // What ends by itself finds no more with more time, however long it took; what a limit ended may.
  solved.result.outcome.solve_seconds = 59;
  solved.request.options.time_limit_seconds = 60;
  EXPECT_THAT(summary_text(solved), HasSubstr("; the search ended by itself"));
  EXPECT_THAT(summary_text(solved), Not(HasSubstr("a longer --time-limit")));
  solved.result.outcome.solve_seconds = 20;
  solved.result.outcome.timed_out = true;  // a part, with its share
  EXPECT_THAT(summary_text(solved), HasSubstr("; a longer --time-limit may find it"));
  solved.interrupted = true;
  solved.stopped_by = SIGHUP;
  EXPECT_THAT(summary_text(solved), HasSubstr("; stopped by SIGHUP"));
  solved.interrupted = false;
  EXPECT_THAT(text, HasSubstr("10 J, 25% over the 8 J of the step without limits"));
  EXPECT_THAT(text, HasSubstr("1 op for 2 J: a (2 J)"));  // every op costs 2 J
  solved.workload.cut.part = Bytes(2048);                 // nothing is proven of other parts
  EXPECT_THAT(summary_text(solved), HasSubstr("feasible in parts of 2,048 B, not proven best"));
}

Solved feasible(Bytes budget) {
  Solved solved = infeasible();
  solved.request.limits.ram_budget = budget;
  solved.result.certificate = certify(Joules(10), Joules(8), {Joules(9), std::nullopt}, 0.01);
  return solved;
}

TEST(Summary, SaysWhichOptionsAnotherOneImplies) {
  Solved solved = feasible(Bytes(30));
  EXPECT_THAT(summary_text(solved), Not(HasSubstr("implies")));
  ProblemOptions options;
  EXPECT_EQ(implied_options(options), "");
  options.solver.no_paging = true;
  EXPECT_EQ(implied_options(options), "--no-paging implies --persistent resident and --split off");
  options.input.split = "auto";
  EXPECT_EQ(implied_options(options), "--no-paging implies --persistent resident");
  options.solver.solver = "file";
  options.input.persistent = "auto";
  EXPECT_EQ(implied_options(options), "");
  options.input.split.reset();
  solved.implied_options = implied_options(options);
  EXPECT_THAT(summary_text(solved), HasSubstr("Note          --solver file implies --split off\n"));
  // Defaults of a device's rules.
  options.input.semantics = "staged";
  EXPECT_EQ(implied_options(options), "");
}

TEST(Summary, OfSeveralBudgetsHasTheGapOfEachAndNotesOnce) {
  std::vector<Solved> answers = {feasible(Bytes(60)), feasible(Bytes(30))};
  answers[0].result.certificate = certify(Joules(8), Joules(8), {Joules(8), std::nullopt}, 0.01);
  for (Solved& solved : answers) solved.implied_options = "--no-paging implies --split off";
  answers[1].workload.notices = {"constants of the file stay in RAM"};
  const std::string text = answers_text(answers);
  EXPECT_THAT(text, HasSubstr("gap (of energy)"));
  EXPECT_THAT(text, testing::ContainsRegex("60 B  optimal +0 J +0% +0% "));
  EXPECT_THAT(text, testing::ContainsRegex("30 B  feasible +0 J +0% +50% \\(10%\\)"));
  EXPECT_THAT(text, HasSubstr("Note          --no-paging implies --split off\n"));
  EXPECT_THAT(text, HasSubstr("Note          with 30 B: constants of the file stay in RAM\n"));
}

}  // namespace
}  // namespace poet::cli
