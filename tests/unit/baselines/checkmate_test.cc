// Checkmate's relaxation and its roundings.

#include "poet/baselines/checkmate.h"

#include <gtest/gtest.h>

#include "poet/baselines/checkmate_relaxation.h"
#include "poet/baselines/poet_schedules.h"
#include "poet/verify/replay.h"
#include "tests/support/random_instance.h"
#include "tests/support/unit_chain.h"

namespace poet {
namespace {

MethodRequest request_of(const Instance& instance, std::int64_t budget) {
  MethodRequest request{instance, no_limits(), Semantics::published, {}};
  request.limits.ram_budget = Bytes(budget);
  request.options.gap = 0;
  return request;
}

double least_energy(const MethodAnswer& answer, const MethodRequest& request) {
  double least = 1e300;
  for (const Plan& plan : answer.plans) {
    const Report report = replay(request.instance, plan, request.semantics, request.limits);
    if (report.valid) least = std::min(least, report.energy.value());
  }
  return least;
}

TEST(CheckmateRelaxation, CostsTheBaselineWhereEverythingFits) {
  const Instance instance = test::unit_chain(6);
  const Relaxation relaxation = checkmate_relaxation(request_of(instance, 100), Bytes(100));
  ASSERT_EQ(relaxation.status, RelaxationStatus::solved);
  EXPECT_NEAR(relaxation.joules, 2.0 * 13, 1e-6);  // 13 ops of 2 J
}

TEST(CheckmateRelaxation, IsInfeasibleBelowAWorkingSet) {
  const Instance instance = test::unit_chain(6);
  EXPECT_EQ(checkmate_relaxation(request_of(instance, 2), Bytes(2)).status, RelaxationStatus::infeasible);
  EXPECT_FALSE(checkmate_lp(request_of(instance, 2)).reason.empty());
}

TEST(CheckmateRelaxation, BoundsTheOptimum) {
  for (const int budget : {5, 6, 7}) {
    const Instance instance = test::unit_chain(6);
    const MethodRequest request = request_of(instance, budget);
    const Relaxation relaxation = checkmate_relaxation(request, Bytes(budget));
    ASSERT_EQ(relaxation.status, RelaxationStatus::solved);
    const double optimum = least_energy(checkmate(request), request);
    EXPECT_LE(relaxation.joules, optimum + 1e-6);
    EXPECT_GT(optimum, 26);  // nothing fits without recomputing: x, f1 to f6 and b6 are 8 bytes
    EXPECT_GE(least_energy(checkmate_lp(request), request), optimum - 1e-9);
    EXPECT_GE(least_energy(checkmate_random(request), request), optimum - 1e-9);
  }
}

TEST(Checkmate, IsPoetWithoutPaging) {
  test::Rng rng(7);
  int compared = 0;
  for (int i = 0; i < 20; ++i) {
    test::RandomInstanceOptions options;
    options.ops = 10;
    options.multi_output = i % 2 == 0;
    const Instance instance = test::random_instance(rng, options);
    const std::int64_t most = replay_keep_all(instance, Semantics::published).peak_ram.value();
    const MethodRequest request = request_of(instance, most * 8 / 10);
    const double checkmates = least_energy(checkmate(request), request);
    const double poets = least_energy(poet_without_paging(request), request);
    if (poets < 1e300) ++compared;
    EXPECT_NEAR(checkmates, poets, 1e-9 * poets);
  }
  EXPECT_GT(compared, 5);
}

TEST(Checkmate, KnowsNoDeadline) {
  const Instance instance = test::unit_chain(6);
  MethodRequest request = request_of(instance, 6);
  request.limits.deadline = Seconds(13);  // no time to recompute anything
  EXPECT_TRUE(poet_without_paging(request).plans.empty());
  EXPECT_EQ(checkmate(request).plans.size(), 1U);
}

TEST(CheckmateRandom, DrawsTheSameTwice) {
  const Instance instance = test::unit_chain(8);
  const MethodRequest request = request_of(instance, 8);
  const MethodAnswer first = checkmate_random(request);
  const MethodAnswer second = checkmate_random(request);
  ASSERT_EQ(first.plans.size(), 100U);
  for (std::size_t i = 0; i < first.plans.size(); ++i) EXPECT_EQ(first.plans[i].steps, second.plans[i].steps);
}

}  // namespace
}  // namespace poet
