// Limits that no graph can be split by, and parts and accumulators that do not fit.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "poet/autodiff/differentiate.h"
#include "poet/graph/nn.h"
#include "poet/split/split.h"
#include "tests/support/input_error.h"

namespace poet {
namespace {

Graph training() {
  GraphBuilder g("small");
  const ValueId x = nn::linear(g, "fc", g.input("x", {1, 8}), 2);
  nn::softmax_cross_entropy(g, "loss", x, g.input("targets", {1}, DType::int32));
  return differentiate(g.finish());
}

TEST(SplitErrors, APartHoldsANumber) {
  for (const std::int64_t limit : {3, 0, -1}) {
    EXPECT_EQ(test::input_error([&] { (void)split(training(), {Bytes(limit)}); }),
              "split: parts must have at least the 4 bytes of a number, not " + std::to_string(limit));
  }
}

// Counted, not made: at once.
TEST(SplitErrors, AMillionOpsAreTheMost) {
  GraphBuilder g("large");
  const ValueId x = nn::linear(g, "first", g.input("x", {1, 1000}), 1000);
  nn::softmax_cross_entropy(g, "loss", nn::linear(g, "second", x, 2), g.input("targets", {1}, DType::int32));
  const Graph large = differentiate(g.finish());
  ASSERT_GT(ops_in_parts(large, Bytes(4)), 1e6);
  EXPECT_EQ(test::input_error([&] { (void)split(large, {Bytes(4)}); }),
            fmt::format("split: parts of 4 B make {:.1f} million ops, more than a million",
                        ops_in_parts(large, Bytes(4)) / 1e6));
}

TEST(SplitErrors, AGraphThatBreaksARule) {
  Graph graph = training();
  graph.ops[OpId(0)].outputs.clear();
  EXPECT_NE(test::input_error([&] { (void)split(graph, {Bytes(16)}); }), "");
}

TEST(SplitErrors, APartLiesWithinItsTensor) {
  Graph graph = split(training(), {Bytes(16)});
  for (Value& value : graph.values) {
    if (!value.part || value.part->tensor != "fc.weight") continue;
    value.part->begin.back() = 7;
    EXPECT_NE(
        test::input_error([&] { verify(graph); }).find("a part must lie within its tensor, 'fc.weight'"),
        std::string::npos);
    return;
  }
  FAIL() << "fc.weight is in parts";
}

TEST(SplitErrors, AccumulatorsFitTheirOutputs) {
  Graph graph = split(training(), {Bytes(16)});
  for (Op& op : graph.ops) {
    if (!op.attributes.contains("accumulate")) continue;
    const Op sound = op;
    const auto refused = [&] { return test::input_error([&] { verify(graph); }); };
    op.attributes["accumulate"] = std::vector<std::int64_t>{1};
    EXPECT_NE(refused().find("ascending numbers below 1 in accumulate, not 1"), std::string::npos)
        << refused();
    op.attributes["accumulate"] = std::vector<std::int64_t>{};
    EXPECT_NE(refused().find("an input for each number in accumulate"), std::string::npos) << refused();
    op.attributes["accumulate"] = std::string("all");
    EXPECT_NE(refused().find("a list of integers as its attribute accumulate"), std::string::npos)
        << refused();
    op = sound;
    op.inputs.back() = op.inputs[1];
    EXPECT_NE(refused().find("of shape"), std::string::npos) << refused();
    op = sound;
    op.kind = "relu";
    EXPECT_NE(refused().find("no attribute accumulate: its result is no sum"), std::string::npos)
        << refused();
    return;
  }
  FAIL() << "a sum is in parts";
}

}  // namespace
}  // namespace poet
