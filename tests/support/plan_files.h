#pragma once

// Plan files for tests of their two forms.

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "poet/cost/instance_json.h"
#include "poet/plan/canonical.h"
#include "poet/plan/file/plan_file.h"
#include "poet/plan/schedule/linearise.h"
#include "poet/plan/timing/transfers.h"
#include "tests/support/random_instance.h"
#include "tests/support/tiny_instance.h"

namespace poet::test {

inline PlanFile file_of(Instance instance, Plan plan, Semantics semantics, Limits limits) {
  PlanFile file{std::move(instance), semantics, std::move(limits), std::move(plan), {}};
  file.layout = place(file.instance, file.plan, semantics);
  return file;
}

/// chain(): a paged out while b is computed and in while c is, and every limit set.
inline PlanFile chain_file(Semantics semantics = Semantics::device) {
  Limits limits = ram(35);
  limits.deadline = Seconds(7.1);
  limits.max_bytes_written = Bytes(10);
  const Instance instance = chain();
  return file_of(instance, linearise(instance, chain_paging(), semantics), semantics, limits);
}

/// A plan of a random schedule, with transfers moved in every second case in device semantics.
inline PlanFile random_file(Rng& rng, int most_ops) {
  RandomInstanceOptions options;
  options.ops = pick(rng, 2, most_ops);
  options.in_place = chance(rng, 0.5);
  options.multi_output = chance(rng, 0.4);
  options.updates = chance(rng, 0.3);
  options.views = chance(rng, 0.3);
  options.inputs = chance(rng, 0.3);
  options.storage = chance(rng, 0.8);
  options.device = chance(rng, 0.5);
  Instance instance = random_instance(rng, options);
  instance.costs.timing.concurrent = chance(rng, 0.7);
  instance.costs.alignment = Bytes(1 << pick(rng, 0, 4));
  align_sizes(instance.graph, instance.costs);
  const auto semantics = static_cast<Semantics>(pick(rng, 0, 2));
  Limits limits = ram(pick(rng, 0, 1 << 20));
  if (chance(rng, 0.5)) limits.deadline = Seconds(0.1 * pick(rng, 1, 1000));
  if (chance(rng, 0.5)) limits.max_bytes_written = Bytes(pick(rng, 0, 1000));
  Plan plan = linearise(instance, random_schedule(rng, instance), semantics);
  if (chance(rng, 0.5)) plan = plan_transfers(instance, plan, semantics, limits);
  PlanFile file = file_of(std::move(instance), std::move(plan), semantics, limits);
  if (chance(rng, 0.5)) {
    file.made = {"poet 1.2", chance(rng, 0.5) ? "poet solve --model 'a b'" : "", "feasible"};
    if (chance(rng, 0.5)) file.made->bound = Joules(1.0 / pick(rng, 1, 1000));
    file.made->paging = chance(rng, 0.5);
  }
  return file;
}

inline void expect_equal(const PlanFile& read, const PlanFile& written) {
  EXPECT_TRUE(read.made == written.made);
  EXPECT_EQ(to_json(read.instance), to_json(written.instance));
  EXPECT_EQ(read.semantics, written.semantics);
  EXPECT_EQ(read.limits.ram_budget, written.limits.ram_budget);
  EXPECT_EQ(read.limits.deadline, written.limits.deadline);
  EXPECT_EQ(read.limits.max_bytes_written, written.limits.max_bytes_written);
  EXPECT_EQ(read.plan.steps, written.plan.steps);
  EXPECT_EQ(read.layout.allocations, written.layout.allocations);
  EXPECT_EQ(read.layout.arena, written.layout.arena);
  EXPECT_EQ(read.layout.lower_bound, Bytes(0));
}

}  // namespace poet::test
