// Training as a library: what a Trainer does with a plan, weights, data and checkpoints, and what it refuses.

#include "poet/runtime/training/trainer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "poet/autodiff/differentiate.h"
#include "poet/cost/device.h"
#include "poet/cost/tabulate.h"
#include "poet/graph/nn.h"
#include "poet/runtime/executor/program.h"
#include "poet/runtime/training/checkpoint.h"
#include "poet/runtime/training/kind_times.h"
#include "tests/support/background.h"
#include "tests/support/faithful.h"
#include "tests/support/input_error.h"
#include "tests/support/program.h"

namespace poet::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using namespace runtime;

const KernelOptions kLoops{KernelLibrary::reference, 1, ""};

Graph small_network() {
  GraphBuilder g("small");
  ValueId x = g.input("input", {4, 3, 8, 8});
  x = nn::conv2d(g, "conv", x, {.out_channels = 6, .kernel = {3, 3}, .padding = {1, 1}, .bias = true});
  x = nn::relu(g, "relu", nn::batch_norm(g, "bn", x));
  x = nn::conv2d(g, "conv2", x, {.out_channels = 6, .kernel = {3, 3}, .padding = {1, 1}});
  x = nn::relu(g, "relu2", nn::batch_norm(g, "bn2", x));
  x = nn::dropout(g, "drop", nn::flatten(g, "flat", x), 0.3);
  nn::softmax_cross_entropy(g, "loss", nn::linear(g, "fc", x, 5), g.input("targets", {4}, DType::int32));
  return g.finish();
}

/// A plan that recomputes or pages, made once.
const PlanFile& scarce_plan() {
  static const PlanFile file = [] {
    Instance instance;
    instance.graph = differentiate(small_network(), {Optimizer::momentum, {}});
    instance.costs = tabulate(instance.graph, find_device("m4"));
    instance.batch_size = 4;
    instance.has_device = true;
    charge_workspaces(instance, kLoops);
    return plan_between(instance, 0.1);
  }();
  return file;
}

TrainerOptions options(std::uint64_t seed = 5) {
  TrainerOptions options;
  options.seed = seed;
  options.samples = 512;  // as carried_out() has them
  options.kernels = kLoops;
  return options;
}

std::vector<float> losses(Trainer& trainer, std::int64_t steps) {
  return trainer.train({.steps = steps}).losses;
}

TEST(Trainer, GivesTheBitsOfThePlanCarriedOutByHand) {
  const Bits bits = carried_out(scarce_plan(), kLoops, 4);
  ASSERT_GT(bits.recomputed + bits.paged, 0);
  Trainer trainer(scarce_plan(), options());
  std::vector<float> stepped;
  for (int i = 1; i <= 4; ++i) {
    const StepFigures step = trainer.step();
    EXPECT_EQ(step.number, i);
    EXPECT_GT(step.makespan, step.fetching);
    stepped.push_back(step.loss);
  }
  EXPECT_EQ(stepped, bits.losses);
  EXPECT_EQ(trainer.state().step, 4);
  EXPECT_EQ(trainer.state().loss, stepped.back());
  Trainer another(scarce_plan(), options());
  EXPECT_EQ(losses(another, 4), bits.losses);
}

TEST(Trainer, TellsWhatItWasSetUpWithAndWhatStepsTook) {
  Trainer trainer(scarce_plan(), options());
  const TrainerSetup& setup = trainer.setup();
  EXPECT_TRUE(setup.planned.valid);
  EXPECT_EQ(setup.map.arena, scarce_plan().layout.arena);
  EXPECT_EQ(setup.map.persistent, scarce_plan().instance.costs.persistent);
  EXPECT_EQ(setup.seeded, 9);  // two convolutions, one with a bias, fc and two batch norms
  EXPECT_THAT(setup.notices, ElementsAre());
  EXPECT_THAT(setup.data, StartsWith("synthetic"));
  std::vector<std::int64_t> seen;
  const TrainResult result = trainer.train(
      {.steps = 5, .on_step = [&seen](const StepFigures& done) { seen.push_back(done.number); }});
  EXPECT_THAT(seen, ElementsAre(1, 2, 3, 4, 5));
  EXPECT_EQ(result.end, TrainEnd::done);
  EXPECT_EQ(result.first_step, 1);
  EXPECT_FALSE(result.saved);
  EXPECT_EQ(result.measured.steps, 4) << "all but the first";
  EXPECT_LE(result.measured.fastest, result.measured.step);
  EXPECT_LE(result.measured.step, result.measured.slowest);
  EXPECT_EQ(result.measured.transferred.written, setup.planned.bytes_written);
  EXPECT_LE(result.measured.high_water, setup.map.arena);
  EXPECT_EQ(trainer.paging().storage.empty(), setup.planned.page_outs == 0);
  int runs = 0;
  for (const KindTime& time : times_by_kind(trainer.file(), result.measured)) runs += time.runs;
  const std::vector<Step>& steps = trainer.file().plan.steps;
  EXPECT_EQ(runs, std::count_if(steps.begin(), steps.end(),
                                [](const Step& step) { return step.kind == StepKind::compute; }));
}

TEST(Trainer, GoesOnWhereItStopped) {
  Trainer whole(scarce_plan(), options());
  const std::vector<float> expected = losses(whole, 6);
  Trainer parts(scarce_plan(), options());
  std::vector<float> found = losses(parts, 2);
  int asked = 0;
  const TrainResult stopped = parts.train({.steps = 6, .interrupted = [&asked] { return ++asked == 1; }});
  EXPECT_EQ(stopped.end, TrainEnd::interrupted);
  EXPECT_EQ(stopped.first_step, 3);
  found.insert(found.end(), stopped.losses.begin(), stopped.losses.end());
  parts.close_storage();
  const std::vector<float> rest = losses(parts, 6);
  found.insert(found.end(), rest.begin(), rest.end());
  EXPECT_EQ(found, expected);
  EXPECT_THAT(losses(parts, 6), ElementsAre()) << "they are done";
}

TEST(Trainer, ResumesFromItsCheckpointBitForBit) {
  const TemporaryFolder folder;
  Trainer whole(scarce_plan(), options());
  const std::vector<float> expected = losses(whole, 6);
  {
    Trainer first(scarce_plan(), options());
    EXPECT_TRUE(first.train({.steps = 4, .checkpoint = folder.file("four")}).saved);
  }
  TrainerOptions resumed = options();
  resumed.seed.reset();
  resumed.resume = folder.file("four");
  Trainer second(scarce_plan(), resumed);
  EXPECT_EQ(second.state().step, 4);
  EXPECT_EQ(second.state().seed, 5U);
  EXPECT_THAT(losses(second, 6), ElementsAre(expected[4], expected[5]));
  second.save(folder.file("six"));
  whole.save(folder.file("the other six"));
  EXPECT_EQ(file_text(folder.file("six")), file_text(folder.file("the other six")));

  resumed.hyperparameters.momentum = 0.5;
  EXPECT_THAT(Trainer(scarce_plan(), resumed).setup().notices,
              ElementsAre(HasSubstr("optimizer differs from the checkpoint's")));
  resumed.seed = 6;
  EXPECT_EQ(input_error([&] { Trainer(scarce_plan(), resumed); }),
            "seed: is 6, that of " + folder.file("four") + " is 5");
}

TEST(Trainer, TakesWeightsFromTheFirstThatKnowsThem) {
  const TemporaryFolder folder;
  {
    Trainer donor(scarce_plan(), options(9));
    losses(donor, 1);
    donor.save(folder.file("weights"));
  }
  const Graph& graph = scarce_plan().instance.graph;
  TrainerOptions chosen = options();
  chosen.weights_file = folder.file("weights");
  chosen.weights = [&graph](ValueId v, std::byte* to) {
    if (graph.values[v].name != "fc.bias") return false;
    std::fill_n(to, graph.values[v].bytes.value(), std::byte{0});
    return true;
  };
  const Trainer trainer(scarce_plan(), chosen);
  EXPECT_EQ(trainer.setup().seeded, 0);
  const Trainer same(scarce_plan(), [&] {
    TrainerOptions resumed = chosen;
    resumed.seed.reset();
    resumed.resume = folder.file("weights");  // which goes before both
    return resumed;
  }());
  const Trainer without_file(scarce_plan(), [&] {
    TrainerOptions given = chosen;
    given.weights_file.reset();
    return given;
  }());
  EXPECT_GT(without_file.setup().seeded, 0);
  for (const ValueId v : persistent_values(graph)) {
    const auto bytes = static_cast<std::size_t>(graph.values[v].bytes.value());
    EXPECT_EQ(std::memcmp(trainer.persistent(v), same.persistent(v), bytes), 0) << graph.values[v].name;
    if (graph.values[v].name == "fc.bias") {
      EXPECT_EQ(without_file.persistent(v)[0], std::byte{0});
    }
  }
}

/// Always the same sample.
class OneSample final : public Dataset {
 public:
  explicit OneSample(const Graph& graph) : inputs_(data_inputs(graph)) {}
  std::int64_t samples() const override { return 4; }
  void read(std::size_t input, std::span<const std::int64_t> samples, std::byte* to) const override {
    const Bytes size = byte_count(inputs_[input].sample, inputs_[input].dtype);
    std::memset(to, 0, samples.size() * static_cast<std::size_t>(size.value()));
  }
  std::string description() const override { return "one sample"; }

 private:
  std::vector<DataInput> inputs_;
};

TEST(Trainer, TakesTheCallersOwnData) {
  const OneSample data(scarce_plan().instance.graph);
  TrainerOptions own = options();
  own.dataset = &data;
  own.hyperparameters.learning_rate = 0.1;
  Trainer trainer(scarce_plan(), own);
  EXPECT_EQ(trainer.setup().data, "one sample");
  const std::vector<float> found = losses(trainer, 20);
  EXPECT_LT(found.back(), found.front() / 2) << "one class is soon learnt";
}

TEST(Trainer, RefusesWhatItCannotRun) {
  const auto refused = [](PlanFile file, const TrainerOptions& chosen = options()) {
    return input_error([&] { Trainer(std::move(file), chosen); });
  };
  PlanFile forgets = scarce_plan();
  forgets.plan.steps.erase(forgets.plan.steps.begin() + 3);
  EXPECT_THAT(refused(forgets), StartsWith("the plan: "));
  PlanFile crowded = scarce_plan();
  crowded.limits.ram_budget = crowded.layout.arena;
  EXPECT_THAT(refused(crowded), StartsWith("the plan"));
  PlanFile generous = scarce_plan();  // to a parameter
  Instance& instance = generous.instance;
  const ValueId parameter = persistent_values(instance.graph).front();
  for (Bytes* bytes : {&instance.graph.values[parameter].bytes, &instance.costs.values[parameter].bytes,
                       &instance.costs.persistent, &generous.limits.ram_budget})
    *bytes += Bytes(64);
  EXPECT_THAT(refused(generous), AllOf(StartsWith("value "), HasSubstr(", its shape needs ")));
  PlanFile published = scarce_plan();
  published.semantics = Semantics::published;
  EXPECT_THAT(refused(published), HasSubstr("by the published rules"));
  TrainerOptions wrong = options();
  wrong.hyperparameters.beta1 = 0.5;
  EXPECT_EQ(refused(scarce_plan(), wrong), "beta1: the network's optimiser has none (`optimizer`)");
  wrong = options();
  wrong.samples = 3;
  EXPECT_EQ(refused(scarce_plan(), wrong), "data set: has 3 samples, fewer than the 4 of one batch");
  wrong = options();
  wrong.weights_file = "absent";
  EXPECT_THAT(refused(scarce_plan(), wrong), StartsWith("absent: cannot be opened"));
}

TEST(Trainer, WhatItWouldRefuseIsFoundWithoutAPlan) {
  const Graph& graph = scarce_plan().instance.graph;
  check_trainable(graph, options());
  const auto wrong = [&graph](auto change) {
    TrainerOptions changed = options();
    change(changed);
    return input_error([&] { check_trainable(graph, changed); });
  };
  EXPECT_THAT(wrong([](TrainerOptions& o) { o.hyperparameters.learning_rate = -1; }),
              StartsWith("learning_rate: "));
  EXPECT_THAT(wrong([](TrainerOptions& o) { o.samples = 3; }), StartsWith("data set: "));
  EXPECT_THAT(wrong([](TrainerOptions& o) { o.data = "absent"; }),
              StartsWith("data: \"absent\" does not exist"));
  EXPECT_THAT(wrong([](TrainerOptions& o) { o.resume = "absent"; }), StartsWith("absent: "));
  EXPECT_THAT(wrong([](TrainerOptions& o) { o.weights_file = "absent"; }), StartsWith("absent: "));
  EXPECT_THAT(wrong([](TrainerOptions& o) { o.storage.where = "absent/pages"; }),
              StartsWith("absent/pages: "));
}

}  // namespace
}  // namespace poet::test
