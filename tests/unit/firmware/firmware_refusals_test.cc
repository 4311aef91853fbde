// What training in C does not have: one line that names the op, and never other numbers.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "poet/autodiff/differentiate.h"
#include "poet/autodiff/mixed_precision.h"
#include "poet/base/error.h"
#include "poet/cost/device.h"
#include "poet/cost/tabulate.h"
#include "poet/firmware/lowered.h"
#include "poet/firmware/program.h"
#include "poet/firmware/storage_places.h"
#include "poet/graph/nn.h"
#include "poet/runtime/training/hyperparameters.h"
#include "tests/support/quick_plan.h"

namespace poet::firmware {
namespace {

Graph classifier(double smoothing = 0.0) {
  GraphBuilder g("classifier");
  const ValueId logits = nn::linear(g, "fc", g.input("x", {2, 3}), 4);
  nn::softmax_cross_entropy(g, "loss", logits, g.input("targets", {2}, DType::int32));
  Graph forward = g.finish();
  for (Op& op : forward.ops)
    if (op.kind == "softmax_cross_entropy" && smoothing > 0) op.attributes["label_smoothing"] = smoothing;
  return forward;
}

/// What `step` is refused with; empty: it is not.
std::string refusal_of(const std::function<void()>& step) {
  try {
    step();
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

/// Why a training step is not lowered.
std::string refusal(const Graph& training) {
  return refusal_of([&] {
    check_kinds(training);
    for (const OpId op : ids<OpId>(training.ops.size()))
      if (training.ops[op].kind != "input") static_cast<void>(lowered(training, op));
  });
}

TEST(FirmwareRefuses, NoOptimiserAndNoTreatmentOfGradients) {
  for (const Optimizer optimizer : {Optimizer::sgd, Optimizer::momentum, Optimizer::adam, Optimizer::adamw}) {
    TrainingOptions options{optimizer, nullptr};
    options.accumulate = 2;
    options.clip_norm = 1.0;
    Graph training = differentiate(classifier(0.1), options);
    runtime::Hyperparameters chosen;
    chosen.weight_decay = 0.1;
    if (optimizer == Optimizer::momentum) chosen.nesterov = true;
    runtime::set_hyperparameters(training, chosen);
    EXPECT_EQ(refusal(training), "");
  }
}

TEST(FirmwareRefuses, KindsThatItDoesNotHave) {
  GraphBuilder g("numbers");
  const ValueId x = nn::linear(g, "fc", g.input("x", {2, 3}), 4);
  nn::huber_loss(g, "loss", nn::unary(g, "softsign", "soft", x), g.input("targets", {2, 4}));
  EXPECT_EQ(refusal(differentiate(g.finish())),
            "the plan: there is no kernel in C for softsign (op \"soft\"), softsign_backward (op "
            "\"soft:backward\")");
}

/// Why a plan in mixed precision is no program.
std::string refusal_of_mixed_plan(bool with_workspace) {
  Instance instance;
  instance.graph = in_mixed_precision(differentiate(classifier()));
  instance.costs = tabulate(instance.graph, find_device("m4"));
  if (!with_workspace)
    for (OpCost& cost : instance.costs.ops) cost.workspace = Bytes(0);
  const PlanFile file = test::quick_plan(instance, {}, Bytes(1000));
  return refusal_of([&] { static_cast<void>(program_of(file, {})); });
}

// fc writes 8 numbers; the loss reads them.
TEST(FirmwareRefuses, PlansInMixedPrecisionThatHaveNoRoomForFloat32) {
  EXPECT_EQ(refusal_of_mixed_plan(true), "");
  EXPECT_EQ(refusal_of_mixed_plan(false),
            "op \"fc\": works on 32 bytes of float32 copies, for which the plan has 0: solve again");
}

/// Why the values of a training step have no places on a storage.
std::string refusal_of_places(const Graph& training) {
  PlanFile file;
  file.instance.graph = training;
  Program program;
  return refusal_of([&] { static_cast<void>(place_values(file, program)); });
}

// Their sum in 32 bits would be a few blocks.
TEST(FirmwareRefuses, PagesOfMoreThanTwoTebibytesInAll) {
  Graph training = differentiate(classifier());
  EXPECT_EQ(refusal_of_places(training), "");
  for (Value& value : training.values)
    if (value.persistence == Persistence::parameter) {
      value.paged = true;
      value.bytes = Bytes(std::int64_t{1} << 40);
    }
  EXPECT_EQ(refusal_of_places(training),
            "the plan: takes more than 2 TiB of storage, which cards do not have");
}

TEST(FirmwareRefuses, SamplesOfMoreThanFourGibibytes) {
  GraphBuilder g("wide");
  const ValueId x = g.input("x", {1, (std::int64_t{1} << 30) + 1});
  nn::mse_loss(g, "loss", nn::linear(g, "fc", x, 1), g.input("targets", {1, 1}));
  EXPECT_EQ(refusal_of_places(differentiate(g.finish())),
            "the plan: has samples of more than 4 GiB, which boards do not read");
}

}  // namespace
}  // namespace poet::firmware
