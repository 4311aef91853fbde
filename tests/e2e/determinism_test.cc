// The same request gives the same answer: where the search ends by itself nothing depends on the clock, and
// where time or patience ends first there is a schedule all the same.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <vector>

#include "poet/answer/answer.h"
#include "poet/autodiff/differentiate.h"
#include "poet/base/data_dir.h"
#include "poet/compile.h"
#include "poet/cost/device.h"
#include "poet/cost/instance_json.h"
#include "poet/cost/tabulate.h"
#include "poet/frontend/zoo.h"
#include "poet/optimize/explain.h"
#include "poet/optimize/solve.h"
#include "poet/pipeline/pose.h"
#include "poet/verify/replay.h"
#include "tests/support/effort.h"
#include "tests/support/random_training_graph.h"

namespace poet {
namespace {

struct Case {
  std::string name;
  Instance instance;
  Semantics semantics = Semantics::published;
  Limits limits;
};

// A budget part of the way from the largest working set to keeping everything, and 30% more time than that
// takes.
Case limited(const std::string& name, Instance instance, Semantics semantics, double fraction) {
  Case c{fmt::format("{} {} f={}", name, to_string(semantics), fraction), std::move(instance), semantics, {}};
  const Report all = replay_keep_all(c.instance, semantics);
  const Bytes floor = *ram_floor(make_problem({c.instance, {}, semantics}, {})).floor_ram;
  const auto range = static_cast<double>((all.peak_ram - floor).value());
  c.limits.ram_budget = floor + Bytes(static_cast<std::int64_t>(fraction * range));
  c.limits.deadline = Seconds(1.3 * all.runtime.value());
  return c;
}

Case published(const std::string& name, double fraction) {
  return limited(name, read_instance(data_dir() / "published" / (name + ".json")), Semantics::published,
                 fraction);
}

Case zoo_on(const std::string& network, const std::string& device, double fraction) {
  Instance instance;
  instance.graph = differentiate(build_network(network));
  instance.costs = tabulate(instance.graph, find_device(device), PersistentPolicy::excluded);
  instance.has_device = true;
  return limited(network + " on " + device, std::move(instance), Semantics::device, fraction);
}

struct OneRun {
  Outcome outcome;
  std::vector<std::string> phases;  // with what was known when each began
};

OneRun run(const Case& c, SolveOptions options) {
  OneRun result;
  std::string phase;
  options.on_progress = [&](const Progress& progress) {
    if (progress.phase == phase) return;
    phase = progress.phase;
    result.phases.push_back(fmt::format("{}: energy {}, bound {}", phase,
                                        progress.incumbent_joules.value_or(-1),
                                        progress.bound_joules.value_or(-1)));
  };
  result.outcome = solve({c.instance, c.limits, c.semantics}, options);
  return result;
}

double expect_valid(const Case& c, const Outcome& outcome) {
  const Report report = replay(c.instance, outcome.schedule, c.semantics, c.limits);
  EXPECT_TRUE(report.valid) << report.violation;
  EXPECT_LE(outcome.certificate.bounds.of_staged().value(), report.energy.value() * (1 + 1e-9));
  return report.energy.value();
}

// One difference early on makes all that follows differ: the first tells where it comes from.
void expect_same_phases(const OneRun& once, const OneRun& again) {
  for (std::size_t i = 0; i < std::min(once.phases.size(), again.phases.size()); ++i) {
    ASSERT_EQ(once.phases[i], again.phases[i])
        << "after " << (i == 0 ? "the start" : once.phases[i - 1]) << " in both";
  }
  EXPECT_EQ(once.phases.size(), again.phases.size());
}

void expect_same_answer(const Case& c) {
  SCOPED_TRACE(c.name);
  SolveOptions options;
  options.gap = 0.01;
  options.time_limit_seconds = 120;
  const OneRun once = run(c, options);
  fmt::print("{:<40}: {} after {:.1f} s, {} nodes, {} phases\n", c.name,
             to_string(once.outcome.certificate.status), once.outcome.solve_seconds, once.outcome.nodes,
             once.phases.size());
  ASSERT_EQ(once.outcome.certificate.status, Status::optimal)
      << "did not end before its time: proves nothing";
  expect_valid(c, once.outcome);
  const OneRun again = run(c, options);
  expect_same_phases(once, again);
  EXPECT_EQ(once.outcome.certificate.status, again.outcome.certificate.status);
  EXPECT_EQ(once.outcome.schedule, again.outcome.schedule);
  EXPECT_EQ(once.outcome.certificate.bounds.every_plan, again.outcome.certificate.bounds.every_plan);
  EXPECT_EQ(once.outcome.nodes, again.outcome.nodes);
}

TEST(Determinism, Published) {
  for (const double fraction : {0.5, 0.25}) {
    expect_same_answer(published("resnet18_cifar.m4", fraction));
    expect_same_answer(published("vgg16_cifar.a72", fraction));
  }
}

TEST(Determinism, RandomTrainingGraph) {
  test::RandomTrainingGraphOptions options;
  options.ops = 150;
  for (const Semantics semantics : {Semantics::published, Semantics::staged})
    expect_same_answer(limited("random 150", test::random_training_graph(7, options), semantics, 0.5));
}

TEST(Determinism, Device) { expect_same_answer(zoo_on("vgg16_cifar", "m4", 0.5)); }

/// What `poet solve` is asked: parts and paged parameters are chosen.
CompileRequest request_for(const std::string& network, const std::string& device, RamBudget ram, double gap) {
  Policy policy;
  policy.persistent = PersistentPolicy::automatic;
  policy.split = {.automatic = true};
  policy.ram = ram;
  CompileRequest how;
  how.options.gap = gap;
  how.options.time_limit_seconds = 300;
  return posed_answer(how, load({BuiltInNetwork{network, {}}, {}, {}, {}}, {device, {}}, policy), policy)
      .request;
}

TEST(Determinism, AnyNumberOfThreads) {
  for (CompileRequest request : {request_for("linear", "m4", RamOfKeepAll{0.5}, 0.1),
                                 request_for("resnet18_cifar", "a72", RamOfKeepAll{0.9}, 0.1)}) {
    const CompileResult once = compile(request);
    EXPECT_FALSE(once.outcome.timed_out) << "did not end before its time: proves nothing";
    for (const int threads : {2, 5}) {
      request.options.threads = threads;
      const CompileResult other = compile(request);
      EXPECT_EQ(other.plan.steps, once.plan.steps) << threads;
      EXPECT_EQ(other.certificate.bounds.every_plan, once.certificate.bounds.every_plan) << threads;
      EXPECT_EQ(other.outcome.nodes, once.outcome.nodes) << threads;
      EXPECT_EQ(other.cut.part, once.cut.part) << threads;
    }
    fmt::print("{:.2f} s with one thread\n", once.outcome.solve_seconds);
  }
}

// Time limits and interruption.

SolveOptions endless() {
  SolveOptions options;
  options.gap = 0;
  options.time_limit_seconds = 600;
  return options;
}

// Too hard to come to an end by itself.
void expect_a_schedule(const Case& c, double limit) {
  SCOPED_TRACE(fmt::format("{}, {} s", c.name, limit));
  SolveOptions options = endless();
  options.time_limit_seconds = limit;
  const Outcome outcome = solve({c.instance, c.limits, c.semantics}, options);
  EXPECT_EQ(outcome.certificate.status, Status::feasible) << outcome.explanation.reason;
  expect_valid(c, outcome);
}

TEST(TimeLimit, EndsTheSearchWithASchedule) {
  for (const double limit : test::tries_all() ? std::vector{0.5, 1.0, 3.0} : std::vector{0.5}) {
    expect_a_schedule(zoo_on("resnet50", "m4", 0.25), limit);
    expect_a_schedule(published("resnet50.m4", 0.1), limit);
  }
}

TEST(Interruption, ReturnsWhatIsKnownSoon) {
  for (const Case& c : {zoo_on("resnet50", "m4", 0.25), published("resnet50.m4", 0.1)}) {
    SCOPED_TRACE(c.name);
    SolveOptions options = endless();
    std::atomic<double> incumbent = 0;
    options.on_progress = [&](const Progress& progress) {
      incumbent = progress.incumbent_joules.value_or(incumbent.load());
    };
    std::atomic<int> asked_since = 0;  // a schedule was known
    options.interrupted = [&] { return incumbent > 0 && ++asked_since > 10; };
    const Outcome outcome = solve({c.instance, c.limits, c.semantics}, options);
    fmt::print("{:<40} interrupted: {}, asked {} times\n", c.name, to_string(outcome.certificate.status),
               asked_since.load());
    EXPECT_GT(asked_since, 10);
    EXPECT_LT(asked_since, 1000) << "goes on after it was interrupted";
    EXPECT_EQ(outcome.certificate.status, Status::feasible) << outcome.explanation.reason;
    const double energy = expect_valid(c, outcome);
    EXPECT_NEAR(energy, incumbent, 1e-9 * energy);  // the last one that was told of
  }
}

}  // namespace
}  // namespace poet
