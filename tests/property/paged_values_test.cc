// Parameters at home on storage: plans below the RAM that resident parameters need are valid, cost no more
// than resident ones where both fit, come back from files, and train bit for bit like the step that keeps
// everything. Which values are paged is the compiler's choice.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "poet/autodiff/differentiate.h"
#include "poet/compile.h"
#include "poet/cost/device.h"
#include "poet/cost/tabulate.h"
#include "poet/plan/allowance.h"
#include "poet/plan/file/plan_file.h"
#include "poet/runtime/executor/program.h"
#include "tests/support/effort.h"
#include "tests/support/faithful.h"
#include "tests/support/random_network.h"

namespace poet::test {
namespace {

const runtime::KernelOptions kKernels{runtime::KernelLibrary::reference, 1, ""};

int networks() { return test::cases(4, 8); }

Instance random_instance(std::uint64_t seed) {
  constexpr std::array kDevices = {"m4", "a72", "jetsontx2"};
  constexpr std::array kOptimizers = {Optimizer::sgd, Optimizer::momentum, Optimizer::adam};
  Instance instance;
  instance.graph = differentiate(RandomNetwork(seed).build(), {kOptimizers[seed % kOptimizers.size()],
                                                               RandomNetwork::some_trainable(seed)});
  DeviceProfile device = find_device(kDevices[seed / 3 % kDevices.size()]);
  device.storage->concurrent = seed % 2 == 0;
  instance.costs = tabulate(instance.graph, device);
  instance.has_device = true;
  runtime::charge_workspaces(instance, kKernels);
  return instance;
}

CompileResult compiled(const Instance& instance, Bytes budget, bool choose_paged) {
  CompileRequest request;
  request.instance = instance;
  request.limits.ram_budget = budget;
  // Half of the time is for all resident: more than they have alone.
  request.options.time_limit_seconds = choose_paged ? 6 : 2;
  request.options.explain = false;
  request.choose_paged = choose_paged;
  return compile(request);
}

PlanFile file_of(const Instance& instance, Bytes budget, const CompileResult& result) {
  PlanFile file;
  file.instance = with_paged(instance, result.paged);
  file.limits.ram_budget = budget;
  file.plan = result.plan;
  file.layout = result.layout;
  return file;
}

bool has_plan(const CompileResult& result) { return !result.plan.steps.empty(); }

TEST(PagedValues, TrainBitForBitBelowTheResidentFloor) {
  int below = 0;
  for (int seed = 1; seed <= networks(); ++seed) {
    const Instance instance = random_instance(static_cast<std::uint64_t>(seed));
    const Bytes resident = ram_floor(instance, Semantics::device).bytes();
    const Bytes paged = ram_floor(with_paged(instance, pageable(instance)), Semantics::device).bytes();
    ASSERT_LE(paged, resident);
    const Bytes keep_all = replay_keep_all(instance, Semantics::device).peak_ram;
    const CompileResult kept = compiled(instance, keep_all, false);
    ASSERT_TRUE(has_plan(kept)) << seed;
    const Bits expected = carried_out(file_of(instance, keep_all, kept), kKernels, 3);
    for (const double part : {0.3, 0.8}) {
      const Bytes budget =
          paged + Bytes(static_cast<std::int64_t>(part * static_cast<double>((resident - paged).value())));
      if (budget >= resident) continue;
      const CompileResult result = compiled(instance, budget, true);
      if (!has_plan(result)) continue;
      ++below;
      EXPECT_FALSE(result.paged.empty());
      const PlanFile file = file_of(instance, budget, result);
      EXPECT_TRUE(replay(file.instance, file.plan, Semantics::device, file.limits).valid);
      const Bits bits = carried_out(file, kKernels, 3);
      EXPECT_TRUE(bits == expected) << "seed " << seed << ", part " << part;
      EXPECT_EQ(bits.differs, "");
      const PlanFile from_binary = plan_from_binary(to_binary(file), "p.plan");
      EXPECT_EQ(from_binary.plan.steps, file.plan.steps);
      EXPECT_EQ(pageable(from_binary.instance), pageable(file.instance));
      EXPECT_EQ(to_json(plan_from_json(to_json(file), "p.json")), to_json(file));
    }
  }
  EXPECT_GT(below, networks() / 2);
}

TEST(PagedValues, NeverCostMoreThanResidentOnes) {
  for (int seed = 1; seed <= networks(); ++seed) {
    const Instance instance = random_instance(static_cast<std::uint64_t>(seed));
    const Bytes floor = ram_floor(instance, Semantics::device).bytes();
    const Bytes keep_all = replay_keep_all(instance, Semantics::device).peak_ram;
    for (const double part : {0.2, 0.6, 1.0}) {
      const Bytes budget =
          floor + Bytes(static_cast<std::int64_t>(part * static_cast<double>((keep_all - floor).value())));
      const CompileResult resident = compiled(instance, budget, false);
      const CompileResult chosen = compiled(instance, budget, true);
      if (!has_plan(resident)) continue;
      ASSERT_TRUE(has_plan(chosen)) << seed;
      // Both are proven to 1% of the overhead where time suffices.
      const double overhead = resident.report.energy.value() - resident.keep_all.energy.value();
      EXPECT_LE(chosen.report.energy.value(), resident.report.energy.value() + 0.02 * overhead + 1e-12)
          << "seed " << seed << ", part " << part;
    }
  }
}

}  // namespace
}  // namespace poet::test
