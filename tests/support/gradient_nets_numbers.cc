// Arithmetic of numbers and integers.

#include <limits>

#include "tests/support/gradient_nets.h"

namespace poet::test {

Graph arithmetic_net() {
  GraphBuilder g("arithmetic_net");
  const ValueId image = g.input("image", {2, 3, 4, 4});
  const ValueId one = g.constant("one", {});
  const ValueId row = g.parameter("row.weight", {1, 4});
  ValueId h =
      nn::unary(g, "hardswish", "hardswish", nn::conv2d(g, "conv", image, {.out_channels = 4, .bias = true}));
  ValueId gate = nn::reduce(g, "reduce_mean", "squeeze", h, {3, 2});
  gate =
      nn::unary(g, "hardsigmoid", "gate", nn::sub(g, "shifted", gate, g.parameter("shift.bias", {4, 1, 1})),
                {{"alpha", 0.3}, {"beta", 0.4}});
  h = nn::mul(g, "excite", gate, h);
  h = nn::unary(g, "leaky_relu", "leaky", nn::add(g, "rows", h, row), {{"alpha", 0.1}});
  h = nn::clip(g, "relu6", nn::scale(g, "doubled", h, 2.0, 0.3), -0.6, 1.5);
  h = nn::unary(g, "elu", "elu", nn::sub(g, "minus", nn::reshape(g, "column", row, {4, 1}), h),
                {{"alpha", 0.7}});
  h = nn::clip(g, "floor", h, -0.5, std::numeric_limits<double>::infinity());
  h = nn::reduce(g, "reduce_sum", "rows_summed", h, {2}, false);
  // (x - mean) / sqrt(var + eps), eps here sigmoid(row) + 1/2
  const ValueId centred = nn::sub(g, "centred", h, nn::reduce(g, "reduce_mean", "mean", h, {2}));
  const ValueId variance = nn::reduce(g, "reduce_mean", "variance",
                                      nn::unary(g, "pow", "squares", centred, {{"exponent", 2.0}}), {2});
  const ValueId eps = nn::scale(g, "eps", nn::unary(g, "sigmoid", "positive", row), 1.0, 0.5);
  h = nn::div(g, "normal", centred, nn::unary(g, "sqrt", "deviation", nn::add(g, "with_eps", variance, eps)));
  h = nn::mul(g, "halves", h,
              nn::add(g, "one_more", nn::unary(g, "erf", "erf", nn::mul(g, "scaled", h, one)), one));
  h = nn::unary(g, "log", "log",
                nn::add(g, "softplus", nn::unary(g, "exp", "exp", nn::neg(g, "neg", h)),
                        nn::unary(g, "pow", "tiny", nn::unary(g, "exp", "exp1", one), {{"exponent", -1.5}})));
  h = nn::div(g, "inverse", one,
              nn::add(g, "far_from_0", nn::unary(g, "abs", "abs", h), nn::unary(g, "exp", "exp2", row)));
  h = nn::mul(g, "square", h, h);
  h = nn::sub(g, "alike", h, nn::tanh(g, "tanh", h));
  h = nn::div(g, "last", h, nn::unary(g, "exp", "exp3", g.parameter("last.bias", {2, 4, 4})));
  const ValueId flat = nn::flatten(g, "flat", nn::add(g, "both", h, g.parameter("offset.bias", {2, 4, 4})));
  nn::mse_loss(g, "loss", nn::linear(g, "fc", flat, 3), g.input("targets", {2, 3}));
  return g.finish();
}

Graph integers_net() {
  GraphBuilder g("integers_net");
  const std::int64_t batch = 2;
  const std::int64_t tokens = 3;
  const ValueId ids_in = g.input("ids", {batch, tokens}, DType::int32);
  const ValueId given = g.input("given_mask", {batch, tokens}, DType::uint8);
  const ValueId one = g.constant("one", {}, DType::int32);
  // Positions of what is not padding, as RoBERTa counts them, below 5.
  const ValueId is_padding = nn::binary(g, "equal", "is_padding", ids_in, one);
  const ValueId counted =
      nn::cast(g, "counted", nn::unary(g, "logical_not", "is_word", is_padding), DType::int32);
  ValueId positions = nn::mul(g, "positions", nn::cumsum(g, "running", counted, 1), counted);
  positions = nn::unary(g, "abs", "abs", nn::neg(g, "neg", nn::add(g, "shifted", positions, one)));
  const ValueId before = nn::cumsum(g, "before", counted, 1, true, true);
  positions = nn::binary(g, "mod", "mod", nn::sub(g, "difference", positions, before),
                         nn::scale(g, "five", one, 0.0, 5.0));
  positions = nn::binary(g, "int_div", "half", nn::scale(g, "more", positions, 1.0, 9.0),
                         nn::scale(g, "two", one, 0.0, 2.0));
  positions = nn::binary(g, "mod", "again", positions, nn::scale(g, "fives", one, 0.0, 5.0));
  ValueId h = nn::gather(g, "by_position", g.parameter("table.weight", {4, 5}), positions, 1);
  h = nn::permute(g, "rows_view", h, {1, 2, 0});
  h = nn::linear(g, "fc", nn::transpose(g, "rows", h, {0, 1, 2}), 4);
  const ValueId first = g.output("first", "first", {{batch, tokens}, {}}, DType::int32);
  g.append("first", "first_occurrences", {}, {ids_in}, {first});
  h = nn::add(g, "with_first", h, nn::embedding(g, "by_first", first, batch * tokens, 4));
  // Attention scores with a mask that three conditions make, one of them of real numbers.
  const ValueId scores = nn::matmul(g, "scores", h, nn::permute(g, "transposed", h, {0, 2, 1}));
  const ValueId row = g.constant("row", {3}, DType::int32);
  const ValueId column = g.constant("column", {3, 1}, DType::int32);
  ValueId mask = nn::binary(g, "logical_or", "or", nn::binary(g, "less", "less", row, column),
                            nn::binary(g, "greater_or_equal", "ge", row, column));
  mask = nn::binary(g, "logical_and", "and", mask, nn::reshape(g, "given_row", given, {batch, 1, tokens}));
  mask = nn::binary(g, "logical_xor", "xor", mask,
                    nn::binary(g, "greater", "greater", scores, g.constant("threshold", {})));
  mask = nn::binary(g, "logical_or", "kept", mask, nn::binary(g, "less_or_equal", "le", row, column));
  const ValueId p = nn::softmax(g, "p", nn::where(g, "masked", mask, scores, g.constant("minus_many", {})));
  h = nn::matmul(g, "context", p, h);
  const ValueId present = nn::reshape(g, "given_column", given, {batch, tokens, 1});
  h = nn::where(g, "either", present, h, g.parameter("otherwise.bias", {4}));
  h = nn::slice(g, "narrow", h, {0, 0, 0}, {2, 3, 3});
  h = nn::where(g, "or_else", nn::binary(g, "equal", "same", row, column), g.parameter("first.bias", {3, 1}),
                h);
  // A stretched token in front of the others, and one token per sample, found by its id.
  const ValueId token = nn::expand(g, "token", g.parameter("token.bias", {1, 3}), {batch, 1, 3});
  h = nn::concat(g, "tokens", {token, h}, 1);
  h = nn::cumsum(g, "sums", nn::cumsum(g, "from_end", h, 2, true, true), 1);
  const ValueId last = nn::argmax(g, "last", ids_in, 1, false, true);
  const ValueId at = nn::reshape(g, "at", nn::argmax(g, "first", h, 2), {batch, 4, 1});
  ValueId picked = nn::gather_elements(g, "picked", h, at, 2);
  picked = nn::mul(g, "weighted", picked, nn::cast(g, "as_real", at, DType::float32));
  h = nn::gather(g, "some", nn::add(g, "sum", h, picked), last, 1);
  const ValueId whole = nn::cast(g, "whole", h, DType::int32);  // stops the gradient
  h = nn::add(g, "with_whole", h, nn::cast(g, "real_again", whole, DType::float32));
  nn::softmax_cross_entropy(g, "loss", nn::linear(g, "head", nn::flatten(g, "flat", h), 3),
                            g.input("targets", {batch}, DType::int32));
  return g.finish();
}

}  // namespace poet::test
