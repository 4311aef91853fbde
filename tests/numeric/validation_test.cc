// Validations between steps: in little RAM the same bits, and a checkpoint whenever the loss is the lowest so
// far.

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "poet/answer/evaluation_plan.h"
#include "poet/autodiff/differentiate.h"
#include "poet/cost/device.h"
#include "poet/cost/tabulate.h"
#include "poet/graph/nn.h"
#include "poet/runtime/data/dataset.h"
#include "poet/runtime/executor/program.h"
#include "poet/runtime/training/checkpoint.h"
#include "poet/runtime/training/trainer.h"
#include "tests/support/quick_plan.h"
#include "tests/support/scratch_folder.h"

namespace poet::test {
namespace {

const runtime::KernelOptions kPlainLoops{runtime::KernelLibrary::reference, 1, ""};

/// Its input is needed again behind a layer that needs two tensors of the same size.
Instance with_a_long_skip() {
  GraphBuilder g("skip");
  const ValueId x = g.input("x", {64, 32});
  const ValueId hidden = nn::tanh(g, "tanh", nn::linear(g, "first", x, 32));
  const ValueId sum = nn::add(g, "sum", x, nn::linear(g, "second", hidden, 32));
  nn::softmax_cross_entropy(g, "loss", nn::linear(g, "fc", sum, 3), g.input("targets", {64}, DType::int32));
  Instance instance;
  instance.graph = differentiate(g.finish());
  instance.costs = tabulate(instance.graph, find_device("m4"));
  instance.has_device = true;
  return instance;
}

std::vector<double> validated(const PlanFile& plan, const PlanFile& validation,
                              const runtime::Dataset& unseen) {
  runtime::TrainerOptions options;
  options.kernels = kPlainLoops;
  options.validation_set = &unseen;
  options.validation_plans = {validation};
  runtime::Trainer trainer(plan, options);
  std::vector<double> losses;
  for (int step = 0; step < 3; ++step) {
    trainer.step();
    losses.push_back(trainer.validate().loss);
  }
  return losses;
}

TEST(Validation, PagesWhereItsPassDoesNotFitOtherwise) {
  const Instance instance = with_a_long_skip();
  const auto pages_out = [](const PlanFile& file) {
    return std::count_if(file.plan.steps.begin(), file.plan.steps.end(),
                         [](const Step& step) { return step.kind == StepKind::page_out; });
  };
  const auto charge = [&](Instance& pass) { runtime::charge_workspaces_as(instance, pass, kPlainLoops); };
  const PlanFile tight = quick_plan(instance, {}, Bytes(256)),
                 roomy = quick_plan(instance, {}, Bytes(1 << 20));
  const PlanFile pages = plan_evaluation(tight, charge), keeps = plan_evaluation(roomy, charge);
  EXPECT_GT(pages_out(pages), 0);
  EXPECT_EQ(pages_out(keeps), 0);
  EXPECT_LE(pages.layout.arena, tight.layout.arena);
  const auto unseen = runtime::synthetic_dataset(instance.graph, 160, 5);  // two batches and a half
  const std::vector<double> losses = validated(tight, pages, *unseen);
  EXPECT_EQ(losses, validated(roomy, keeps, *unseen));
  EXPECT_NE(losses[0], losses[2]);
}

TEST(Validation, SavesTheBestAndTellsSo) {
  const Instance instance = with_a_long_skip();
  const auto charge = [&](Instance& pass) { runtime::charge_workspaces_as(instance, pass, kPlainLoops); };
  const PlanFile plan = quick_plan(instance, {}, Bytes(1 << 20));
  const auto unseen = runtime::synthetic_dataset(instance.graph, 64, 5);
  const ScratchFolder folder;
  const std::filesystem::path best = folder.path() / "best";
  runtime::TrainerOptions options;
  options.kernels = kPlainLoops;
  options.validation_set = unseen.get();
  options.validation_plans = {plan_evaluation(plan, charge)};
  const auto train = [&](double learning_rate, std::int64_t steps) {
    options.hyperparameters.learning_rate = learning_rate;
    return runtime::Trainer(plan, options).train({.steps = steps, .validate_every = 1, .best = best});
  };
  const runtime::TrainResult first = train(0.01, 3);
  EXPECT_TRUE(first.best_saved);
  EXPECT_TRUE(first.validations.front().saved);
  // A run that goes on from there and gets worse leaves it.
  options.resume = best;
  const std::int64_t step = runtime::read_run_state(best).step;
  const runtime::TrainResult worse = train(1000, 6);
  ASSERT_FALSE(worse.validations.empty());
  EXPECT_FALSE(worse.best_saved);
  EXPECT_EQ(runtime::read_run_state(best).step, step);
}

}  // namespace
}  // namespace poet::test
