// The feedback from addresses to the schedule: what compile() returns fits with its addresses, or says with
// how much RAM something would.

#include "poet/compile.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/support/random_instance.h"

namespace poet {
namespace {

using test::Rng;

CompileRequest random_request(int seed) {
  Rng rng(static_cast<std::uint64_t>(seed) + 77);
  test::RandomInstanceOptions options;
  options.ops = test::pick(rng, 5, 9);
  options.multi_output = test::chance(rng, 0.5);
  options.device = true;
  CompileRequest request;
  request.instance = test::random_instance(rng, options);
  request.instance.costs.alignment = Bytes(seed % 3 == 0 ? 16 : 1);
  request.options.time_limit_seconds = 1;
  request.options.gap = 0.05;
  const Report all = replay_keep_all(request.instance, Semantics::device);
  request.limits.ram_budget = Bytes(all.peak_ram.value() * test::pick(rng, 70, 101) / 100);
  return request;
}

void expect_fit(const CompileRequest& request, const CompileResult& result) {
  const Instance& instance = request.instance;
  EXPECT_TRUE(replay(instance, result.plan, Semantics::device, request.limits).valid);
  const ArenaReport arena = replay_layout(instance, result.plan, result.layout, Semantics::device,
                                          request.limits, instance.costs.alignment);
  EXPECT_TRUE(arena.valid) << arena.broken;
  EXPECT_LE(arena.ram, request.limits.ram_budget);
  EXPECT_LE(result.outcome.bound, result.report.energy);
  EXPECT_EQ(result.outcome.status, result.gap <= request.options.gap ? Status::optimal : Status::feasible);
  EXPECT_EQ(result.held_back > Bytes(0), result.solves > 1);
}

TEST(CompileProperty, AddressesFitTheBudgetOrTheReasonSaysWhatWould) {
  int fitted_again = 0;
  int given_up = 0;
  for (int seed = 0; seed < 80; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    CompileRequest request = random_request(seed);
    const CompileResult result = compile(request);
    if (!result.plan.steps.empty()) {
      expect_fit(request, result);
      fitted_again += result.solves > 1;
    } else if (result.solves > 1) {
      ++given_up;
      EXPECT_EQ(result.outcome.status, Status::unknown);
      EXPECT_TRUE(result.outcome.schedule.stages.empty());
      EXPECT_NE(result.outcome.explanation.reason.find("address"), std::string::npos);
      // The way out is one.
      ASSERT_TRUE(result.outcome.explanation.least_ram);
      EXPECT_GT(*result.outcome.explanation.least_ram, request.limits.ram_budget);
      request.limits.ram_budget = *result.outcome.explanation.least_ram;
      const CompileResult wider = compile(request);
      ASSERT_FALSE(wider.plan.steps.empty());
      expect_fit(request, wider);
    }
  }
  fmt::print("{} fitted when solved again, {} given up\n", fitted_again, given_up);
  EXPECT_GT(fitted_again, 1);
  EXPECT_GT(given_up, 3);
}

}  // namespace
}  // namespace poet
