// What the importer evaluates: expected by ONNX's operator definitions.

#include "poet/frontend/onnx/lower/constants.h"

#include <gtest/gtest.h>

#include <limits>

#include "poet/base/error.h"
#include "tests/support/onnx_models.h"

namespace poet::onnx {
namespace {

using test::onnx_integers;
using test::onnx_node;
using test::onnx_reals;

using List = std::vector<std::int64_t>;

Tensor run(const Node& node, const std::vector<Tensor>& inputs, std::int64_t opset = 17) {
  Operands operands;
  for (const Tensor& x : inputs) operands.push_back(&x);
  return evaluate(node, operands, opset).value();
}

Tensor number(std::int64_t x) {
  Tensor t = onnx_integers({x});
  t.shape = {};
  return t;
}

// The arithmetic that PyTorch writes for x.view(x.size(0), -1, 64).
TEST(OnnxConstants, ShapeArithmeticOfAnExport) {
  const Tensor shape = onnx_integers({2, 3, 768});
  const Tensor last = run(onnx_node("Gather", {"s", "i"}, {"y"}), {shape, onnx_integers({-1})});
  EXPECT_EQ(last.integers, List{768});
  const Tensor sum = run(onnx_node("Add", {"a", "b"}, {"y"}), {last, onnx_integers({2})});
  EXPECT_EQ(sum.integers, List{770});
  const Tensor third = run(onnx_node("Div", {"a", "b"}, {"y"}), {sum, onnx_integers({3})});
  EXPECT_EQ(third.integers, List{256}) << "770 / 3, rounded towards zero";
  const Tensor one = run(onnx_node("Unsqueeze", {"a", "axes"}, {"y"}), {number(7), onnx_integers({0})});
  EXPECT_EQ(one.shape, Shape{1});
  const Tensor all = run(onnx_node("Concat", {"a", "b"}, {"y"}, {{"axis", std::int64_t{0}}}), {third, one});
  EXPECT_EQ(all.integers, (List{256, 7}));
}

TEST(OnnxConstants, IntegerDivisionAndRemainderRoundAsOnnxDoes) {
  EXPECT_EQ(run(onnx_node("Div", {"a", "b"}, {"y"}), {number(-7), number(2)}).integers, List{-3});
  EXPECT_EQ(run(onnx_node("Mod", {"a", "b"}, {"y"}), {number(-7), number(3)}).integers, List{2});
  EXPECT_EQ(run(onnx_node("Mod", {"a", "b"}, {"y"}), {number(7), number(-3)}).integers, List{-2});
}

TEST(OnnxConstants, BroadcastsARowAndAColumn) {
  Tensor column = onnx_integers({10, 20});
  column.shape = {2, 1};
  const Tensor sum = run(onnx_node("Add", {"a", "b"}, {"y"}), {column, onnx_integers({1, 2, 3})});
  EXPECT_EQ(sum.shape, (Shape{2, 3}));
  EXPECT_EQ(sum.integers, (List{11, 12, 13, 21, 22, 23}));
}

TEST(OnnxConstants, SliceTakesNegativeBoundsStepsAndTheEndOfAll) {
  const Tensor x = onnx_integers({0, 1, 2, 3, 4});
  const std::int64_t end = std::numeric_limits<std::int64_t>::max();
  const Node slice = onnx_node("Slice", {"x", "starts", "ends", "axes", "steps"}, {"y"});
  const auto of = [&](std::int64_t from, std::int64_t to, std::int64_t step) {
    return run(slice,
               {x, onnx_integers({from}), onnx_integers({to}), onnx_integers({0}), onnx_integers({step})})
        .integers;
  };
  EXPECT_EQ(of(-2, end, 1), (List{3, 4}));
  EXPECT_EQ(of(0, end, 2), (List{0, 2, 4}));
  EXPECT_EQ(of(-1, std::numeric_limits<std::int64_t>::min(), -2), (List{4, 2, 0}));
  EXPECT_EQ(of(3, 3, 1), List{});
}

TEST(OnnxConstants, SliceOfAMatrixByAttributes) {
  Tensor x = onnx_integers({0, 1, 2, 3, 4, 5});
  x.shape = {2, 3};
  const Node slice = onnx_node("Slice", {"x"}, {"y"}, {{"starts", List{1, 1}}, {"ends", List{2, 3}}});
  const Tensor y = run(slice, {x}, 9);
  EXPECT_EQ(y.shape, (Shape{1, 2}));
  EXPECT_EQ(y.integers, (List{4, 5}));
}

TEST(OnnxConstants, TransposeAndWhere) {
  Tensor x = onnx_integers({0, 1, 2, 3, 4, 5});
  x.shape = {2, 3};
  const Tensor y = run(onnx_node("Transpose", {"x"}, {"y"}), {x});
  EXPECT_EQ(y.shape, (Shape{3, 2}));
  EXPECT_EQ(y.integers, (List{0, 3, 1, 4, 2, 5}));
  const Tensor is_open = run(onnx_node("Equal", {"a", "b"}, {"y"}), {onnx_integers({-1, 4}), number(-1)});
  EXPECT_EQ(is_open.type, Type::boolean);
  const Tensor chosen = run(onnx_node("Where", {"c", "a", "b"}, {"y"}),
                            {is_open, onnx_integers({1, 1}), onnx_integers({-1, 4})});
  EXPECT_EQ(chosen.integers, (List{1, 4}));
}

TEST(OnnxConstants, RangeCastAndSquareRoot) {
  EXPECT_EQ(run(onnx_node("Range", {"a", "b", "c"}, {"y"}), {number(1), number(8), number(3)}).integers,
            (List{1, 4, 7}));
  const Tensor real = run(onnx_node("Cast", {"x"}, {"y"}, {{"to", std::int64_t{1}}}), {number(64)});
  EXPECT_EQ(run(onnx_node("Sqrt", {"x"}, {"y"}), {real}).reals, std::vector<double>{8.0});
}

// As torch.linspace and an interpolation's positions are written.
TEST(OnnxConstants, RangesOfRealsBoundsAndExtremesOfAnyNumber) {
  const Node range = onnx_node("Range", {"a", "b", "c"}, {"y"});
  const auto real = [](double x) { return onnx_reals({}, {x}); };
  EXPECT_EQ(run(range, {real(0), real(1), real(0.25)}).reals, (std::vector<double>{0, 0.25, 0.5, 0.75}));
  EXPECT_EQ(run(range, {real(2), real(-1), real(-1.5)}).reals, (std::vector<double>{2, 0.5}));
  EXPECT_THROW(run(range, {real(0), real(1), real(0)}), InputError);
  EXPECT_THROW(run(range, {real(0), number(1), real(1)}), InputError);
  const Tensor x = onnx_integers({-2, 1, 5});
  EXPECT_EQ(run(onnx_node("Clip", {"x", "a", "b"}, {"y"}), {x, number(0), number(3)}).integers,
            (List{0, 1, 3}));
  const Tensor three = number(3);
  EXPECT_EQ(evaluate(onnx_node("Clip", {"x", "", "b"}, {"y"}), {&x, nullptr, &three}, 17).value().integers,
            (List{-2, 1, 3}));
  EXPECT_EQ(run(onnx_node("Clip", {"x"}, {"y"}, {{"min", 1.5}}), {onnx_reals({2}, {1, 2})}, 6).reals,
            (std::vector<double>{1.5, 2}));
  EXPECT_EQ(run(onnx_node("Max", {"x"}, {"y"}), {x}).integers, x.integers);
  EXPECT_EQ(run(onnx_node("Min", {"a", "b", "c"}, {"y"}), {x, number(2), number(0)}).integers,
            (List{-2, 0, 0}));
}

// A matrix of 4096 x 4096 zeros is a weight: only its shape is kept.
TEST(OnnxConstants, LargeRealConstantsAreShapes) {
  const Tensor w = run(onnx_node("ConstantOfShape", {"s"}, {"w"}), {onnx_integers({4096, 4096})});
  EXPECT_EQ(w.shape, (Shape{4096, 4096}));
  EXPECT_FALSE(w.known);
  EXPECT_TRUE(w.reals.empty());
}

TEST(OnnxConstants, ReshapeTargets) {
  EXPECT_EQ(reshape_target({2, 3, 4}, {0, -1}, false), (Shape{2, 12}));
  EXPECT_EQ(reshape_target({2, 3, 4}, {-1}, false), (Shape{24}));
  EXPECT_THROW(reshape_target({2, 3}, {4, -1}, false), InputError) << "6 is no multiple of 4";
  EXPECT_THROW(reshape_target({2, 3}, {-1, -1}, false), InputError);
}

TEST(OnnxConstants, RefusesWhatHasNoResult) {
  const std::int64_t most = std::numeric_limits<std::int64_t>::max();
  EXPECT_THROW(run(onnx_node("Add", {"a", "b"}, {"y"}), {number(most), number(1)}), InputError);
  EXPECT_THROW(run(onnx_node("Div", {"a", "b"}, {"y"}), {number(1), number(0)}), InputError);
  EXPECT_THROW(run(onnx_node("Gather", {"a", "b"}, {"y"}), {onnx_integers({1}), number(1)}), InputError);
  EXPECT_THROW(run(onnx_node("ConstantOfShape", {"s"}, {"y"}), {onnx_integers({-1})}), InputError);
  EXPECT_THROW(run(onnx_node("ConstantOfShape", {"s"}, {"y"}), {onnx_integers({most, most})}), InputError);
  EXPECT_THROW(run(onnx_node("Add", {"a", "b"}, {"y"}), {onnx_integers({1, 2}), onnx_integers({1, 2, 3})}),
               InputError);
  const std::int64_t quarter = std::int64_t{1} << 62;
  EXPECT_THROW(run(onnx_node("Range", {"a", "b", "c"}, {"y"}),
                   {number(std::numeric_limits<std::int64_t>::min()), number(most), number(quarter)}),
               InputError)
      << "its third step alone is over the largest integer";
}

Tensor shaped(Tensor tensor, Shape shape) {
  tensor.shape = std::move(shape);
  return tensor;
}

TEST(OnnxConstants, Triangles) {
  const Tensor ones = shaped(onnx_integers({1, 1, 1, 1, 1, 1}), {2, 3});
  const auto part = [&](std::int64_t upper, std::int64_t k) {
    return run(onnx_node("Trilu", {"x", "k"}, {"y"}, {{"upper", upper}}), {ones, number(k)}).integers;
  };
  EXPECT_EQ(part(1, 0), (List{1, 1, 1, 0, 1, 1}));
  EXPECT_EQ(part(1, 1), (List{0, 1, 1, 0, 0, 1}));
  EXPECT_EQ(part(0, 0), (List{1, 0, 0, 1, 1, 0}));
  EXPECT_EQ(part(0, -1), (List{0, 0, 0, 1, 0, 0}));
  EXPECT_EQ(run(onnx_node("Trilu", {"x"}, {"y"}), {ones}).integers, part(1, 0));
}

TEST(OnnxConstants, RunningSums) {
  const Tensor x = shaped(onnx_integers({1, 2, 3, 4, 5, 6}), {2, 3});
  const auto sums = [&](std::int64_t axis, std::int64_t exclusive, std::int64_t reverse) {
    return run(onnx_node("CumSum", {"x", "a"}, {"y"}, {{"exclusive", exclusive}, {"reverse", reverse}}),
               {x, number(axis)})
        .integers;
  };
  EXPECT_EQ(sums(1, 0, 0), (List{1, 3, 6, 4, 9, 15}));
  EXPECT_EQ(sums(0, 0, 0), (List{1, 2, 3, 5, 7, 9}));
  EXPECT_EQ(sums(-1, 1, 0), (List{0, 1, 3, 0, 4, 9}));
  EXPECT_EQ(sums(1, 1, 1), (List{5, 3, 0, 11, 6, 0}));
}

TEST(OnnxConstants, GatheringAndScattering) {
  const Tensor x = shaped(onnx_integers({1, 2, 3, 4, 5, 6}), {2, 3});
  const Tensor columns = shaped(onnx_integers({2, 0, 1, -1}), {2, 2});
  EXPECT_EQ(
      run(onnx_node("GatherElements", {"x", "i"}, {"y"}, {{"axis", std::int64_t{1}}}), {x, columns}).integers,
      (List{3, 1, 5, 6}));
  // (0, 2) and (1, 0); with one index per tuple whole rows.
  const Tensor places = shaped(onnx_integers({0, 2, 1, 0}), {2, 2});
  EXPECT_EQ(run(onnx_node("GatherND", {"x", "i"}, {"y"}), {x, places}).integers, (List{3, 4}));
  const Tensor rows = shaped(onnx_integers({1, -1}), {2, 1});
  const Tensor both = run(onnx_node("GatherND", {"x", "i"}, {"y"}), {x, rows});
  EXPECT_EQ(both.shape, (Shape{2, 3}));
  EXPECT_EQ(both.integers, (List{4, 5, 6, 4, 5, 6}));
  // One column per row.
  EXPECT_EQ(run(onnx_node("GatherND", {"x", "i"}, {"y"}, {{"batch_dims", std::int64_t{1}}}),
                {x, shaped(onnx_integers({2, 0}), {2, 1})})
                .integers,
            (List{3, 4}));
  EXPECT_EQ(
      run(onnx_node("ScatterND", {"x", "i", "u"}, {"y"}), {x, places, onnx_integers({30, 40})}).integers,
      (List{1, 2, 30, 40, 5, 6}));
  EXPECT_EQ(run(onnx_node("ScatterND", {"x", "i", "u"}, {"y"}, {{"reduction", std::string("add")}}),
                {x, places, onnx_integers({30, 40})})
                .integers,
            (List{1, 2, 33, 44, 5, 6}));
  EXPECT_EQ(run(onnx_node("ScatterElements", {"x", "i", "u"}, {"y"}, {{"axis", std::int64_t{1}}}),
                {x, columns, shaped(onnx_integers({30, 10, 50, 60}), {2, 2})})
                .integers,
            (List{10, 2, 30, 4, 50, 60}));
  EXPECT_THROW(run(onnx_node("GatherND", {"x", "i"}, {"y"}), {x, shaped(onnx_integers({2, 0}), {1, 2})}),
               InputError);
  EXPECT_THROW(run(onnx_node("ScatterND", {"x", "i", "u"}, {"y"}), {x, places, onnx_integers({30})}),
               InputError);
  EXPECT_THROW(run(onnx_node("GatherElements", {"x", "i"}, {"y"}), {x, onnx_integers({0})}), InputError);
}

TEST(OnnxConstants, TilesAndWaves) {
  const Tensor x = shaped(onnx_integers({1, 2, 3, 4}), {2, 2});
  const Tensor tiled = run(onnx_node("Tile", {"x", "r"}, {"y"}), {x, onnx_integers({1, 2})});
  EXPECT_EQ(tiled.shape, (Shape{2, 4}));
  EXPECT_EQ(tiled.integers, (List{1, 2, 1, 2, 3, 4, 3, 4}));
  const Tensor zero = onnx_reals({1}, {0.0});
  EXPECT_EQ(run(onnx_node("Sin", {"x"}, {"y"}), {zero}).reals, std::vector<double>{0.0});
  EXPECT_EQ(run(onnx_node("Cos", {"x"}, {"y"}), {zero}).reals, std::vector<double>{1.0});
  EXPECT_EQ(run(onnx_node("Xor", {"a", "b"}, {"y"}), {number(1), number(1)}).integers, List{0});
}

// The contents of a fill are made when they are needed.
TEST(OnnxConstants, AFillRemembersItsNumber) {
  Tensor minus = onnx_reals({1}, {-2.0});
  const Tensor fill =
      run(onnx_node("ConstantOfShape", {"s"}, {"w"}, {{"value", minus}}), {onnx_integers({100, 100})});
  EXPECT_FALSE(fill.known);
  ASSERT_EQ(fill.fill, -2.0);
  EXPECT_EQ(with_contents(fill).reals, std::vector<double>(10000, -2.0));
  Tensor large = fill;
  large.shape = {2048, 2048};
  EXPECT_TRUE(with_contents(large).known);
  large.shape = {4096, 4096};
  EXPECT_FALSE(with_contents(large).known);
}

TEST(OnnxConstants, LeavesWhatIsNotKnown) {
  const Tensor weight = onnx_reals({1000, 1000});
  EXPECT_FALSE(evaluate(onnx_node("Sqrt", {"x"}, {"y"}), {&weight}, 17).has_value());
  EXPECT_FALSE(evaluate(onnx_node("Sqrt", {"x"}, {"y"}), {nullptr}, 17).has_value());
  EXPECT_FALSE(evaluate(onnx_node("Conv", {"x"}, {"y"}), {nullptr}, 17).has_value());
}

TEST(OnnxConstants, InputsThatAreLeftOut) {
  const Tensor x = onnx_integers({1, 2, 3});
  const Tensor start = onnx_integers({1});
  const Tensor end = onnx_integers({3});
  const Node slice = onnx_node("Slice", {"x", "s", "e", ""}, {"y"});
  EXPECT_EQ(evaluate(slice, {&x, &start, &end, nullptr}, 17).value().integers, List({2, 3}));
  const Node concat = onnx_node("Concat", {"x", ""}, {"y"}, {{"axis", std::int64_t{0}}});
  EXPECT_THROW((void)evaluate(concat, {&x, nullptr}, 17), InputError);
  const Node range = onnx_node("Range", {"s", "e", "s", ""}, {"y"});
  EXPECT_THROW((void)evaluate(range, {&start, &end, &start, nullptr}, 17), InputError);
}

}  // namespace
}  // namespace poet::onnx
