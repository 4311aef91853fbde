// What verify() and the size, name and layout functions reject, and what they say.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "poet/graph/graph.h"
#include "poet/graph/strides.h"
#include "tests/support/input_error.h"
#include "tests/support/small_graphs.h"

namespace poet {
namespace {

using test::add_alias;
using test::add_node;
using test::add_persistent;
using test::add_update;
using test::input_error;
using testing::HasSubstr;

constexpr std::int64_t kMostElements = std::numeric_limits<std::int64_t>::max();

std::string verify_error(const Graph& graph) {
  return input_error([&] { verify(graph); });
}

// w -> y -> dw -> sgd, with a view of y. Every test below breaks one thing in it.
class BrokenGraph : public testing::Test {
 protected:
  BrokenGraph() {
    w = add_persistent(graph, "w");
    x = add_node(graph, "x", {});
    y = add_node(graph, "y", {x, w});
    view = add_alias(graph, "view", y);
    dw = add_node(graph, "dw", {view});
    sgd = add_update(graph, "sgd", {w, dw}, {w});
    verify(graph);
  }
  Op& op_of(ValueId v) { return graph.ops[graph.values[v].producer]; }

  Graph graph;
  ValueId w, x, y, view, dw;
  OpId sgd;
};

TEST_F(BrokenGraph, ReadsAnUnknownValue) {
  op_of(y).inputs.emplace_back(99);
  EXPECT_EQ(verify_error(graph), "op 1 'y': reads value 99, but there are 5 values");
}

TEST_F(BrokenGraph, WritesAnUnknownValue) {
  op_of(y).outputs.emplace_back(-1);
  EXPECT_EQ(verify_error(graph), "op 1 'y': writes value -1, but there are 5 values");
}

TEST_F(BrokenGraph, UpdatesAnUnknownValue) {
  graph.ops[sgd].updates.emplace_back(5);
  EXPECT_EQ(verify_error(graph), "op 3 'sgd': updates value 5, but there are 5 values");
}

TEST_F(BrokenGraph, NamesAnUnknownProducer) {
  graph.values[y].producer = OpId(4);
  EXPECT_EQ(verify_error(graph), "value 2 'y': is produced by op 4, but there are 4 ops");
}

TEST_F(BrokenGraph, ViewsAnUnknownValue) {
  graph.values[view].alias_of = ValueId(5);
  EXPECT_EQ(verify_error(graph), "value 3 'view': is a view of value 5, but there are 5 values");
}

TEST_F(BrokenGraph, ViewsFormACycle) {
  const ValueId second = add_alias(graph, "second", view);
  graph.values[view].alias_of = second;
  EXPECT_THAT(verify_error(graph), HasSubstr("views may not form a cycle"));
}

TEST_F(BrokenGraph, AViewOfItself) {
  graph.values[view].alias_of = view;
  EXPECT_EQ(verify_error(graph), "value 3 'view': views may not form a cycle");
}

TEST_F(BrokenGraph, NegativeBytes) {
  graph.values[y].bytes = Bytes(-4);
  EXPECT_EQ(verify_error(graph), "value 2 'y': bytes must be >= 0, not -4");
}

TEST_F(BrokenGraph, SizesThatAddUpToTooMuch) {
  // With w's 4 bytes just within 64 bits; y's 4 are too many.
  graph.values[x].bytes = Bytes(kMostElements - 4);
  EXPECT_EQ(verify_error(graph),
            "value 2 'y': the sizes up to here add up to more bytes than 64 bits can count");
}

TEST_F(BrokenGraph, NegativeDimension) {
  graph.values[y].shape = {2, -3};
  EXPECT_EQ(verify_error(graph), "value 2 'y': no dimension may be negative");
}

TEST_F(BrokenGraph, StridesThatDoNotMatchTheShape) {
  graph.values[y].shape = {2, 3};
  graph.values[y].strides = {1};
  EXPECT_EQ(verify_error(graph), "value 2 'y': must have one stride per dimension, or none at all");
}

TEST_F(BrokenGraph, AViewWithAProducer) {
  graph.values[view].producer = OpId(1);
  EXPECT_EQ(verify_error(graph), "value 3 'view': a view has no producer: its storage has");
}

TEST_F(BrokenGraph, AViewOfAnotherSize) {
  graph.values[view].bytes = Bytes(8);
  EXPECT_EQ(verify_error(graph), "value 3 'view': a view has its storage's bytes (4), not 8");
}

TEST_F(BrokenGraph, AViewOfAnotherPersistence) {
  graph.values[view].persistence = Persistence::parameter;
  EXPECT_EQ(verify_error(graph),
            "value 3 'view': a view has its storage's persistence (activation), not parameter");
}

TEST_F(BrokenGraph, TwoProducers) {
  op_of(dw).outputs.push_back(y);
  EXPECT_EQ(verify_error(graph),
            "value 2 'y': is written twice, by op 1 'y' and op 2 'dw'; a value has one producer");
}

TEST_F(BrokenGraph, WrittenTwiceByOneOp) {
  op_of(y).outputs.push_back(y);
  EXPECT_THAT(verify_error(graph), HasSubstr("value 2 'y': is written twice"));
}

TEST_F(BrokenGraph, AProducerThatDoesNotWriteTheValue) {
  op_of(y).outputs.clear();
  EXPECT_EQ(verify_error(graph), "value 2 'y': names op 1 'y' as its producer, which does not write it");
}

TEST_F(BrokenGraph, AValueThatNamesAnotherProducer) {
  graph.values[y].producer = OpId(0);
  EXPECT_EQ(verify_error(graph), "value 2 'y': is written by op 1 'y' but names another producer, or none");
}

TEST_F(BrokenGraph, APersistentValueWithAProducer) {
  graph.values[x].persistence = Persistence::parameter;
  EXPECT_EQ(verify_error(graph),
            "value 1 'x': a persistent value (parameter) is in RAM before the step and has no producer");
}

TEST_F(BrokenGraph, ATransientValueWithoutAProducer) {
  graph.values[w].persistence = Persistence::activation;
  EXPECT_EQ(verify_error(graph), "value 0 'w': a value that is not persistent (activation) needs a producer");
}

TEST_F(BrokenGraph, ARecomputableInput) {
  graph.values[x].persistence = Persistence::input;
  EXPECT_EQ(verify_error(graph), "op 0 'x': produces an input of the step, so it cannot be recomputable");
}

TEST_F(BrokenGraph, ACycle) {
  op_of(x).inputs.push_back(dw);  // x -> y -> dw -> x
  EXPECT_EQ(verify_error(graph),
            "op 0 'x': reads value 4 'dw', which the later op 2 'dw' writes; ops must be in topological "
            "order, without "
            "cycles");
}

TEST_F(BrokenGraph, AnOpThatReadsItsOwnOutputThroughAView) {
  op_of(y).inputs.push_back(view);
  EXPECT_EQ(verify_error(graph),
            "op 1 'y': reads value 3 'view', which it itself writes; ops must be in topological order, "
            "without cycles");
}

TEST_F(BrokenGraph, ARecomputableUpdate) {
  graph.ops[sgd].recomputable = true;
  EXPECT_EQ(verify_error(graph),
            "op 3 'sgd': an update changes values in place, so it cannot be recomputable");
}

TEST_F(BrokenGraph, ARecomputableOpOfTheUpdatePass) {
  op_of(dw).pass = Pass::update;
  EXPECT_EQ(verify_error(graph),
            "op 2 'dw': an update changes values in place, so it cannot be recomputable");
}

TEST_F(BrokenGraph, AnUpdateOfATransientValue) {
  graph.ops[sgd].updates.push_back(view);
  EXPECT_EQ(verify_error(graph), "op 3 'sgd': updates value 3 'view', which is not persistent (activation)");
}

TEST_F(BrokenGraph, TwoUpdatesOfOneValue) {
  add_update(graph, "again", {dw}, {w});
  EXPECT_EQ(verify_error(graph), "op 4 'again': updates value 0 'w' a second time, after op 3 'sgd'");
}

TEST_F(BrokenGraph, AReaderAfterTheUpdate) {
  const ValueId late = add_alias(graph, "w^T", w);
  add_node(graph, "dx", {dw, late});
  EXPECT_EQ(verify_error(graph), "op 4 'dx': reads value 5 'w^T' after its update by op 3 'sgd'");
}

TEST(Sizes, NegativeDimension) {
  EXPECT_EQ(input_error([] { (void)element_count({2, -1}); }), "shape (2, -1): no dimension may be negative");
  // Not hidden by a zero beside it.
  EXPECT_EQ(input_error([] { (void)element_count({0, -1}); }), "shape (0, -1): no dimension may be negative");
}

TEST(Sizes, Overflow) {
  EXPECT_EQ(input_error([] {
              (void)element_count({4294967296, 4294967296});
            }),
            "shape (4294967296, 4294967296): more elements than 64 bits can count");
  // 2^62 elements fit, their 2^64 bytes do not.
  EXPECT_EQ(input_error([] { (void)byte_count({4611686018427387904}, DType::float32); }),
            "shape (4611686018427387904): more bytes than 64 bits can count");
}

TEST(Names, Unknown) {
  EXPECT_EQ(input_error([] { (void)pass_from_string("sideways"); }),
            "unknown pass 'sideways': must be one of forward, backward, update");
  EXPECT_EQ(input_error([] { (void)persistence_from_string("eternal"); }),
            "unknown persistence 'eternal': must be one of activation, input, parameter, parameter_gradient, "
            "optimizer_state");
  EXPECT_EQ(input_error([] { (void)dtype_from_string("float16"); }),
            "unknown element type 'float16': must be one of float32, int32, int64, uint8, bfloat16");
}

TEST(Strides, EmptyTensor) {
  EXPECT_EQ(input_error([] {
              (void)row_major_strides({2, 0});
            }),
            "shape (2, 0): every dimension must be positive");
}

TEST(Strides, ReshapeToAnotherSize) {
  EXPECT_EQ(input_error([] {
              (void)reshaped({{2, 3}, {}}, {7});
            }),
            "shape (2, 3): cannot be reshaped to (7): another number of elements");
}

TEST(Strides, ReshapeOfATransposedTensor) {
  EXPECT_EQ(input_error([] {
              (void)reshaped({{2, 3}, {1, 2}}, {6});
            }),
            "shape (2, 3): only a row-major tensor can be reshaped without a copy");
}

TEST(Strides, NotAPermutation) {
  EXPECT_EQ(input_error([] { (void)permuted({{2, 3}, {}}, {0, 0}); }), "axes (0, 0): must permute 0..1");
  EXPECT_EQ(input_error([] { (void)permuted({{2, 3}, {}}, {0}); }), "axes (0): must permute 0..1");
  EXPECT_EQ(input_error([] { (void)stored_in_order({2, 3}, {1, 2}); }), "axes (1, 2): must permute 0..1");
}

}  // namespace
}  // namespace poet
