// Work per operator kind, by hand from the shapes.

#include "poet/cost/tabulate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "poet/base/error.h"
#include "poet/graph/operators/schema.h"
#include "tests/support/function_rows.h"
#include "tests/support/one_op.h"
#include "tests/support/operator_costs.h"

namespace poet {
namespace {

using test::last_op;
using test::one_op;
using test::parameter;
using test::state;

TEST(OperatorWork, IsTheHandCount) {
  for (const test::OperatorCost& c : test::operator_costs()) {
    SCOPED_TRACE(c.kind);
    const Graph graph = one_op(c.kind, c.inputs, c.outputs, c.attributes, c.updates);
    const Work work = work_of(graph, last_op(graph));
    EXPECT_EQ(work.flops.value(), c.flops);
    EXPECT_EQ(work.moved.value(), c.moved);
    EXPECT_EQ(work.workspace.value(), 0);
  }
}

TEST(OperatorWork, OfFunctionsIsThatOfTheirRows) {
  for (const test::FunctionRow& row : test::function_rows()) {
    SCOPED_TRACE(row.kind);
    const Graph forward = one_op(row.kind, {{{2, 3}}}, {{{2, 3}}}, row.attributes);
    EXPECT_EQ(work_of(forward, last_op(forward)).flops.value(), 6 * row.flops);
    EXPECT_EQ(work_of(forward, last_op(forward)).moved.value(), 4 * 12);
    if (row.slope == nullptr) continue;
    const Graph backward =
        one_op(row.kind + std::string("_backward"), {{{2, 3}}, {{2, 3}}}, {{{2, 3}}}, row.attributes);
    EXPECT_EQ(work_of(backward, last_op(backward)).flops.value(), 6 * row.slope_flops);
    EXPECT_EQ(work_of(backward, last_op(backward)).moved.value(), 4 * 18);
  }
}

TEST(OperatorWork, EveryKindHasACaseHere) {
  std::set<std::string> seen;
  for (const test::FunctionRow& row : test::function_rows())
    seen.insert({row.kind, row.kind + std::string("_backward")});
  for (const test::OperatorCost& c : test::operator_costs()) seen.insert(c.kind);
  for (const OperatorSchema& schema : operators_of_all_families())
    EXPECT_TRUE(seen.count(schema.kind) == 1) << schema.kind;
}

TEST(OperatorWork, TensorReadTwiceIsMovedOnce) {
  // add(x, x): reads 6 elements, writes 6.
  Graph graph = one_op("add", {{{2, 3}}}, {{{2, 3}}});
  Op& op = graph.ops[last_op(graph)];
  op.inputs.push_back(op.inputs[0]);
  EXPECT_EQ(work_of(graph, last_op(graph)).moved.value(), 4 * 12);
}

TEST(OperatorWork, ViewIsItsStorage) {
  // matmul(a, a transposed): reads a's 6 elements once, writes 4.
  Graph graph = one_op("matmul", {{{2, 3}}}, {{{2, 2}}}, {{"alpha", 1.0}});
  Value view = graph.values[graph.ops[last_op(graph)].inputs[0]];
  view.alias_of = graph.ops[last_op(graph)].inputs[0];
  view.producer = OpId();
  view.shape = {3, 2};
  view.strides = {1, 3};
  const ValueId transposed = graph.values.push_back(view);
  graph.ops[last_op(graph)].inputs.push_back(transposed);
  const Work work = work_of(verified(graph), last_op(graph));
  EXPECT_EQ(work.flops.value(), 4 * 3 * 2);
  EXPECT_EQ(work.moved.value(), 4 * (6 + 4));
}

TEST(ForwardMacs, CountsConvolutionsLinearsAndProductsOfTheForwardPass) {
  EXPECT_EQ(forward_macs(one_op("conv2d", {{{2, 3, 4, 4}}, parameter({5, 3, 3, 3})}, {{{2, 5, 2, 2}}})),
            40 * 27);
  EXPECT_EQ(
      forward_macs(one_op("conv3d", {{{1, 3, 2, 4, 4}}, parameter({5, 3, 2, 3, 3})}, {{{1, 5, 1, 4, 4}}})),
      80 * 54);
  EXPECT_EQ(
      forward_macs(one_op("conv_transpose2d", {{{2, 3, 2, 2}}, parameter({3, 5, 3, 3})}, {{{2, 5, 4, 4}}})),
      24 * 45);
  EXPECT_EQ(forward_macs(one_op("linear", {{{2, 3}}, parameter({5, 3}), parameter({5})}, {{{2, 5}}})), 30);
  EXPECT_EQ(forward_macs(one_op("matmul", {{{2, 3, 4}}, {{2, 4, 5}}}, {{{2, 3, 5}}})), 120);
  EXPECT_EQ(forward_macs(one_op("relu", {{{2, 3}}}, {{{2, 3}}})), 0);
  EXPECT_EQ(forward_macs(one_op("lstm", {{{2, 3, 5}}, parameter({1, 16, 5}), parameter({1, 16, 4})},
                                {{{2, 1, 3, 4}}, {{2, 1, 3, 4}}, {{2, 1, 3, 16}}})),
            24 * 4 * 9);
  EXPECT_EQ(forward_macs(one_op("gru", {{{2, 3, 5}}, parameter({1, 12, 5}), parameter({1, 12, 4})},
                                {{{2, 1, 3, 4}}, {{2, 1, 3, 12}}})),
            24 * 3 * 9);
  EXPECT_EQ(forward_macs(one_op("matmul", {{{3, 4}}, {{4, 5}}}, {{{3, 5}}}, {}, {}, Pass::backward)), 0);
}

TEST(ParameterCount, IsElementsOfParametersOnly) {
  EXPECT_EQ(parameter_count(one_op("linear", {{{2, 3}}, parameter({5, 3}), parameter({5})}, {{{2, 5}}})), 20);
  EXPECT_EQ(parameter_count(
                one_op("momentum_update", {parameter({2, 3}), {{2, 3}}, state({2, 3})}, {}, {}, {0, 2})),
            6);
}

std::string diagnostic(const Graph& graph) {
  try {
    static_cast<void>(work_of(graph, last_op(graph)));
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

TEST(OperatorWork, AnUnknownKindHasNoPrice) {
  EXPECT_EQ(diagnostic(one_op("fft", {}, {{{2}}})),
            "op 0 \"the_op\" (fft): this kind of operator has no cost rule");
}

TEST(OperatorWork, OverflowIsADiagnostic) {
  Graph graph = one_op("relu", {{{2}}}, {{{2}}});
  graph.values[ValueId(0)].shape = {std::int64_t{1} << 40, std::int64_t{1} << 40};
  EXPECT_EQ(diagnostic(graph), "op 1 \"the_op\" (relu): its work does not fit 64 bits");
}

}  // namespace
}  // namespace poet
