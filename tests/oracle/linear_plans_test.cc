// What compile() claims is about every plan in the given order of ops: on random small problems with
// everything that a device can have, an exhaustive search looks for a plan that proves a claim false.
//
// POET_LINEAR_CASES: how many. POET_LINEAR_FIRST: the first seed (1). POET_LINEAR_OUT: a folder for
// the plans that disprove a claim.

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <malloc.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "poet/compile.h"
#include "poet/plan/file/plan_file.h"
#include "tests/support/effort.h"
#include "tests/support/linear_cases.h"
#include "tests/support/linear_search.h"

namespace poet {
namespace {

using test::LinearCase;
using test::LinearSearchOptions;
using test::LinearSearchResult;

CompileRequest request_of(const LinearCase& c, std::uint64_t seed) {
  CompileRequest request{c.instance, c.limits, c.semantics, {}};
  request.options.paging = c.paging;
  request.options.rematerialization = c.rematerialization;
  request.options.gap = seed % 2 == 0 ? 1e-6 : 0.01;
  request.options.time_limit_seconds = 1;
  request.options.explain = seed % 4 == 0;
  return request;
}

std::string describe(const LinearCase& c) {
  return fmt::format("{}, {} ops{}{}{}{}", to_string(c.semantics), c.instance.graph.ops.size(),
                     c.instance.costs.timing.concurrent ? "" : ", blocking",
                     c.instance.costs.has_storage ? "" : ", no storage", c.paging ? "" : ", no paging",
                     c.rematerialization ? "" : ", no recomputation");
}

void keep(const LinearCase& c, std::uint64_t seed, const char* claim, const Plan& plan) {
  const char* folder = std::getenv("POET_LINEAR_OUT");
  if (folder == nullptr) return;
  std::filesystem::create_directories(folder);
  const PlanFile file{c.instance, c.semantics, c.limits, plan, place(c.instance, plan, c.semantics)};
  write_plan(file, std::filesystem::path(folder) / fmt::format("seed{}.{}.json", seed, claim));
}

struct Tally {
  std::map<std::string, int> statuses;
  int explained = 0;
  int given_up = 0;
  struct {
    int compared = 0;      // cases with a plan, of which the least energy is known
    int least = 0;         // and found, to the gap
    int bound_closes = 0;  // and proven, to the gap
  } of_all, of_wakers;     // storage that takes energy or time to wake up
};

LinearSearchOptions options_of(const LinearCase& c) {
  LinearSearchOptions options;
  options.paging = c.paging;
  options.rematerialization = c.rematerialization;
  options.most_states = 200'000;
  return options;
}

LinearSearchResult search(const LinearCase& c, const Limits& limits, const LinearSearchOptions& options,
                          Tally& tally) {
  const LinearSearchResult found = test::search_linear_plans(c.instance, c.semantics, limits, options);
  tally.given_up += found.finished ? 0 : 1;
  malloc_trim(0);  // solvers run in child processes, and forking a large process is slow
  return found;
}

// Whether there is a plan within other limits; absent where the search gives up.
std::optional<Plan> plan_within(const LinearCase& c, const Limits& limits, Tally& tally) {
  LinearSearchOptions options = options_of(c);
  options.any_plan = true;
  const LinearSearchResult found = search(c, limits, options, tally);
  ++tally.explained;
  return found.best ? std::optional(found.best->plan) : std::nullopt;
}

// What is said where there is no answer: RAM below which there is no plan, and suggestions.
void check_explanation(const LinearCase& c, std::uint64_t seed, const Explanation& why, Tally& tally) {
  LinearCase other = c;
  for (const auto& ram : {why.floor_ram, why.proven_ram}) {
    if (!ram) continue;
    other.limits = c.limits;
    other.limits.ram_budget = *ram - Bytes(1);
    const auto plan = plan_within(c, other.limits, tally);
    EXPECT_FALSE(plan) << "no plan needs less than " << ram->value() << " bytes";
    if (plan) keep(other, seed, "less_ram", *plan);
  }
  const int before = tally.given_up;
  if (why.least_ram) {
    other.limits = c.limits;
    other.limits.ram_budget = *why.least_ram;
    EXPECT_TRUE(plan_within(c, other.limits, tally) || tally.given_up > before)
        << "a plan needs " << why.least_ram->value() << " bytes";
  }
  if (why.least_deadline) {
    other.limits = c.limits;
    other.limits.deadline = *why.least_deadline;
    EXPECT_TRUE(plan_within(c, other.limits, tally) || tally.given_up > before)
        << "a plan takes " << why.least_deadline->value() << " s";
  }
}

void check(std::uint64_t seed, Tally& tally) {
  const LinearCase c = test::linear_case(seed, 5, 8);
  SCOPED_TRACE(fmt::format("seed {}: {}", seed, describe(c)));
  const CompileRequest request = request_of(c, seed);
  const CompileResult answer = compile(request);
  const Status status = answer.certificate.status;
  ++tally.statuses[to_string(status)];
  const bool answered = !answer.plan.steps.empty();
  const double baseline = answer.keep_all.energy.value();
  const double same = 1e-7 * baseline;  // solvers compute in double precision
  const double bound = answer.certificate.bounds.every_plan.value();
  if (!answered) check_explanation(c, seed, answer.outcome.explanation, tally);
  if (!answered && status != Status::infeasible && bound <= baseline) return;  // nothing is claimed

  LinearSearchOptions options = options_of(c);
  options.any_plan = status == Status::infeasible;
  if (status == Status::unknown) options.at_most_joules = bound;
  if (answered) options.at_most_joules = answer.report.energy.value() * (1 + 1e-12);
  const LinearSearchResult truth = search(c, c.limits, options, tally);
  if (!truth.finished) return;
  if (status == Status::infeasible) {
    EXPECT_FALSE(truth.best.has_value()) << "infeasible: " << answer.outcome.explanation.reason;
    if (truth.best) keep(c, seed, "infeasible", truth.best->plan);
    return;
  }
  if (!truth.best) {
    EXPECT_FALSE(answered) << "the search misses a plan of " << answer.report.energy.value() << " J";
    return;
  }
  const double least = truth.best->joules;
  EXPECT_LE(bound, least + same) << "the bound is above a plan's energy";
  if (bound > least + same) keep(c, seed, "above", truth.best->plan);
  const double part = request.options.gap * (least - baseline) + same;
  const auto& timing = c.instance.costs.timing;
  const bool wakes = c.semantics == Semantics::device && c.instance.costs.has_storage &&
                     (timing.wake_energy > Joules(0) || timing.wake_time > Seconds(0));
  for (auto* cases : {&tally.of_all, wakes ? &tally.of_wakers : nullptr}) {
    if (cases == nullptr) continue;
    ++cases->compared;
    cases->least += answered && answer.report.energy.value() <= least + part ? 1 : 0;
    cases->bound_closes += bound >= least - part ? 1 : 0;
  }
  if (status != Status::optimal) return;
  const double energy = answer.report.energy.value();
  const double allowed = request.options.gap * (energy - baseline) + same;
  EXPECT_LE(energy - least, allowed) << "optimal: " << energy << " J of " << baseline << " J at least";
  if (energy - least > allowed) keep(c, seed, "beaten", truth.best->plan);
}

TEST(LinearPlans, NoClaimIsFalse) {
  const long cases = test::from_environment("POET_LINEAR_CASES", test::cases(120, 400));
  const long first = test::from_environment("POET_LINEAR_FIRST", 1);
  Tally tally;
  for (long i = 0; i < cases; ++i) check(static_cast<std::uint64_t>(first + i), tally);
  fmt::print("{} cases:", cases);
  for (const auto& [status, count] : tally.statuses) fmt::print(" {} {},", count, status);
  fmt::print(" {} limits explained, {} given up\n", tally.explained, tally.given_up);
  const auto& [compared, least, bound_closes] = tally.of_all;
  fmt::print("of {} with a plan, the least energy was found in {} and proven in {};", compared, least,
             bound_closes);
  fmt::print(" of {} on storage that has to wake up, in {} and {}\n", tally.of_wakers.compared,
             tally.of_wakers.least, tally.of_wakers.bound_closes);
  EXPECT_LE(tally.given_up, cases / 100);
  EXPECT_GE(bound_closes, compared * 2 / 3);
  EXPECT_GE(tally.of_wakers.compared, cases / 20);
  EXPECT_GE(tally.statuses["optimal"], cases / 3);
  EXPECT_GE(tally.statuses["infeasible"], cases / 50);
}

}  // namespace
}  // namespace poet
