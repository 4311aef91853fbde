// revolve, rotor and POFO on random chains and on networks: the verifier accepts every plan, and what holds
// costs no less than the optimiser proves for staged schedules, wherever it is one.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "poet/autodiff/differentiate.h"
#include "poet/baselines/chain.h"
#include "poet/cost/device.h"
#include "poet/cost/instance_json.h"
#include "poet/cost/tabulate.h"
#include "poet/frontend/zoo.h"
#include "poet/optimize/solve.h"
#include "poet/study/run_method.h"
#include "tests/support/effort.h"
#include "tests/support/paths.h"
#include "tests/support/random_chain.h"

namespace poet {
namespace {

using test::Rng;

constexpr const char* kMethods[] = {"revolve", "rotor", "pofo", "pofo-blocking"};

// `percent` of the way from the largest working set to keeping everything.
Limits limits_at(const Instance& instance, Semantics semantics, const Report& keep_all, int percent) {
  const Bytes floor = ram_floor(instance, semantics).bytes();
  Limits limits;
  limits.ram_budget = Bytes(floor.value() + (keep_all.peak_ram - floor).value() * percent / 100);
  return limits;
}

// On a device a stage's transfers are in RAM beside everything that it computes. A plan that moves a value
// between two first computations, when neither's operands are there, is none of the schedules that solve()
// proves its bound for.
bool is_staged(const Instance& instance, Semantics semantics, const Plan& plan) {
  if (semantics != Semantics::device) return true;
  const Dataflow flow = dataflow(instance.graph);
  IdVector<ValueId, int> out(instance.graph.values.size(), -1);  // the stage of its transfer
  IdVector<ValueId, int> in(instance.graph.values.size(), -1);
  int stage = 0;
  for (const Step& step : plan.steps) {
    if (step.kind == StepKind::page_out) out[step.value] = stage;
    if (step.kind == StepKind::page_in) in[step.value] = stage;
    if (step.kind == StepKind::free && out[step.value] == stage) return false;
    if (step.kind != StepKind::compute) continue;
    for (const ValueId v : flow.reads[step.op])
      if (in[v] == stage) return false;
    if (step.op == OpId(stage)) ++stage;
  }
  return true;
}

struct Count {
  int held = 0;
  int proven = 0;
  int paged = 0;
  int recomputed = 0;
};

// run_method() throws when the verifier rejects a plan for anything but a limit.
void judge(const Instance& instance, Semantics semantics, const Limits& limits, const Report& keep_all,
           bool prove, Count (&counts)[4]) {
  SolveOptions options;
  options.time_limit_seconds = 0.3;
  options.explain = false;
  double bound[2] = {0, 0};  // without and with paging
  for (const bool paging : {false, true}) {
    if (!prove) break;
    options.paging = paging;
    const Outcome outcome = solve({instance, limits, semantics}, options);
    bound[paging ? 1 : 0] = outcome.certificate.status == Status::infeasible
                                ? 1e300
                                : outcome.certificate.bounds.of_staged().value();
  }
  for (std::size_t m = 0; m < 4; ++m) {
    SCOPED_TRACE(kMethods[m]);
    const Method& method = find_method(kMethods[m]);
    const Judged judged = run_method(method, {instance, limits, semantics, {}}, keep_all);
    EXPECT_NE(judged.verdict, Verdict::not_applicable) << judged.reason;
    EXPECT_NE(judged.note, "");
    // Revolve counts snapshots, the others bytes.
    if (m > 0) {
      EXPECT_NE(judged.verdict, Verdict::over_limits) << judged.reason;
    }
    if (judged.verdict != Verdict::holds) continue;
    ++counts[m].held;
    counts[m].paged += judged.report.page_ins > 0 ? 1 : 0;
    counts[m].recomputed += judged.report.recomputations > 0 ? 1 : 0;
    if (!prove || !is_staged(instance, semantics, judged.plan)) continue;
    ++counts[m].proven;
    EXPECT_GE(judged.report.energy.value(), bound[method.pages ? 1 : 0] * (1 - 1e-9));
  }
}

TEST(ChainMethods, RandomChains) {
  Count counts[4];
  for (int i = 0; i < test::effort(24, 4); ++i) {
    Rng rng(static_cast<std::uint64_t>(i) + 1);
    test::RandomChainOptions options;
    options.blocks = test::pick(rng, 3, 5);
    options.input = i % 5 != 0;
    options.targets = i % 4 == 0;
    options.updates = i % 3 == 0;
    options.device = i % 2 == 0;
    const Semantics semantics = options.device ? Semantics::device : Semantics::published;
    const Instance instance = test::random_chain(rng, options);
    const Report keep_all = replay_keep_all(instance, semantics);
    for (const int percent : {20, 60}) {
      SCOPED_TRACE(fmt::format("seed {}, {}%", i, percent));
      judge(instance, semantics, limits_at(instance, semantics, keep_all, percent), keep_all, true, counts);
    }
  }
  for (std::size_t m = 0; m < 4; ++m) {
    SCOPED_TRACE(kMethods[m]);
    EXPECT_GT(counts[m].held, test::enough(15, 4));
    EXPECT_GT(counts[m].recomputed, test::enough(5, 4));
    EXPECT_GT(counts[m].proven, test::enough(15, 4));
    if (m > 1) {
      EXPECT_GT(counts[m].paged, test::enough(5, 4));
    }
  }
}

TEST(ChainMethods, LongRandomChains) {
  Count counts[4];
  for (int i = 0; i < test::effort(16, 4); ++i) {
    Rng rng(static_cast<std::uint64_t>(i) + 1);
    test::RandomChainOptions options;
    options.blocks = test::pick(rng, 7, 30);
    options.targets = i % 4 == 0;
    options.updates = i % 3 == 0;
    options.device = i % 4 != 3;
    options.most_bytes = 2000;
    const Semantics semantics = options.device ? Semantics::device : Semantics::published;
    const Instance instance = test::random_chain(rng, options);
    const Report keep_all = replay_keep_all(instance, semantics);
    for (const int percent : {10, 30, 70, 100}) {
      SCOPED_TRACE(fmt::format("seed {}, {}%", i, percent));
      judge(instance, semantics, limits_at(instance, semantics, keep_all, percent), keep_all, false, counts);
    }
  }
  for (const Count& count : counts) EXPECT_GT(count.held, test::enough(25, 4));
}

TEST(ChainMethods, Networks) {
  for (const char* platform : {"a72", "m4"}) {
    for (const std::string model : {"vgg16_cifar", "resnet18_cifar"}) {
      if (test::kSanitized && model != "resnet18_cifar") continue;
      for (const Semantics semantics : {Semantics::published, Semantics::device}) {
        Instance instance;
        if (semantics == Semantics::published) {
          instance = read_instance(test::repository() / "data/published" /
                                   fmt::format("{}.{}.json", model, platform));
        } else {
          instance.graph = differentiate(build_network(model));
          const auto profile = test::repository() / "data/devices" / fmt::format("{}.json", platform);
          instance.costs = tabulate(instance.graph, read_device(profile));
        }
        const Report keep_all = replay_keep_all(instance, semantics);
        Count counts[4];
        for (const int percent : {25, 50, 75, 100}) {
          SCOPED_TRACE(fmt::format("{}.{} {} {}%", model, platform, to_string(semantics), percent));
          const bool prove = percent == 50;
          judge(instance, semantics, limits_at(instance, semantics, keep_all, percent), keep_all, prove,
                counts);
        }
        for (const Count& count : counts) EXPECT_EQ(count.held, 4) << model << " " << platform;
      }
    }
  }
}

}  // namespace
}  // namespace poet
