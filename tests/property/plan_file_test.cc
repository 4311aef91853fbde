// Whatever the plan, plan files keep it.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "poet/autodiff/differentiate.h"
#include "poet/cost/device.h"
#include "poet/cost/json_reader.h"
#include "poet/cost/tabulate.h"
#include "poet/frontend/zoo.h"
#include "poet/plan/schedule/linearise.h"
#include "poet/verify/replay.h"
#include "poet/verify/replay_layout.h"
#include "tests/support/effort.h"
#include "tests/support/plan_files.h"

namespace poet {
namespace {

// Both forms bring it back, and the verifier says of it what it said before.
void expect_the_same_from_both_forms(const PlanFile& file) {
  const std::vector<std::uint8_t> bytes = to_binary(file);
  const PlanFile read = plan_from_binary(bytes, "p.plan");
  test::expect_equal(read, file);
  test::expect_equal(plan_from_json(parse_json(to_json(file).dump(), "p.json"), "p.json"), file);
  EXPECT_EQ(to_binary(read), bytes);

  Limits room;
  room.ram_budget = Bytes(1LL << 40);
  const Report report = replay(read.instance, read.plan, read.semantics, room);
  EXPECT_TRUE(report.valid) << report.violation;
  EXPECT_EQ(report.energy, replay(file.instance, file.plan, file.semantics, room).energy);
  room.ram_budget = file.instance.costs.persistent + file.layout.arena;
  const ArenaReport arena = replay_layout(read.instance, read.plan, read.layout, read.semantics, room);
  EXPECT_TRUE(arena.valid) << arena.violation;
}

int count(const PlanFile& file, StepKind kind) {
  int steps = 0;
  for (const Step& step : file.plan.steps) steps += step.kind == kind;
  return steps;
}

TEST(PlanFilesOfRandomInstances, ComeBackAsTheyWere) {
  constexpr int kInstances = test::effort(600);
  int page_ins = 0;
  int waits = 0;
  int recomputations = 0;
  int scratch = 0;
  for (std::uint64_t seed = 1; seed <= kInstances; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    test::Rng rng(seed);
    const PlanFile file = test::random_file(rng, seed % 50 == 0 ? 80 : 16);
    expect_the_same_from_both_forms(file);
    page_ins += count(file, StepKind::page_in);
    waits += count(file, StepKind::wait);
    recomputations += count(file, StepKind::compute) - static_cast<int>(file.instance.graph.ops.size());
    for (const Allocation& allocation : file.layout.allocations) scratch += allocation.op.valid();
    if (HasFailure()) return;
  }
  EXPECT_GT(scratch, kInstances / 6);
  EXPECT_GT(page_ins, kInstances / 6);
  EXPECT_GT(waits, kInstances / 6);
  EXPECT_GT(recomputations, kInstances / 6);
}

// Real operators: results in place, views, names, attributes.
TEST(PlanFilesOfNetworks, ComeBackAsTheyWere) {
  int in_place = 0;
  for (const char* network : {"linear", "resnet14_cifar", "transformer"}) {
    for (const Semantics semantics : {Semantics::published, Semantics::staged, Semantics::device}) {
      SCOPED_TRACE(fmt::format("{}, {}", network, to_string(semantics)));
      test::Rng rng(5);
      PlanFile file;
      file.instance.graph = differentiate(build_network(network));
      file.instance.costs = tabulate(file.instance.graph, find_device("m4"));
      file.semantics = semantics;
      file.limits = test::ram(1 << 30);
      file.plan = linearise(file.instance, test::random_schedule(rng, file.instance), semantics);
      file.layout = place(file.instance, file.plan, semantics, {.enough = Bytes(1LL << 40)});
      expect_the_same_from_both_forms(file);
      for (const Allocation& allocation : file.layout.allocations) in_place += allocation.takes_over >= 0;
    }
  }
  EXPECT_GT(in_place, 50);
}

}  // namespace
}  // namespace poet
