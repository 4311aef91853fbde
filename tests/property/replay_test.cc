// Random training steps and random schedules: the replays of the schedule and of its plan, written
// independently, agree to the last byte; damaged plans are seen through.

#include "poet/verify/replay.h"
#include "poet/plan/schedule/linearise.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include "poet/graph/dataflow.h"
#include "poet/plan/schedule/keep_all.h"
#include "tests/support/random_instance.h"

namespace poet {
namespace {

using test::chance;
using test::pick;
using test::Rng;

constexpr Semantics kAll[] = {Semantics::published, Semantics::staged, Semantics::device};

test::RandomInstanceOptions random_replay_options(Rng& rng) {
  test::RandomInstanceOptions options;
  options.ops = pick(rng, 2, 40);
  options.in_place = chance(rng, 0.5);
  options.max_inputs = pick(rng, 2, 4);
  options.multi_output = chance(rng, 0.5);
  options.storage = chance(rng, 0.8);
  options.updates = chance(rng, 0.5);
  options.views = chance(rng, 0.5);
  options.inputs = chance(rng, 0.5);
  options.device = chance(rng, 0.8);
  return options;
}

bool close(double a, double b) { return std::abs(a - b) <= 1e-12 * std::max(1.0, std::abs(a)); }

void check_agreement(const Report& stages, const Report& steps) {
  RC_ASSERT(stages.violation == "");
  RC_ASSERT(steps.violation == "");
  // Steps free at once what a schedule retains to no end.
  RC_ASSERT(steps.peak_ram <= stages.peak_ram);
  RC_ASSERT(steps.bytes_written == stages.bytes_written);
  RC_ASSERT(steps.recomputations == stages.recomputations);
  RC_ASSERT(steps.page_ins == stages.page_ins);
  RC_ASSERT(steps.page_outs == stages.page_outs);
  RC_ASSERT(close(steps.energy.value(), stages.energy.value()));
  RC_ASSERT(close(steps.compute_energy.value(), stages.compute_energy.value()));
  RC_ASSERT(close(steps.page_in_energy.value(), stages.page_in_energy.value()));
  RC_ASSERT(close(steps.page_out_energy.value(), stages.page_out_energy.value()));
  RC_ASSERT(close(steps.idle_energy.value(), stages.idle_energy.value()));
  RC_ASSERT(close(steps.runtime.value(), stages.runtime.value()));
  RC_ASSERT(close(steps.stalled.value(), stages.stalled.value()));
}

/// Without what a plan leaves out: page-outs of what is on storage already.
Schedule paged_out_once(Schedule schedule, std::size_t values) {
  IdVector<ValueId, char> stored(values, 0);
  for (Stage& stage : schedule.stages) {
    const auto again = std::remove_if(stage.page_out.begin(), stage.page_out.end(),
                                      [&](ValueId v) { return std::exchange(stored[v], 1) == 1; });
    stage.page_out.erase(again, stage.page_out.end());
  }
  return schedule;
}

RC_GTEST_PROP(ReplayProperty, StagesAndStepsAgree, (std::uint64_t seed)) {
  Rng rng(seed);
  const Instance instance = test::random_instance(rng, random_replay_options(rng));
  const Schedule schedule =
      paged_out_once(test::random_schedule(rng, instance), instance.graph.values.size());
  for (const Semantics semantics : kAll) {
    const Plan plan = linearise(instance, schedule, semantics);
    check_agreement(replay(instance, schedule, semantics, no_limits()),
                    replay(instance, plan, semantics, no_limits()));
  }
}

RC_GTEST_PROP(ReplayProperty, LimitsAreMetExactlyAtTheFiguresOfTheReplay, (std::uint64_t seed)) {
  Rng rng(seed);
  const Instance instance = test::random_instance(rng, random_replay_options(rng));
  const Schedule schedule = test::random_schedule(rng, instance);
  for (const Semantics semantics : kAll) {
    const Plan plan = linearise(instance, schedule, semantics);
    const auto meets_exactly = [](const auto& accepts, const Report& report) {
      RC_ASSERT(accepts({report.peak_ram, report.runtime, report.bytes_written}));
      RC_ASSERT(!accepts({report.peak_ram - Bytes(1), report.runtime, report.bytes_written}));
      RC_ASSERT(!accepts({report.peak_ram, 0.999 * report.runtime, report.bytes_written}));
      if (report.bytes_written == Bytes(0)) return;
      RC_ASSERT(!accepts({report.peak_ram, report.runtime, report.bytes_written - Bytes(1)}));
    };
    meets_exactly([&](const Limits& limits) { return replay(instance, schedule, semantics, limits).valid; },
                  replay(instance, schedule, semantics, no_limits()));
    meets_exactly([&](const Limits& limits) { return replay(instance, plan, semantics, limits).valid; },
                  replay(instance, plan, semantics, no_limits()));
  }
}

RC_GTEST_PROP(ReplayProperty, SemanticsAreOrdered, (std::uint64_t seed)) {
  Rng rng(seed);
  const Instance instance = test::random_instance(rng, random_replay_options(rng));
  const Schedule schedule = test::random_schedule(rng, instance);
  const Report published = replay(instance, schedule, Semantics::published, no_limits());
  const Report staged = replay(instance, schedule, Semantics::staged, no_limits());
  const Report device = replay(instance, schedule, Semantics::device, no_limits());
  RC_ASSERT(published.peak_ram <= staged.peak_ram);
  // Only a device writes results over operands.
  Instance apart = instance;
  for (Op& op : apart.graph.ops) op.kind = "published";
  const Report device_apart = replay(apart, schedule, Semantics::device, no_limits());
  RC_ASSERT(staged.peak_ram <= device_apart.peak_ram);
  RC_ASSERT(device.peak_ram <= device_apart.peak_ram);
  RC_ASSERT(published.energy == staged.energy);
  RC_ASSERT(staged.energy <= device.energy);
  RC_ASSERT(close((staged.runtime + device.stalled).value(),
                  device.runtime.value()));  // stages wait for every free
  // Neither recomputing nor paging is free of charge.
  const Report keep_all = replay_keep_all(instance, Semantics::staged);
  RC_ASSERT(keep_all.valid);
  RC_ASSERT(keep_all.energy <= staged.energy);
  RC_ASSERT(keep_all.runtime <= staged.runtime);
}

// ---- Damaged plans. The executor below computes with what the values mean.

using Meaning = std::uint64_t;

Meaning mix(Meaning a, Meaning b) {
  Meaning x = (a ^ (b + 0x9e3779b97f4a7c15ULL + (a << 6U) + (a >> 2U))) * 0xbf58476d1ce4e5b9ULL;
  return x ^ (x >> 29U);
}

/// Executes steps one by one on real memories, transfers at once: exactly what published semantics means, and
/// less than the others ask for.
class Executor {
 public:
  explicit Executor(const Instance& instance)
      : graph_(instance.graph), storage_used_(instance.costs.has_storage) {}

  /// False when a step cannot be executed, or would compute something else than the training step does.
  bool run(const Plan& plan) {
    return std::all_of(plan.steps.begin(), plan.steps.end(),
                       [&](const Step& step) { return execute(step); }) &&
           next_ == static_cast<int>(graph_.ops.size());
  }
  [[nodiscard]] std::int64_t peak() const { return peak_; }

 private:
  bool execute(const Step& step) {
    if (step.kind == StepKind::compute) return compute(step.op);
    const int v = step.value.index;
    if (!decidable(step.value)) return false;
    if (step.kind == StepKind::free) return ram_.erase(v) == 1;
    if (!storage_used_) return false;
    if (step.kind == StepKind::wait) return true;
    if (step.kind == StepKind::page_out) {
      if (ram_.count(v) == 0) return false;
      disk_[v] = ram_[v];
      return true;
    }
    if (ram_.count(v) == 1 || disk_.count(v) == 0) return false;
    ram_[v] = disk_[v];
    count(0);
    return true;
  }

  bool compute(OpId id) {
    if (!graph_.ops.contains(id) || id.index > next_) return false;
    const Op& op = graph_.ops[id];
    const bool first = id.index == next_;
    if (!first && !op.recomputable) return false;
    Meaning meaning = mix(static_cast<Meaning>(id.index), 1);
    for (const ValueId v : op.inputs) {
      const ValueId source = storage(graph_, v);
      if (is_persistent(graph_.values[source].persistence)) {
        meaning = mix(meaning, versions_[source.index]);
      } else if (ram_.count(source.index) == 0) {
        return false;
      } else {
        meaning = mix(meaning, ram_[source.index]);
      }
    }
    if (first) {
      meant_[id.index] = meaning;
      ++next_;
    }
    if (meant_[id.index] != meaning) return false;
    for (const ValueId v : op.outputs) ram_[v.index] = mix(meaning, static_cast<Meaning>(v.index));
    for (const ValueId v : op.updates) versions_[storage(graph_, v).index] = meaning;
    count(id.index);
    return true;
  }

  [[nodiscard]] bool decidable(ValueId v) const {
    return graph_.values.contains(v) && !graph_.values[v].alias_of.valid() &&
           !is_persistent(graph_.values[v].persistence);
  }
  void count(int /*op*/) {
    std::int64_t level = 0;
    for (const auto& entry : ram_) level += graph_.values[ValueId(entry.first)].bytes.value();
    peak_ = std::max(peak_, level);
  }

  const Graph& graph_;
  const bool storage_used_;
  std::map<int, Meaning> ram_, disk_, versions_, meant_;
  int next_ = 0;
  std::int64_t peak_ = 0;
};

Plan damaged(Rng& rng, const Instance& instance, Plan plan) {
  std::vector<Step>& steps = plan.steps;
  const auto any = [&] { return static_cast<std::size_t>(pick(rng, 0, static_cast<int>(steps.size()) - 1)); };
  const auto at = [&](std::size_t i) { return steps.begin() + static_cast<std::ptrdiff_t>(i); };
  const auto any_value = [&] {
    return ValueId(pick(rng, -1, static_cast<int>(instance.graph.values.size())));
  };
  switch (pick(rng, 0, 5)) {
    case 0:
      steps.erase(at(any()));
      break;
    case 1:
      std::swap(steps[any()], steps[any()]);
      break;
    case 2: {
      const std::size_t i = any();
      std::swap(steps[i], steps[std::min(i + 1, steps.size() - 1)]);
      break;
    }
    case 3:
      steps[any()].value = any_value();
      break;
    case 4:
      steps[any()].op = OpId(pick(rng, -1, static_cast<int>(instance.graph.ops.size())));
      break;
    default: {
      Step step = steps[any()];
      if (chance(rng, 0.3)) step.value = any_value();
      steps.insert(at(any()), step);
    }
  }
  return plan;
}

RC_GTEST_PROP(ReplayProperty, DamagedPlansAreAcceptedOnlyIfTheyStillMeanTheSame, (std::uint64_t seed)) {
  Rng rng(seed);
  test::RandomInstanceOptions options = random_replay_options(rng);
  options.ops = pick(rng, 2, 14);
  options.in_place = chance(rng, 0.5);
  const Instance instance = test::random_instance(rng, options);
  const Schedule schedule = test::random_schedule(rng, instance);
  for (int repeat = 0; repeat < 20; ++repeat) {
    for (const Semantics semantics : kAll) {
      const Plan plan = damaged(rng, instance, linearise(instance, schedule, semantics));
      const Report report = replay(instance, plan, semantics, no_limits());
      Executor executor(instance);
      const bool executes = executor.run(plan);
      if (semantics == Semantics::published) {
        RC_ASSERT(report.valid == executes);
      } else {
        RC_ASSERT(!report.valid || executes);  // transfers also have to end first
      }
      if (!report.valid || semantics == Semantics::device)
        continue;  // workspace is none of the executor's business
      RC_ASSERT(report.peak_ram.value() == instance.costs.persistent.value() + executor.peak());
    }
  }
}

TEST(Replay, AThousandOps) {
  Rng rng(7);
  test::RandomInstanceOptions options;
  options.ops = 1000;
  options.multi_output = options.device = true;
  const Instance instance = test::random_instance(rng, options);
  const Schedule schedule = test::random_schedule(rng, instance);
  const Report report = replay(instance, schedule, Semantics::device, no_limits());
  const Plan plan = linearise(instance, schedule, Semantics::device);
  const Report again = replay(instance, plan, Semantics::device, no_limits());
  EXPECT_TRUE(report.valid) << report.violation;
  EXPECT_TRUE(again.valid) << again.violation;
}

}  // namespace
}  // namespace poet
