// Persistent values at home on storage against every plan there is: what compile() claims of a given choice
// of them, and of all choices.
//
// POET_LINEAR_CASES: how many. POET_LINEAR_FIRST: the first seed (1).

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <malloc.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "poet/compile.h"
#include "tests/support/effort.h"
#include "tests/support/linear_cases.h"
#include "tests/support/linear_search.h"
#include "tests/support/small_graphs.h"
#include "tests/support/tiny_instance.h"

namespace poet {
namespace {

using test::LinearCase;
using test::LinearPlan;
using test::LinearSearchOptions;
using test::LinearSearchResult;
using test::PagedCase;

LinearSearchOptions paged_options(const LinearCase& c) {
  LinearSearchOptions options;
  options.paging = c.paging;
  options.rematerialization = c.rematerialization;
  options.most_states = 200'000;
  return options;
}

// A valid plan, with the energy and time that the search says.
void expect_same_figures(const Instance& instance, const LinearPlan& found, const Limits& limits) {
  const Report report = replay(instance, found.plan, Semantics::device, limits);
  EXPECT_TRUE(report.valid) << report.violation;
  EXPECT_NEAR(report.energy.value(), found.joules, 1e-9);
  EXPECT_NEAR(report.runtime.value(), found.seconds, 1e-9);
}

// The search itself.

TEST(PagedSearch, LoadsAndWritesHome) {
  const Instance instance = test::weight_at_home();
  const auto least = [&](std::int64_t ram) {
    const auto found = test::search_linear_plans(instance, Semantics::device, test::ram(ram));
    EXPECT_TRUE(found.finished);
    if (found.best) expect_same_figures(instance, *found.best, test::ram(ram));
    return found.best;
  };
  // In, three ops, out: 40 B while b is computed. Not in less: b needs w and a.
  ASSERT_TRUE(least(40).has_value());
  EXPECT_NEAR(least(40)->joules, 6 + 2.5 + 5, 1e-9);
  EXPECT_NEAR(least(40)->seconds, 1 + 3 + 1, 1e-9);
  EXPECT_EQ(least(40)->plan.steps.back().kind, StepKind::page_out);
  EXPECT_FALSE(least(39).has_value());
}

TEST(PagedSearch, LoadsAgainWhereThereIsNoRoom) {
  Graph graph;
  const ValueId w = test::add_persistent(graph, "w", 10);
  const ValueId a = test::add_node(graph, "a", {w}, 10);
  const ValueId b = test::add_node(graph, "b", {a}, 20);
  test::add_update(graph, "u", {w, b}, {w});
  Instance instance = test::instance_of(std::move(graph));
  instance.costs.values[w] = {Bytes(10), {Seconds(1), Joules(5)}, {Seconds(1), Joules(2.5)}};
  instance.costs.values[w].bytes = Bytes(10);
  instance = with_paged(std::move(instance), {w});
  const auto least = [&](std::int64_t ram) {
    return test::search_linear_plans(instance, Semantics::device, test::ram(ram)).best;
  };
  EXPECT_NEAR(least(40)->joules, 6 + 2.5 + 5, 1e-9);
  EXPECT_NEAR(least(39)->joules, 6 + 2 * 2.5 + 5, 1e-9);
  EXPECT_NEAR(least(30)->joules, 6 + 2 * 2.5 + 5, 1e-9);
  EXPECT_FALSE(least(29).has_value());
  // Ten bytes may be written: they are those of the page-out.
  Limits limits = test::ram(30);
  limits.max_bytes_written = Bytes(10);
  EXPECT_TRUE(test::search_linear_plans(instance, Semantics::device, limits).best.has_value());
  limits.max_bytes_written = Bytes(9);
  EXPECT_FALSE(test::search_linear_plans(instance, Semantics::device, limits).best.has_value());
}

TEST(PagedSearch, ShortcutsLoseNoPlan) {
  int compared = 0, answered = 0;
  for (int n = 1; n <= test::effort(400, 5); ++n) {
    const auto seed = static_cast<std::uint64_t>(n);
    SCOPED_TRACE(fmt::format("seed {}", seed));
    const PagedCase c = test::paged_case(seed, 3, 5);
    const Instance instance = with_paged(c.problem.instance, c.paged);
    LinearSearchOptions options = paged_options(c.problem);
    const auto search = [&] {
      return test::search_linear_plans(instance, Semantics::device, c.problem.limits, options);
    };
    const LinearSearchResult quick = search();
    if (!quick.finished) continue;
    options.any_plan = true;
    EXPECT_EQ(search().best.has_value(), quick.best.has_value());
    options.any_plan = false;
    options.reductions = false;
    options.most_states = 100'000;
    const LinearSearchResult slow = search();
    if (!slow.finished) continue;
    ++compared;
    ASSERT_EQ(slow.best.has_value(), quick.best.has_value());
    if (!quick.best) continue;
    ++answered;
    EXPECT_NEAR(slow.best->joules, quick.best->joules, 1e-9);
    expect_same_figures(instance, *quick.best, c.problem.limits);
    expect_same_figures(instance, *slow.best, c.problem.limits);
  }
  EXPECT_GT(compared, test::enough(300, 5));
  EXPECT_GT(answered, test::enough(150, 5));
  fmt::print("{} compared, {} answered\n", compared, answered);
}

// What compile() claims.

struct PagedTally {
  std::map<std::string, int> statuses;
  int answered = 0;
  int equal = 0;      // to the least energy
  double excess = 0;  // else: the sum over cases of energy / least energy - 1
  int tight = 0;      // the bound to the least energy
  int missed = 0;     // there is a plan, and none was found
  int given_up = 0;   // by the search
};

CompileRequest request_of(const LinearCase& c, const Instance& instance) {
  CompileRequest request{instance, c.limits, Semantics::device, {}};
  request.options.paging = c.paging;
  request.options.rematerialization = c.rematerialization;
  request.options.gap = 1e-6;
  request.options.time_limit_seconds = 2;
  request.options.explain = false;
  return request;
}

// Absent where compile() refuses itself.
std::optional<CompileResult> compiled(const CompileRequest& request) {
  try {
    return compile(request);
  } catch (const std::exception& error) {
    ADD_FAILURE() << error.what();
    return std::nullopt;
  }
}

std::string describe(std::uint64_t seed, const LinearCase& c) {
  return fmt::format("seed {}, alignment {}{}{}{}{}", seed, c.instance.costs.alignment.value(),
                     c.paging ? "" : ", no paging", c.rematerialization ? "" : ", no recomputation",
                     c.limits.deadline ? ", deadline" : "",
                     c.instance.costs.timing.concurrent ? "" : ", blocking");
}

// The least energy; absent where there is no plan. Given up: tally.
std::optional<double> least_energy(const LinearCase& c, const Instance& instance, bool any_plan,
                                   PagedTally& tally) {
  LinearSearchOptions options = paged_options(c);
  options.any_plan = any_plan;
  const LinearSearchResult found = test::search_linear_plans(instance, Semantics::device, c.limits, options);
  malloc_trim(0);  // solvers run in child processes, and forking a large process is slow
  tally.given_up += found.finished ? 0 : 1;
  if (!found.best) return std::nullopt;
  if (!any_plan) expect_same_figures(instance, *found.best, c.limits);
  return found.best->joules;
}

// `least`: among all plans that the answer is about.
void check(const CompileResult& answer, const std::optional<double>& least, PagedTally& tally) {
  const Status status = answer.certificate.status;
  ++tally.statuses[to_string(status)];
  const bool answered = !answer.plan.steps.empty();
  const double same = 1e-7 * answer.keep_all.energy.value();  // solvers compute in double precision
  if (!least) {
    EXPECT_FALSE(answered) << "the search misses a plan of " << answer.report.energy.value() << " J";
    return;
  }
  const double bound = answer.certificate.bounds.every_plan.value();
  if (status == Status::infeasible) {
    ADD_FAILURE() << "there is a plan, but: " << answer.outcome.explanation.reason;
    return;
  }
  EXPECT_LE(bound, *least + same) << "the bound is above a plan's energy";
  tally.tight += bound >= *least - same;
  tally.missed += !answered;
  if (!answered) return;
  const double energy = answer.report.energy.value();
  ++tally.answered;
  tally.equal += energy <= *least + same;
  tally.excess += energy / *least - 1;
  EXPECT_GE(energy, *least - same) << "the search misses a plan";
  if (status == Status::optimal) {
    EXPECT_LE(energy, *least + 2 * same);
  }
}

void print(const PagedTally& tally, long cases) {
  fmt::print("{} cases:", cases);
  for (const auto& [status, count] : tally.statuses) fmt::print(" {} {},", count, status);
  fmt::print(
      " {} answered, {} of least energy, {:.2f}% above it on average, {} bounds tight, {} missed; {} given "
      "up\n",
      tally.answered, tally.equal, 100 * tally.excess / std::max(1, tally.answered), tally.tight,
      tally.missed, tally.given_up);
}

TEST(PagedPlans, NoClaimOfAChoiceIsFalse) {
  const long cases = test::from_environment("POET_LINEAR_CASES", test::cases(60, 400));
  const long first = test::from_environment("POET_LINEAR_FIRST", 1);
  PagedTally tally;
  for (long i = 0; i < cases; ++i) {
    const auto seed = static_cast<std::uint64_t>(first + i);
    const PagedCase c = test::paged_case(seed, 4, 7);
    SCOPED_TRACE(describe(seed, c.problem));
    const Instance instance = with_paged(c.problem.instance, c.paged);
    const auto answer = compiled(request_of(c.problem, instance));
    if (!answer) continue;
    const int before = tally.given_up;
    const bool infeasible = answer->certificate.status == Status::infeasible;
    const auto least = least_energy(c.problem, instance, infeasible, tally);
    if (tally.given_up == before) check(*answer, least, tally);
  }
  print(tally, cases);
  EXPECT_LE(tally.given_up, cases / 50);
  EXPECT_GE(tally.equal, tally.answered / 2);
}

// All resident, some, all paged: the answer is about every choice.
TEST(PagedPlans, NoClaimOfAllChoicesIsFalse) {
  const long cases = test::from_environment("POET_LINEAR_CASES", test::cases(20, 150));
  const long first = test::from_environment("POET_LINEAR_FIRST", 1);
  PagedTally tally;
  for (long i = 0; i < cases; ++i) {
    const auto seed = static_cast<std::uint64_t>(first + i);
    const PagedCase c = test::paged_case(seed, 4, 7);
    SCOPED_TRACE(describe(seed, c.problem));
    // Whatever the instance says.
    const Instance& posed = c.problem.instance;
    CompileRequest request = request_of(c.problem, i % 2 == 0 ? posed : with_paged(posed, c.paged));
    request.choose_paged = true;
    const auto answer = compiled(request);
    if (!answer) continue;
    const std::vector<ValueId> all = pageable(c.problem.instance);
    const int before = tally.given_up;
    const bool infeasible = answer->certificate.status == Status::infeasible;
    std::optional<double> least;
    for (unsigned set = 0; set < 1U << all.size(); ++set) {
      std::vector<ValueId> paged;
      for (std::size_t k = 0; k < all.size(); ++k)
        if ((set >> k & 1U) != 0) paged.push_back(all[k]);
      const auto one = least_energy(c.problem, with_paged(c.problem.instance, paged), infeasible, tally);
      if (one && (!least || *one < *least)) least = one;
    }
    if (tally.given_up == before) check(*answer, least, tally);
  }
  print(tally, cases);
  EXPECT_LE(tally.given_up, cases / 20);
  EXPECT_GE(tally.equal, tally.answered / 3);  // few of the choices are tried
}

// By hand: claims that were false.

TEST(PagedPlans, AnAblationStillLoadsAsOftenAsItLikes) {
  CompileRequest request{test::weight_at_home(), test::ram(30), Semantics::device, {}};
  request.options.rematerialization = false;
  Graph& graph = request.instance.graph;
  graph.ops[OpId(1)].inputs = {ValueId(1)};  // b no longer reads w: in 30 B w goes and returns
  const CompileResult answer = compile(request);
  EXPECT_EQ(answer.certificate.status, Status::optimal);
  EXPECT_EQ(answer.report.page_ins, 2);
  EXPECT_NEAR(answer.certificate.bounds.every_plan.value(), 6 + 2 * 2.5 + 5, 1e-6);
}

TEST(PagedPlans, WhatGoesHomeIsOverTheWriteLimitOrNot) {
  CompileRequest request{test::weight_at_home(), test::ram(40), Semantics::device, {}};
  request.limits.max_bytes_written = Bytes(10);
  EXPECT_EQ(compile(request).certificate.status, Status::optimal);
  request.limits.max_bytes_written = Bytes(9);
  const CompileResult answer = compile(request);
  EXPECT_EQ(answer.certificate.status, Status::infeasible);
  EXPECT_EQ(answer.outcome.explanation.reason, "a step writes 10 bytes home to storage, over the limit of 9");
}

// In 30 B there is no room for w (10 B) while b is computed: it has to go home after its update.
TEST(PagedPlans, WhatNoChoiceCanDoIsInfeasible) {
  CompileRequest request{test::weight_at_home(), test::ram(30), Semantics::device, {}};
  request.instance.graph.ops[OpId(1)].inputs = {ValueId(1)};  // b reads a alone
  request.instance = with_paged(request.instance, {});
  request.choose_paged = true;
  Seconds computing{};
  for (const OpCost& op : request.instance.costs.ops) computing += op.runtime;
  request.limits.deadline = 0.99 * computing;
  CompileResult answer = compile(request);
  EXPECT_EQ(answer.certificate.status, Status::infeasible);
  EXPECT_EQ(answer.outcome.explanation.reason, "the deadline is shorter than computing every op once");
  // w leaves RAM for b and is read again for its update.
  CompileRequest slow = request;
  slow.instance.costs.values[ValueId(0)].page_in.seconds = Seconds(100);
  slow.limits.deadline = Seconds(99);
  double seconds = 0;
  slow.options.on_progress = [&](const Progress& progress) { seconds = progress.elapsed_seconds; };
  answer = compile(slow);
  EXPECT_GT(seconds, 0);
  EXPECT_GE(answer.outcome.solve_seconds, seconds);  // also of the search for reasons, which comes last
  EXPECT_EQ(answer.certificate.status, Status::infeasible);
  EXPECT_EQ(
      answer.outcome.explanation.reason,
      "with this RAM a step of these ops takes at least 100 s, as parameters and optimiser state have to "
      "move");
  request.limits.deadline.reset();
  EXPECT_EQ(compile(request).certificate.status, Status::optimal);
  request.limits.max_bytes_written = Bytes(9);
  answer = compile(request);
  EXPECT_EQ(answer.certificate.status, Status::infeasible);
  EXPECT_EQ(answer.outcome.explanation.reason,
            "in this RAM a step writes at least 10 B of parameters and optimiser state home to storage, over "
            "the limit of 9 B");
}

// Loads beside compute take no time for the search; where the plan then is late there is no answer.
TEST(PagedPlans, ALatePlanIsNoAnswerAndNoProof) {
  CompileRequest request{test::weight_at_home(), test::ram(40), Semantics::device, {}};
  request.limits.deadline = Seconds(5);
  EXPECT_EQ(compile(request).certificate.status, Status::optimal);
  request.limits.deadline = Seconds(4);
  const CompileResult answer = compile(request);
  EXPECT_TRUE(answer.plan.steps.empty());
  EXPECT_EQ(answer.certificate.status, Status::unknown);
  EXPECT_EQ(answer.outcome.explanation.reason,
            "loads of parameters make the plans that were found end after the deadline");
}

// a (8 B) reads w (1 B), c (4 B) reads y (4 B). Resident, both need 13 B; paged, w takes 4 B, and a needs 12.
// With w resident and y paged 9 B are enough.
TEST(PagedPlans, ResidentValuesAreNotRoundedUp) {
  Graph graph;
  const ValueId w = test::add_persistent(graph, "w", 1);
  const ValueId y = test::add_persistent(graph, "y", 4);
  test::add_node(graph, "a", {w}, 8);
  test::add_node(graph, "c", {y}, 4);
  CompileRequest request{test::instance_of(std::move(graph)), test::ram(10), Semantics::device, {}};
  for (const ValueId v : {w, y})
    request.instance.costs.values[v].bytes = request.instance.graph.values[v].bytes;
  request.instance.costs.alignment = Bytes(4);
  request.choose_paged = true;
  const Instance mixed = with_paged(request.instance, {y});
  EXPECT_TRUE(test::search_linear_plans(mixed, Semantics::device, request.limits).best.has_value());
  EXPECT_NE(compile(request).certificate.status, Status::infeasible);
  request.limits = test::ram(8);
  const CompileResult answer = compile(request);
  EXPECT_EQ(answer.certificate.status, Status::infeasible);
  EXPECT_EQ(answer.outcome.explanation.floor_ram, Bytes(9));
  EXPECT_EQ(answer.outcome.explanation.binding_op, OpId(0));  // of the graph, loads apart
  // The storage holds the home of y, not those of both: then y alone may be paged.
  request.instance.costs.alignment = Bytes(1);
  request.instance.costs.storage_capacity = Bytes(8);
  request.limits = test::ram(9);
  EXPECT_TRUE(test::search_linear_plans(with_paged(request.instance, {y}), Semantics::device, request.limits)
                  .best.has_value());
  EXPECT_NE(compile(request).certificate.status, Status::infeasible);
}

}  // namespace
}  // namespace poet
