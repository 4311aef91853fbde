// Layers: products, windows, normalisations, losses.

#include <algorithm>
#include <optional>
#include <string>

#include "poet/cost/rules.h"
#include "poet/graph/broadcast.h"

namespace poet::cost {
namespace {

// Convolutions are counted on the output's area: a stride of s costs 1/s^2 of the dense convolution.
Count conv(const Subject& s) {
  const Count bias = s.has_input(2) ? s.elements(s.output(0)) : 0;
  return s.plus(macs(s, s.output(0), taps(s, s.input(1))), bias);
}
Count conv_backward_input(const Subject& s) { return macs(s, s.input(0), taps(s, s.input(1))); }
Count conv_backward_weight(const Subject& s) {
  const Count bias = s.has_output(1) ? s.elements(s.input(0)) : 0;
  return s.plus(macs(s, s.input(0), taps(s, s.output(0))), bias);
}

// A transposed convolution is the backward one of a convolution from its output to its input, and costs as
// much: it is counted on the area of its input.
Count conv_transpose(const Subject& s) {
  const Count bias = s.has_input(2) ? s.elements(s.output(0)) : 0;
  return s.plus(macs(s, s.input(0), taps(s, s.input(1))), bias);
}
Count conv_transpose_backward_input(const Subject& s) { return macs(s, s.output(0), taps(s, s.input(1))); }
Count conv_transpose_backward_weight(const Subject& s) {
  const Count bias = s.has_output(1) ? s.elements(s.input(0)) : 0;
  return s.plus(macs(s, s.input(1), taps(s, s.output(0))), bias);
}

Count linear(const Subject& s) {
  const Count bias = s.has_input(2) ? s.elements(s.output(0)) : 0;
  return s.plus(macs(s, s.output(0), s.last(s.input(1))), bias);
}
Count linear_backward_input(const Subject& s) { return macs(s, s.input(0), s.last(s.input(1))); }
Count linear_backward_weight(const Subject& s) {
  const Count bias = s.has_output(1) ? s.elements(s.input(0)) : 0;
  return s.plus(macs(s, s.input(0), s.last(s.output(0))), bias);
}

Count matmul(const Subject& s) {
  const auto alpha = s.op().attributes.find("alpha");
  const bool scaled = alpha != s.op().attributes.end() &&
                      !(alpha->second == Attribute(1.0) || alpha->second == Attribute(Count{1}));
  // A gradient that is summed over stretched axes takes the products of all of them.
  const auto leading = [&s](const Shape& shape) {
    if (s.last(shape) < 0 || shape.size() < 2) s.fail("multiplies values of at least two dimensions");
    return Shape(shape.begin(), shape.end() - 2);
  };
  Shape whole = leading(s.output(0));
  const std::optional<Shape> read = broadcast_shape(leading(s.input(0)), leading(s.input(1)));
  if (!read) s.fail("its operands' leading axes do not broadcast");
  if (s.elements(*read) > s.elements(whole)) whole = *read;
  const Count products = s.times(s.elements(whole), s.times(s.output(0).end()[-2], s.output(0).back()));
  return s.plus(s.times(2, s.times(products, s.last(s.input(0)))), scaled ? s.elements(s.output(0)) : 0);
}

Count max_pool(const Subject& s) { return s.each(s.output(0), std::max<Count>(s.window() - 1, 0)); }
Count avg_pool(const Subject& s) { return s.each(s.output(0), s.window()); }
Count avg_pool_backward(const Subject& s) { return s.each(s.input(0), s.plus(s.window(), 1)); }

/// Multiply-adds behind one element of a resized image; 0 where it is a copy.
Count resize_taps(const Subject& s) {
  const auto mode = s.op().attributes.find("mode");
  const auto* word = mode == s.op().attributes.end() ? nullptr : std::get_if<std::string>(&mode->second);
  if (word == nullptr) s.fail("needs the attribute mode, a text");
  if (*word == "nearest") return 0;
  Count taps = 1;
  for (std::size_t axis = 2; axis < s.input(0).size(); ++axis) taps = s.times(taps, *word == "cubic" ? 4 : 2);
  return taps;
}
Count resize(const Subject& s) { return macs(s, s.output(0), resize_taps(s)); }
// Each element of dy is added to those that it was made of, with their weights unless it was a copy.
Count resize_backward(const Subject& s) {
  const Count taps = resize_taps(s);
  return taps == 0 ? s.elements(s.input(0)) : macs(s, s.input(0), taps);
}

// Softmax, then the logarithm of the sum per row in place of a division.
Count log_softmax(const Subject& s) {
  return s.plus(s.each(s.input(0), 4 + kSpecial), s.times(s.rows(s.input(0)), kSpecial));
}
// A window of squares, a multiply-add with alpha / size and bias, a power (logarithm and exp), a product.
Count lrn(const Subject& s) { return s.each(s.input(0), s.plus(s.integer("size"), 3 + 2 * kSpecial)); }
// The scale again (size + 2) and its power; dy * power * x / scale 3, its sum over the window size - 1, times
// x and a constant 2, the difference 1.
Count lrn_backward(const Subject& s) {
  return s.each(s.input(0), s.plus(s.times(2, s.integer("size")), 7 + 2 * kSpecial));
}

/// Normalisation gradients. With the attribute `gradients` some of dx (0), dweight (1), dbias (2) are left
/// out.
struct NormGradients {
  bool dx = true;
  bool dweight = true;
  bool dbias = true;
};
NormGradients norm_gradients(const Subject& s) {
  const auto found = s.op().attributes.find("gradients");
  if (found == s.op().attributes.end()) return {};
  const auto* list = std::get_if<std::vector<Count>>(&found->second);
  if (list == nullptr) s.fail("needs a list of integers as its attribute gradients");
  const auto wanted = [list](Count position) {
    return std::find(list->begin(), list->end(), position) != list->end();
  };
  return {wanted(0), wanted(1), wanted(2)};
}
Count batch_norm_backward(const Subject& s) {
  const NormGradients want = norm_gradients(s);
  // x-hat 2, sum of dy * x-hat 2, sum of dy 1: dx needs all of them, as means over the batch.
  Count per_element = want.dx || want.dweight ? 4 : 0;
  if (want.dx || want.dbias) per_element += 1;
  if (want.dx) per_element += 6;  // x-hat 2, its multiple 1, two differences 2, scale 1
  return s.each(s.input(0), per_element);
}
Count layer_norm_backward(const Subject& s) {
  const NormGradients want = norm_gradients(s);
  Count per_element = want.dx || want.dweight ? 2 : 0;  // x-hat
  if (want.dweight) per_element += 2;
  if (want.dbias) per_element += 1;
  if (want.dx) per_element += 8;  // dy * weight 1, two row sums 3, multiple 1, two differences 2, scale 1
  return s.each(s.input(0), per_element);
}

// Recurrent layers, per element of the hidden states of all steps (M). A gate is a product with a row of the
// input and one with the state before, whose sum is one accumulation; the two biases are added up beforehand.

Count softmax_cross_entropy(const Subject& s) {
  // Softmax, then per row the logarithm, its sign and the mean's sum.
  return s.plus(s.each(s.input(0), 4 + kSpecial), s.times(s.rows(s.input(0)), kSpecial + 2));
}
Count softmax_cross_entropy_backward(const Subject& s) {
  return s.plus(s.elements(s.input(0)), s.rows(s.input(0)));  // scale all, subtract one per row
}

}  // namespace

const std::vector<Rule>& layer_rules() {
  static const std::vector<Rule> rules = {
      {"conv2d", conv},
      {"conv2d_backward_input", conv_backward_input},
      {"conv2d_backward_weight", conv_backward_weight},
      {"conv2d_backward_bias", per_input<1>},
      {"linear", linear},
      {"linear_backward_input", linear_backward_input},
      {"linear_backward_weight", linear_backward_weight},
      {"linear_backward_bias", per_input<1>},
      {"matmul", matmul},
      {"batch_norm", per_input<6>},  // mean 1, variance 3, a multiply-add of folded scale and shift
      {"batch_norm_backward", batch_norm_backward},
      {"layer_norm", per_input<8>},  // mean 1, variance 3, centre, scale, weight, bias
      {"layer_norm_backward", layer_norm_backward},
      {"softmax", per_input<4 + kSpecial>},  // maximum, difference, exp, sum, division
      {"softmax_backward", per_input<4>},    // row sum of dy * y, then (dy - sum) * y
      {"dropout", per_input<2>},             // compare, scale
      {"dropout_backward", per_input<1>},
      {"log_softmax", log_softmax},
      {"log_softmax_backward", per_input<3 + kSpecial>},  // row sum, dy - exp(y) * sum
      {"resize", resize},                                 // products with the weights
      {"resize_backward", resize_backward},               // the same products
      {"max_pool2d", max_pool},
      {"max_pool2d_backward", per_input<1>},  // one addition per window
      {"avg_pool2d", avg_pool},               // sum of the window, one multiplication
      {"avg_pool2d_backward", avg_pool_backward},
      {"global_avg_pool", per_input<1>},
      {"global_avg_pool_backward", per_input<1>},
      {"global_max_pool", per_input<1>},
      {"global_max_pool_backward", nothing},  // one element per plane, the others zero
      {"group_norm", per_input<6>},           // as batch_norm: a folded scale and shift per image and channel
      {"group_norm_backward", batch_norm_backward},
      {"lrn", lrn},
      {"lrn_backward", lrn_backward},
      {"softmax_cross_entropy", softmax_cross_entropy},
      {"softmax_cross_entropy_backward", softmax_cross_entropy_backward},
      {"mse_loss", per_input<3>},
      {"mse_loss_backward", per_input<2>},  // difference, scale
      {"conv3d", conv},
      {"conv3d_backward_input", conv_backward_input},
      {"conv3d_backward_weight", conv_backward_weight},
      {"conv3d_backward_bias", per_input<1>},
      {"conv_transpose2d", conv_transpose},
      {"conv_transpose2d_backward_input", conv_transpose_backward_input},
      {"conv_transpose2d_backward_weight", conv_transpose_backward_weight},
      {"conv_transpose2d_backward_bias", per_input<1>},
      {"conv_transpose3d", conv_transpose},
      {"conv_transpose3d_backward_input", conv_transpose_backward_input},
      {"conv_transpose3d_backward_weight", conv_transpose_backward_weight},
      {"conv_transpose3d_backward_bias", per_input<1>},
      {"max_pool3d", max_pool},
      {"max_pool3d_backward", per_input<1>},
      {"avg_pool3d", avg_pool},
      {"avg_pool3d_backward", avg_pool_backward},
  };
  return rules;
}

}  // namespace poet::cost
