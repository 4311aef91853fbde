// The optimiser's own reading of the semantics against the verifier's: same RAM, time and energy for any
// decisions.

#include <gtest/gtest.h>

#include <fmt/format.h>

#include "poet/optimize/problem/candidate.h"
#include "poet/verify/replay.h"
#include "tests/support/random_instance.h"

namespace poet {
namespace {

Decisions decisions_of(const Problem& problem, const Schedule& schedule) {
  Decisions d = no_decisions(problem);
  for (std::size_t t = 0; t < schedule.stages.size(); ++t) {
    const Stage& stage = schedule.stages[t];
    for (OpId op : stage.compute)
      if (op.index != static_cast<int>(t)) d.recompute[t].push_back(op.index);
    for (ValueId v : stage.page_in) d.page_in[t].push_back(v.index);
    for (ValueId v : stage.page_out) d.page_out[t].push_back(v.index);
  }
  return d;
}

class Measure : public testing::TestWithParam<Semantics> {};

TEST_P(Measure, AgreesWithTheVerifier) {
  test::Rng rng(99);
  int transfers = 0;
  int in_place = 0;
  for (int i = 0; i < 4000; ++i) {
    SCOPED_TRACE(fmt::format("case {}", i));
    test::RandomInstanceOptions options;
    options.ops = test::pick(rng, 3, 16);
    options.in_place = test::chance(rng, 0.5);
    options.multi_output = test::chance(rng, 0.5);
    options.updates = test::chance(rng, 0.3);
    options.views = test::chance(rng, 0.3);
    options.device = GetParam() == Semantics::device;
    const Instance instance = test::random_instance(rng, options);
    Limits limits;
    limits.ram_budget = Bytes(1'000'000'000);
    const Problem problem = make_problem({instance, limits, GetParam()}, {});
    const Candidate candidate =
        complete(problem, decisions_of(problem, test::random_schedule(rng, instance)));
    const Report report = replay(instance, to_schedule(problem, instance, candidate), GetParam(), limits);
    ASSERT_TRUE(report.valid) << report.violation;
    ASSERT_EQ(report.peak_ram.value(), candidate.peak + problem.persistent);
    ASSERT_NEAR(report.runtime.value(), candidate.seconds, 1e-9 * (1 + candidate.seconds));
    ASSERT_NEAR(report.energy.value(), candidate.joules, 1e-9 * (1 + candidate.joules));
    ASSERT_EQ(report.bytes_written.value(), candidate.bytes_written);
    transfers += report.page_ins;
    Instance apart = instance;  // nothing is written over an operand
    for (Op& op : apart.graph.ops) op.kind = "published";
    const Report more = replay(apart, to_schedule(problem, apart, candidate), GetParam(), limits);
    ASSERT_LE(report.peak_ram, more.peak_ram);
    in_place += report.peak_ram < more.peak_ram;
  }
  EXPECT_GT(transfers, 1000);
  if (GetParam() == Semantics::device) {
    EXPECT_GT(in_place, 300);
  } else {
    EXPECT_EQ(in_place, 0);
  }
}

INSTANTIATE_TEST_SUITE_P(All, Measure,
                         testing::Values(Semantics::published, Semantics::staged, Semantics::device),
                         [](const auto& semantics) { return std::string(to_string(semantics.param)); });

}  // namespace
}  // namespace poet
