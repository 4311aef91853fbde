// The naive kernels that others are held against, by hand.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "poet/autodiff/differentiate.h"
#include "poet/graph/nn.h"
#include "tests/support/computed.h"
#include "tests/support/graph_text.h"

namespace poet::test {
namespace {

using reference::Interpreter;

TEST(ReferenceKernels, IntegersByHand) {
  {
    GraphBuilder g("cumsum");  // ids 5 1 7, padding 1: positions 1 0 2
    const ValueId x = g.input("x", {1, 3}, DType::int32);
    const ValueId one = g.constant("one", {}, DType::int32);
    const ValueId words =
        nn::cast(g, "w", nn::unary(g, "logical_not", "n", nn::binary(g, "equal", "e", x, one)), DType::int32);
    const ValueId y = nn::mul(g, "y", nn::cumsum(g, "c", words, 1), words);
    expect_all_near(computed_from(g, {{x, {5, 1, 7}}, {one, {1}}}, y), {1, 0, 2});
  }
  {
    GraphBuilder g("reverse");  // without the own one, from the end
    const ValueId x = g.input("x", {2, 3});
    const ValueId y = nn::cumsum(g, "y", x, 1, true, true);
    expect_all_near(computed_from(g, {{x, {1, 2, 3, 4, 5, 6}}}, y), {5, 3, 0, 11, 6, 0});
  }
  {
    GraphBuilder g("gather");  // columns 2, 0 and the last of each row
    const ValueId x = g.input("x", {2, 3});
    const ValueId i = g.input("i", {3}, DType::int32);
    const ValueId y = nn::gather(g, "y", x, i, 1);
    expect_all_near(computed_from(g, {{x, {1, 2, 3, 4, 5, 6}}, {i, {2, 0, -1}}}, y), {3, 1, 3, 6, 4, 6});
  }
  {
    GraphBuilder g("elements");
    const ValueId x = g.input("x", {2, 3});
    const ValueId i = g.input("i", {2, 2}, DType::int32);
    const ValueId y = nn::gather_elements(g, "y", x, i, 1);
    expect_all_near(computed_from(g, {{x, {1, 2, 3, 4, 5, 6}}, {i, {2, 0, 1, -1}}}, y), {3, 1, 5, 6});
  }
  {
    GraphBuilder g("rounding");  // -7 / 2 towards zero; the remainder has the divisor's sign
    const ValueId a = g.input("a", {4}, DType::int32);
    const ValueId b = g.input("b", {4}, DType::int32);
    const ValueId q = nn::binary(g, "int_div", "q", a, b);
    const ValueId r = nn::binary(g, "mod", "r", a, b);
    const ValueId y = nn::concat(g, "y", {q, r}, 0);
    expect_all_near(computed_from(g, {{a, {-7, 7, -7, 7}}, {b, {2, 2, -2, -3}}}, y),
                    {-3, 3, 3, -2, 1, 1, -1, -2});
  }
  {
    GraphBuilder g("argmax");
    const ValueId x = g.input("x", {2, 3});
    const ValueId y =
        nn::concat(g, "y", {nn::argmax(g, "first", x, 1), nn::argmax(g, "last", x, 1, true, true)}, 1);
    expect_all_near(computed_from(g, {{x, {3, 1, 3, 0, 2, 1}}}, y), {0, 2, 1, 1});
  }
  {
    GraphBuilder g("logic");
    const ValueId a = g.input("a", {4}, DType::uint8);
    const ValueId b = g.input("b", {4}, DType::uint8);
    const ValueId y =
        nn::concat(g, "y",
                   {nn::binary(g, "logical_and", "and", a, b), nn::binary(g, "logical_or", "or", a, b),
                    nn::binary(g, "logical_xor", "xor", a, b)},
                   0);
    expect_all_near(computed_from(g, {{a, {0, 0, 2, 1}}, {b, {0, 1, 0, 2}}}, y),
                    {0, 0, 0, 1, 0, 1, 1, 1, 0, 1, 1, 0});
  }
  {
    GraphBuilder g("compare");
    const ValueId a = g.input("a", {3});
    const ValueId b = g.input("b", {});
    const ValueId y =
        nn::concat(g, "y",
                   {nn::binary(g, "less", "lt", a, b), nn::binary(g, "less_or_equal", "le", a, b),
                    nn::binary(g, "greater", "gt", a, b), nn::binary(g, "greater_or_equal", "ge", a, b),
                    nn::binary(g, "equal", "eq", a, b)},
                   0);
    expect_all_near(computed_from(g, {{a, {1, 2, 3}}, {b, {2}}}, y),
                    {1, 0, 0, 1, 1, 0, 0, 0, 1, 0, 1, 1, 0, 1, 0});
  }
  {
    GraphBuilder g("where");
    const ValueId c = g.input("c", {2, 1}, DType::uint8);
    const ValueId x = g.input("x", {2});
    const ValueId m = g.input("m", {});
    const ValueId y = nn::softmax(g, "p", nn::where(g, "y", c, nn::expand(g, "e", x, {2, 2}), m));
    expect_all_near(computed_from(g, {{c, {1, 0}}, {x, {0, 0}}, {m, {5}}}, y), {0.5, 0.5, 0.5, 0.5});
  }
}

TEST(ReferenceKernels, NormsByHand) {
  // Channels 1, 2, 3; windows of 2 go one channel further: sums of squares 5, 13, 9; alpha / size = 0.5.
  GraphBuilder g("lrn");
  const ValueId x = g.input("x", {1, 3});
  const ValueId y = nn::lrn(g, "y", x, {.size = 2, .alpha = 1.0, .beta = 2.0, .bias = 0.5});
  expect_all_near(computed(g, x, {1, 2, 3}, y), {1.0 / 9, 2.0 / 49, 3.0 / 25});
}

TEST(ReferenceKernels, ArithmeticByHand) {
  GraphBuilder g("arithmetic");
  const ValueId x = g.input("x", {2, 2});
  const ValueId column = nn::reduce(g, "reduce_sum", "column", x, {1});     // 3 / 7
  const ValueId row = nn::reduce(g, "reduce_mean", "row", x, {0}, false);   // 2 3
  const ValueId outer = nn::sub(g, "outer", column, row);                   // 1 0 / 5 4
  const ValueId ratio = nn::div(g, "ratio", x, row);                        // 1/2 2/3 / 3/2 4/3
  const ValueId product = nn::mul(g, "product", ratio, outer);              // 1/2 0 / 15/2 16/3
  const ValueId y = nn::clip(g, "y", nn::add(g, "sum", product, x), 2, 8);  // 3/2 2 / 21/2 28/3, clipped
  expect_all_near(computed(g, x, {1, 2, 3, 4}, y), {2, 2, 8, 8});
  GraphBuilder h("functions");
  const ValueId z = h.input("z", {4});
  const ValueId w =
      nn::unary(h, "hardswish", "w",
                nn::unary(h, "hardsigmoid", "s", nn::unary(h, "leaky_relu", "l", z, {{"alpha", 0.5}}),
                          {{"alpha", 0.25}, {"beta", 0.5}}));
  // leaky -1 -4 1 8; hardsigmoid 1/4 0 3/4 1; x (x + 3) / 6
  expect_all_near(computed(h, z, {-2, -8, 1, 8}, w), {0.25 * 3.25 / 6, 0.0, 0.75 * 3.75 / 6, 4.0 / 6});
}

TEST(ReferenceKernels, ExtremesShareTheirGradient) {
  // max of (b, b, c) with b = 2, c = 1 by one parameter of (2, 2, 1): each b gets half.
  GraphBuilder g("ties");
  const ValueId p = g.parameter("p", {1, 3});
  const ValueId top = nn::reduce(g, "reduce_max", "top", p, {1});
  const ValueId logits = nn::concat(g, "logits", {top, g.input("x", {1, 1})}, 1);
  nn::softmax_cross_entropy(g, "loss", logits, g.input("targets", {1}, DType::int32));
  const Graph training = differentiate(g.finish());
  Interpreter run(training);
  run.set(find_value(training, "p"), {2, 2, 1});
  run.set(find_value(training, "x"), {2});
  run.set(find_value(training, "targets"), {0});
  run.run();
  // Two equal logits, the first wanted: -1/2.
  expect_all_near(run.get(find_value(training, "grad:p")).data, {-0.25, -0.25, 0});
}

TEST(ReferenceKernels, ActivationsByHand) {
  GraphBuilder g("activations");
  const ValueId x = g.input("x", {4});
  const ValueId y =
      nn::concat(g, "y",
                 {nn::unary(g, "softsign", "a", x),
                  nn::unary(g, "thresholded_relu", "b", x, {{"alpha", 0.5}}), nn::unary(g, "sign", "c", x),
                  nn::unary(g, "round", "d", x), nn::prelu(g, "e", x, nn::scale(g, "f", x, -1.0)),
                  nn::flip(g, "g", x, {0}), nn::reduce(g, "reduce_min", "h", x, {0})},
                 0);
  expect_all_near(computed(g, x, {-1, 0.5, 2.5, 0}, y),
                  {-0.5, 1.0 / 3, 2.5 / 3.5, 0, 0, 0,   2.5, 0,  -1, 1, 1, 0, -1, 0, 2, 0,  //
                   -1,   0.5,     2.5,       0, 0, 2.5, 0.5, -1, -1});
  GraphBuilder h("logarithms");
  const ValueId z = h.input("z", {1, 2});
  const double e = std::exp(1.0);
  const ValueId w = nn::concat(
      h, "w",
      {nn::log_softmax(h, "a", z), nn::unary(h, "softplus", "b", z), nn::unary(h, "silu", "c", z),
       nn::unary(h, "mish", "d", z), nn::unary(h, "selu", "e", z, {{"alpha", 2.0}, {"gamma", 3.0}}),
       nn::unary(h, "celu", "f", z, {{"alpha", 0.5}}), nn::unary(h, "sin", "g", z),
       nn::unary(h, "cos", "h", z)},
      0);
  const double s0 = std::log(2.0);
  const double s1 = std::log(1.0 + 1 / e);
  expect_all_near(computed(h, z, {0, -1}, w),
                  {-s1, -1 - s1, s0, s1, 0, -1 / (1 + e), 0, -std::tanh(s1), 0, 6 * (1 / e - 1), 0,
                   0.5 * (1 / (e * e) - 1), 0, -std::sin(1.0), 1, std::cos(1.0)});
}

TEST(ReferenceKernels, CopiesByHand) {
  GraphBuilder g("copies");
  const ValueId x = g.input("x", {2, 3});
  const ValueId padded = nn::pad(g, "padded", x, {1, 0}, {0, 1}, 9);          // 9 9 9 9 / 1 2 3 9 / 4 5 6 9
  const ValueId transposed = nn::permute(g, "transposed", padded, {1, 0});    // 9 1 4 / 9 2 5 / 9 3 6 / 9 9 9
  const ValueId copied = nn::transpose(g, "copied", transposed, {0, 1});      // the same, row-major
  const ValueId some = nn::slice(g, "some", copied, {0, 1}, {4, 3}, {2, 1});  // 1 4 / 3 6
  const ValueId y = nn::concat(g, "y", {some, some, x}, 1);
  expect_all_near(computed(g, x, {1, 2, 3, 4, 5, 6}, y), {1, 4, 1, 4, 1, 2, 3, 3, 6, 3, 6, 4, 5, 6});
}

}  // namespace
}  // namespace poet::test
