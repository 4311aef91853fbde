// The forward pass of a training graph as the trained network is used.

#include "poet/autodiff/evaluation_part.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "poet/autodiff/differentiate.h"
#include "poet/frontend/zoo.h"
#include "poet/graph/nn.h"
#include "tests/support/input_error.h"

namespace poet {
namespace {

std::int64_t count_kind(const Graph& graph, const std::string& kind) {
  return std::count_if(graph.ops.begin(), graph.ops.end(), [&](const Op& op) { return op.kind == kind; });
}

TEST(EvaluationPart, NormalisesByRunningStatisticsAndDropsNothing) {
  GraphBuilder g("small");
  ValueId x = g.input("input", {4, 3, 8, 8});
  x = nn::batch_norm(g, "bn", x);
  x = nn::dropout(g, "drop", nn::flatten(g, "flat", x), 0.3);
  nn::softmax_cross_entropy(g, "loss", nn::linear(g, "fc", x, 5), g.input("targets", {4}, DType::int32));
  const Graph training = differentiate(g.finish(), {Optimizer::adam, {}});
  const EvaluationPart part = evaluation_part(training);

  // input, seven for the batch normalisation, dropout, linear, targets, loss.
  EXPECT_EQ(part.graph.ops.size(), 12U);
  EXPECT_EQ(count_kind(part.graph, "batch_norm"), 0);
  EXPECT_EQ(count_kind(part.graph, "batch_norm_stats"), 0);
  ASSERT_EQ(count_kind(part.graph, "dropout"), 1);
  for (const Op& op : part.graph.ops) {
    EXPECT_TRUE(op.updates.empty()) << op.name;
    if (op.kind == "dropout") {
      EXPECT_EQ(std::get<double>(op.attributes.at("p")), 0.0);
    }
  }
  std::vector<std::string> persistent;
  for (const Value& value : part.graph.values)
    if (is_persistent(value.persistence)) persistent.push_back(value.name);
  std::sort(persistent.begin(), persistent.end());
  const std::vector<std::string> expected = {"bn.bias",   "bn.running_mean", "bn.running_var",
                                             "bn.weight", "fc.bias",         "fc.weight"};
  EXPECT_EQ(persistent, expected);
  ASSERT_EQ(part.ops.size(), part.graph.ops.size());
  ASSERT_EQ(part.values.size(), part.graph.values.size());
}

TEST(EvaluationPart, OfNetworksWithoutEitherIsTheForwardPass) {
  const Graph forward = build_network("linear");
  const EvaluationPart part = evaluation_part(differentiate(forward));
  EXPECT_EQ(part.graph.ops.size(), forward.ops.size());
  for (const OpId op : ids<OpId>(forward.ops.size()))
    EXPECT_EQ(part.graph.ops[op].kind, forward.ops[op].kind);
}

TEST(EvaluationPart, NeedsRunningStatistics) {
  GraphBuilder g("small");
  const ValueId x = nn::flatten(g, "flat", nn::batch_norm(g, "bn", g.input("input", {4, 3, 8, 8})));
  nn::softmax_cross_entropy(g, "loss", nn::linear(g, "fc", x, 5), g.input("targets", {4}, DType::int32));
  Graph training = differentiate(g.finish());
  IdVector<OpId, Op> kept;
  for (Op& op : training.ops)
    if (op.kind != "batch_norm_stats") kept.push_back(op);
  training.ops = kept;
  EXPECT_EQ(test::input_error([&] { static_cast<void>(evaluation_part(training)); }),
            "op \"bn\": has no running statistics to be evaluated by");
}

}  // namespace
}  // namespace poet
