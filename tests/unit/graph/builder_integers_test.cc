// Shapes, types and diagnostics of the operators on integers and truth values.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "poet/graph/in_place.h"
#include "poet/graph/nn.h"
#include "tests/support/input_error.h"

namespace poet {
namespace {

using test::input_error;

class BuilderIntegers : public testing::Test {
 protected:
  GraphBuilder g{"g"};
  ValueId real = g.input("real", {4, 5});
  ValueId whole = g.input("whole", {4, 1}, DType::int32);
  ValueId truth = g.input("truth", {5}, DType::uint8);

  void expect(ValueId v, const Shape& shape, DType dtype) {
    EXPECT_EQ(g.shape(v), shape);
    EXPECT_EQ(g.dtype(v), dtype);
  }
};

TEST_F(BuilderIntegers, ShapesAndTypes) {
  expect(nn::binary(g, "equal", "eq", truth, truth), {5}, DType::uint8);
  expect(nn::binary(g, "less", "lt", real, g.constant("c", {})), {4, 5}, DType::uint8);
  expect(nn::binary(g, "greater_or_equal", "ge", whole, g.constant("row", {1, 3}, DType::int32)), {4, 3},
         DType::uint8);
  expect(nn::binary(g, "logical_xor", "xor", truth, g.input("column", {2, 1}, DType::uint8)), {2, 5},
         DType::uint8);
  expect(nn::cast(g, "cast", truth, DType::float32), {5}, DType::float32);
  expect(nn::binary(g, "mod", "mod", whole, whole), {4, 1}, DType::int32);
  expect(nn::add(g, "add", whole, g.constant("three", {3}, DType::int32)), {4, 3}, DType::int32);
  expect(nn::scale(g, "scaled", whole, -2.0, 7.0), {4, 1}, DType::int32);
  expect(nn::cumsum(g, "cumsum", whole, 0), {4, 1}, DType::int32);
  expect(nn::argmax(g, "argmax", real, 1), {4, 1}, DType::int32);
  expect(nn::argmax(g, "squeezed", real, 0, false), {5}, DType::int32);
  expect(nn::where(g, "where", truth, real, g.constant("minus", {})), {4, 5}, DType::float32);
  expect(nn::where(g, "choice", truth, whole, whole), {4, 5}, DType::int32);
  expect(nn::gather(g, "gather", real, whole, 1), {4, 4, 1}, DType::float32);
  expect(nn::gather(g, "one", truth, g.constant("at", {}, DType::int32), 0), {}, DType::uint8);
  expect(nn::gather_elements(g, "elements", real, whole, 1), {4, 1}, DType::float32);
  expect(nn::expand(g, "expand", whole, {2, 4, 3}), {2, 4, 3}, DType::int32);
  expect(nn::concat(g, "concat", {whole, whole}, 1), {4, 2}, DType::int32);
  expect(nn::slice(g, "slice", truth, {1}, {4}), {3}, DType::uint8);
  expect(nn::transpose(g, "transpose", nn::permute(g, "transposed", whole, {1, 0}), {1, 0}), {4, 1},
         DType::int32);
  const Graph graph = g.finish();
  for (const Value& v : graph.values) EXPECT_EQ(v.bytes, byte_count(v.shape, v.dtype)) << v.name;
}

TEST_F(BuilderIntegers, ConstantsOfEveryType) {
  const ValueId mask = g.constant("mask", {4, 5}, DType::uint8);
  const ValueId ids = g.constant("ids", {3}, DType::int32);
  const Graph graph = g.finish();
  EXPECT_EQ(graph.values[mask].bytes, Bytes(20));
  EXPECT_EQ(graph.values[ids].bytes, Bytes(12));
  EXPECT_EQ(graph.values[ids].persistence, Persistence::optimizer_state);
}

TEST_F(BuilderIntegers, AChoiceMayTakeThePlaceOfAnOperandButNotOfItsCondition) {
  const ValueId condition = g.input("condition", {4, 5}, DType::uint8);
  nn::where(g, "where", condition, real, g.input("other", {5}));
  const Graph graph = g.finish();
  EXPECT_EQ(overwritable_inputs(graph, graph.ops[OpId(graph.ops.size() - 1)]), (std::vector<std::size_t>{1}));
}

TEST_F(BuilderIntegers, Diagnostics) {
  const auto expect_error = [](const char* message, const auto& action) {
    EXPECT_THAT(input_error(action), testing::EndsWith(message));
  };
  expect_error("(equal): needs input 1 of type float32, not int32",
               [&] { nn::binary(g, "equal", "e", real, whole); });
  expect_error("(less): needs input 0 of type float32 or int32, not uint8",
               [&] { nn::binary(g, "less", "l", truth, truth); });
  expect_error("(logical_not): needs input 0 of type uint8, not int32",
               [&] { nn::unary(g, "logical_not", "n", whole); });
  expect_error("(int_div): needs input 1 of type int32, not float32",
               [&] { nn::binary(g, "int_div", "d", whole, real); });
  expect_error("(div): needs input 0 of type float32, not int32", [&] { nn::div(g, "d", whole, whole); });
  expect_error("(scale): needs input 0 of type float32 or int32, not uint8",
               [&] { nn::scale(g, "s", truth, 2); });
  expect_error("(scale): needs a whole alpha for whole numbers, not 0.5",
               [&] { nn::scale(g, "s", whole, 0.5); });
  expect_error("(sqrt): needs input 0 of type float32, not int32", [&] { nn::unary(g, "sqrt", "r", whole); });
  expect_error("op 'c': 'real' is float32 already", [&] { nn::cast(g, "c", real, DType::float32); });
  expect_error("op 'c': converts between float32, int32 and uint8 only",
               [&] { nn::cast(g, "c", whole, DType::int64); });
  expect_error("op 'c': (4, 5) has no axis 2", [&] { nn::cumsum(g, "c", real, 2); });
  expect_error("(cumsum): needs input 0 of type float32 or int32, not uint8",
               [&] { nn::cumsum(g, "c", truth, 0); });
  expect_error("op 'a': (4, 5) has no axis -1", [&] { nn::argmax(g, "a", real, -1); });
  expect_error("op 'w': 'real' must be uint8, not float32", [&] { nn::where(g, "w", real, real, real); });
  expect_error("op 'w': 'whole' must be float32, not int32", [&] { nn::where(g, "w", truth, real, whole); });
  expect_error("op 'w': (5) and (4, 3) do not broadcast to one shape", [&] {
    nn::where(g, "w", truth, nn::expand(g, "e", whole, {4, 3}), whole);
  });
  expect_error("op 'g': 'real' must be int32, not float32", [&] { nn::gather(g, "g", real, real, 0); });
  expect_error("op 'g': (4, 5) has no axis 2", [&] { nn::gather(g, "g", real, whole, 2); });
  expect_error("op 'g': positions (4, 1) reach out of (2, 5) along axis 0", [&] {
    nn::gather_elements(g, "g", g.input("short", {2, 5}), whole, 1);
  });
  expect_error("op 'x': (4, 5) does not broadcast to (5, 4)", [&] { nn::expand(g, "x", real, {5, 4}); });
  expect_error("op 'x': every dimension of (4, 0) must be positive", [&] {
    nn::expand(g, "x", whole, {4, 0});
  });
}

}  // namespace
}  // namespace poet
