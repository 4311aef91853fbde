// Bit for bit on random networks (skips, views of views, tied and frozen parameters), whoever made the plan:
// every published method's, carried out for real, gives the results of the step that keeps everything.

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "poet/autodiff/differentiate.h"
#include "poet/cost/device.h"
#include "poet/cost/tabulate.h"
#include "poet/runtime/executor/program.h"
#include "poet/study/run_method.h"
#include "tests/support/effort.h"
#include "tests/support/faithful.h"
#include "tests/support/random_network.h"

namespace poet::test {
namespace {

constexpr double kSecondsPerMethod = 0.5;

Instance random_instance(std::uint64_t seed, const runtime::KernelOptions& kernels) {
  constexpr std::array kDevices = {"m4", "a72", "jetsontx2"};
  Instance instance;
  instance.graph =
      differentiate(RandomNetwork(seed).build(), {Optimizer::adam, RandomNetwork::some_trainable(seed)});
  instance.costs = tabulate(instance.graph, find_device(kDevices[seed % kDevices.size()]));
  instance.has_device = true;
  runtime::charge_workspaces(instance, kernels);
  return instance;
}

PlanFile placed(const Instance& instance, const Plan& plan) {
  PlanFile file;
  file.instance = instance;
  file.plan = plan;
  file.layout = place(instance, plan, Semantics::device, {.enough = {}, .effort = 1'000'000});
  return file;
}

TEST(FaithfulProperty, EveryMethodsPlanGivesTheSameBits) {
  // Those with the least workspace, so that there is something to schedule in networks as small as these.
  const runtime::KernelOptions kernels{runtime::KernelLibrary::reference, 1, ""};
  std::set<std::string> recomputed;
  std::set<std::string> paged;
  const auto networks = static_cast<std::uint64_t>(test::cases(4, 12));
  for (std::uint64_t seed = 1; seed <= networks; ++seed) {
    const Instance instance = random_instance(seed, kernels);
    const Report keep_all = replay_keep_all(instance, Semantics::device);
    MethodRequest request{instance, {}, Semantics::device, {}};
    request.options.time_limit_seconds = kSecondsPerMethod;
    request.limits.ram_budget = keep_all.peak_ram;
    const Judged kept = run_method(find_method("checkpoint-all"), request, keep_all);
    ASSERT_EQ(kept.verdict, Verdict::holds);
    const Bits expected = carried_out(placed(instance, kept.plan), kernels, 2);
    const Bytes transient = keep_all.peak_ram - instance.costs.persistent;
    for (const double part : {0.8, 0.6}) {
      request.limits.ram_budget =
          instance.costs.persistent +
          Bytes(static_cast<std::int64_t>(part * static_cast<double>(transient.value())));
      for (const Method& method : methods()) {
        const Judged judged = run_method(method, request, keep_all);
        if (judged.plan.steps.empty()) continue;
        const Bits bits = carried_out(placed(instance, judged.plan), kernels, 2);
        EXPECT_EQ(bits.differs, "") << method.name << ", network " << seed;
        EXPECT_TRUE(bits == expected) << method.name << ", network " << seed;
        if (bits.recomputed > 0) recomputed.emplace(method.name);
        if (bits.paged > 0) paged.emplace(method.name);
      }
    }
  }
  // Else nothing was put to the test.
  EXPECT_GE(recomputed.size(), test::kSanitized ? 1u : 5u);
  if (!test::kSanitized) {
    EXPECT_GE(paged.size(), 2u);
  }
}

}  // namespace
}  // namespace poet::test
