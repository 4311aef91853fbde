#include "poet/cost/operators.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "poet/base/error.h"
#include "poet/graph/broadcast.h"

namespace poet {
namespace {

using Count = std::int64_t;

/// exp, tanh, erf, log, sine, cosine and square root: a polynomial or an iteration of about ten multiply-adds
/// in every kernel library.
constexpr Count kSpecial = 10;

/// The op under the rule: shapes by position, complaints that name it.
class Subject {
 public:
  Subject(const Graph& graph, OpId id) : graph_(graph), op_(graph.ops[id]), id_(id) {}

  [[noreturn]] void fail(const std::string& rule) const {
    throw InputError(fmt::format("op {} \"{}\" ({})", id_.index, op_.name, op_.kind), rule);
  }

  [[nodiscard]] const Op& op() const { return op_; }
  [[nodiscard]] const Shape& input(std::size_t position) const {
    return shape(op_.inputs, position, "input");
  }
  [[nodiscard]] const Shape& output(std::size_t position) const {
    return shape(op_.outputs, position, "output");
  }
  [[nodiscard]] const Shape& update(std::size_t position) const {
    return shape(op_.updates, position, "update");
  }
  [[nodiscard]] bool has_input(std::size_t position) const { return position < op_.inputs.size(); }
  [[nodiscard]] bool has_output(std::size_t position) const { return position < op_.outputs.size(); }

  [[nodiscard]] Count times(Count a, Count b) const {
    Count product = 0;
    if (__builtin_mul_overflow(a, b, &product)) fail("its work does not fit 64 bits");
    return product;
  }
  [[nodiscard]] Count plus(Count a, Count b) const {
    Count sum = 0;
    if (__builtin_add_overflow(a, b, &sum)) fail("its work does not fit 64 bits");
    return sum;
  }
  [[nodiscard]] Count elements(const Shape& shape) const {
    Count product = 1;
    for (const Count dimension : shape) product = times(product, dimension);
    return product;
  }
  /// `per_element` for each element of `shape`.
  [[nodiscard]] Count each(const Shape& shape, Count per_element) const {
    return times(elements(shape), per_element);
  }
  [[nodiscard]] Count last(const Shape& shape) const {
    if (shape.empty()) fail("needs a value of at least one dimension");
    return shape.back();
  }
  /// Rows along the last axis.
  [[nodiscard]] Count rows(const Shape& shape) const {
    return last(shape) == 0 ? 0 : elements(shape) / last(shape);
  }
  [[nodiscard]] Count integer(const char* name) const {
    const auto found = op_.attributes.find(name);
    const auto* number = found == op_.attributes.end() ? nullptr : std::get_if<Count>(&found->second);
    if (number == nullptr) fail(fmt::format("needs the attribute {}, an integer", name));
    return *number;
  }
  [[nodiscard]] double real(const char* name) const {
    const auto found = op_.attributes.find(name);
    if (found != op_.attributes.end()) {
      if (const auto* number = std::get_if<double>(&found->second)) return *number;
      if (const auto* whole = std::get_if<Count>(&found->second)) return static_cast<double>(*whole);
    }
    fail(fmt::format("needs the attribute {}, a number", name));
  }
  [[nodiscard]] Count window() const {
    const auto kernel = op_.attributes.find("kernel");
    const auto* sides =
        kernel == op_.attributes.end() ? nullptr : std::get_if<std::vector<Count>>(&kernel->second);
    if (sides == nullptr || sides->empty()) fail("needs the attribute kernel, a list of integers");
    Count area = 1;
    for (const Count side : *sides) area = times(area, side);
    return area;
  }

 private:
  [[nodiscard]] const Shape& shape(const std::vector<ValueId>& values, std::size_t position,
                                   const char* role) const {
    if (position >= values.size()) fail(fmt::format("needs {} {}", role, position));
    return graph_.values[values[position]].shape;
  }

  const Graph& graph_;
  const Op& op_;
  OpId id_;
};

/// Multiply-accumulates behind one element of a convolution's output: C/g * kh * kw of a weight (O, C/g, kh,
/// kw), and as many in three dimensions. Of a transposed one, those that an element of its input goes into.
Count taps(const Subject& s, const Shape& weight) {
  if (weight.size() < 3) s.fail("needs a weight of shape (O, C/groups, kernel...)");
  Count product = 1;
  for (std::size_t axis = 1; axis < weight.size(); ++axis) product = s.times(product, weight[axis]);
  return product;
}

Count macs(const Subject& s, const Shape& outputs, Count per_output) {
  return s.times(2, s.each(outputs, per_output));
}

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

/// Rules of the form "n operations per element of input 0".
template <Count n>
Count per_input(const Subject& s) {
  return s.each(s.input(0), n);
}
/// Rules of the form "n operations per element of output 0".
template <Count n>
Count per_output(const Subject& s) {
  return s.each(s.output(0), n);
}
/// Rules of the form "n operations per element of the first updated value".
template <Count n>
Count per_update(const Subject& s) {
  return s.each(s.update(0), n);
}
Count nothing(const Subject&) { return 0; }
/// Gradients of operands: n operations per element of the output's gradient, and an addition where they are
/// summed over the axes along which the operand was stretched.
template <Count n>
Count per_stretched(const Subject& s) {
  const bool summed = s.elements(s.output(0)) < s.elements(s.input(0));
  return s.each(s.input(0), n + (summed ? 1 : 0));
}

/// x², x³ and x⁴ are products, of x with itself; any other power takes a logarithm and exp.
Count power(const Subject& s, Count if_whole_less, Count otherwise) {
  const double exponent = s.real("exponent");
  for (const Count whole : {1, 2, 3, 4}) {
    if (exponent == static_cast<double>(whole)) return s.each(s.input(0), whole - if_whole_less);
  }
  return s.each(s.input(0), otherwise);
}
Count pow(const Subject& s) { return power(s, 1, 1 + 2 * kSpecial); }
// dy * p * x^(p - 1)
Count pow_backward(const Subject& s) { return power(s, 0, 3 + 2 * kSpecial); }

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
// Which elements are extreme and how many, and one division per result.
Count extreme_backward(const Subject& s) { return s.plus(s.each(s.output(0), 3), s.elements(s.input(0))); }

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

/// How many gates share weight_ih (D, gates * H, I), H being the rows of weight_hh (D, gates * H, H).
Count recurrent_macs(const Subject& s) {
  const Shape& ih = s.input(1);
  const Count hidden = s.last(s.input(2));
  if (ih.size() != 3 || hidden < 1) s.fail("needs weights of shapes (D, gates * H, I) and (D, gates * H, H)");
  return s.times(ih[1] / hidden, s.plus(s.last(ih), hidden));
}
bool has_initial_state(const Subject& s) { return s.op().attributes.count("initial_state") != 0; }

Count recurrent(const Subject& s, std::size_t states, Count biases, Count elementwise) {
  const Count bias = s.has_input(3 + (has_initial_state(s) ? states : 0)) ? biases : 0;
  const Count products = s.times(2, recurrent_macs(s));
  return s.each(s.output(0), s.plus(products, bias + elementwise));
}
// Three sigmoids (3 + kSpecial each), two tanh, f c + i g and o tanh(c).
Count lstm(const Subject& s) { return recurrent(s, 2, 4, 3 * (3 + kSpecial) + 2 * kSpecial + 3 + 1); }
// Two sigmoids, tanh, (1 - z) n + z h and the reset product; before the reset also the sum with the product.
Count gru(const Subject& s) {
  const Count before = s.integer("linear_before_reset") != 0 ? 1 : 0;
  return recurrent(s, 1, 3 + before, 2 * (3 + kSpecial) + kSpecial + 4 + 1 + before);
}
bool is_relu(const Subject& s) {
  const auto found = s.op().attributes.find("activation");
  if (found == s.op().attributes.end()) s.fail("needs the attribute activation");
  return found->second == Attribute(std::string("relu"));
}
Count rnn(const Subject& s) { return recurrent(s, 1, 1, is_relu(s) ? 1 : kSpecial); }

/// The shape of the gradient of forward input `position`, if it is written.
const Shape* written_gradient(const Subject& s, std::size_t position) {
  std::size_t at = position;
  if (const auto found = s.op().attributes.find("gradients"); found != s.op().attributes.end()) {
    const auto* list = std::get_if<std::vector<Count>>(&found->second);
    if (list == nullptr) s.fail("needs a list of integers as its attribute gradients");
    at = static_cast<std::size_t>(std::find(list->begin(), list->end(), static_cast<Count>(position)) -
                                  list->begin());
  }
  return s.has_output(at) ? &s.output(at) : nullptr;
}

/// The state's gradient goes back through weight_hh in every step; the others are there if they are written.
Count recurrent_backward(const Subject& s, std::size_t states, Count gates, Count biases, Count elementwise) {
  const Shape& dy = s.input(0);
  const Count hidden = s.last(dy);
  const Shape* dx = written_gradient(s, 0);
  const Shape* dweight = written_gradient(s, 1);
  Count macs = hidden;
  if (dx != nullptr) macs = s.plus(macs, s.last(*dx));
  if (dweight != nullptr) macs = s.plus(macs, s.last(*dweight));
  if (written_gradient(s, 2) != nullptr) macs = s.plus(macs, hidden);
  const bool bias = written_gradient(s, 3 + (has_initial_state(s) ? states : 0)) != nullptr;
  return s.each(dy, s.plus(s.times(2 * gates, macs), elementwise + (bias ? biases : 0)));
}
// dh: the step's own plus what comes back 1; tanh(c) again kSpecial; do 1; dc += dh o (1 - tanh²) 5; di, df,
// dg 3, dc of the step before 1; the slopes of three sigmoids and a tanh, 3 each. Where the cell states have
// a gradient of their own besides y's, it is added.
Count lstm_backward(const Subject& s) {
  const Count both = s.op().attributes.count("output_gradients") == 0 ? 1 : 0;
  return recurrent_backward(s, 2, 4, 4, 1 + kSpecial + 1 + 5 + 3 + 1 + 4 * 3 + both);
}
// dh 1; dz = dh (h - n) 2; dn = dh (1 - z) 2; dh z 1; three slopes, 3 each. Linear before reset: the gate's
// own and the product's gradient 2. Otherwise: the gate's 1, the state's 2, and the state reset again 1 where
// weight_hh's gradient needs it.
Count gru_backward(const Subject& s) {
  const bool before = s.integer("linear_before_reset") != 0;
  const Count reset = before ? 2 : 3 + (written_gradient(s, 2) != nullptr ? 1 : 0);
  return recurrent_backward(s, 1, 3, before ? 4 : 3, 1 + 2 + 2 + 1 + 3 * 3 + reset);
}
// dh 1, the slope.
Count rnn_backward(const Subject& s) { return recurrent_backward(s, 1, 1, 1, 1 + (is_relu(s) ? 1 : 3)); }

Count softmax_cross_entropy(const Subject& s) {
  // Softmax, then per row the logarithm, its sign and the mean's sum.
  return s.plus(s.each(s.input(0), 4 + kSpecial), s.times(s.rows(s.input(0)), kSpecial + 2));
}
Count softmax_cross_entropy_backward(const Subject& s) {
  return s.plus(s.elements(s.input(0)), s.rows(s.input(0)));  // scale all, subtract one per row
}

// Of an unknown operator one operation per element that it reads or writes, as arithmetic element by element
// has.
Count opaque(const Subject& s) {
  Count total = 0;
  for (std::size_t i = 0; s.has_input(i); ++i) total = s.plus(total, s.elements(s.input(i)));
  for (std::size_t i = 0; s.has_output(i); ++i) total = s.plus(total, s.elements(s.output(i)));
  return total;
}

/// Which of an op's values its kernel really passes over.
enum class Traffic {
  whole,     // every value entirely
  gathered,  // reads as many elements of input `table` as output 0 has, not all of it
  none,      // nothing is moved by the op itself
};

struct Rule {
  std::string_view kind;
  Count (*flops)(const Subject&);
  Traffic traffic = Traffic::whole;
  std::size_t table = 0;
};

// clang-format off: one kind per line
constexpr std::array kRules = {
    // Forward
    Rule{"input", nothing, Traffic::none}, Rule{"conv2d", conv}, Rule{"linear", linear},
    Rule{"matmul", matmul},
    Rule{"batch_norm", per_input<6>},         // mean 1, variance 3, a multiply-add of folded scale and shift
    Rule{"batch_norm_stats", per_input<10>},  // mean 3; variance from invstd 4, blend 3
    Rule{"layer_norm", per_input<8>},         // mean 1, variance 3, centre, scale, weight, bias
    Rule{"relu", per_input<1>}, Rule{"gelu", per_input<4 + kSpecial>},  // 0.5 * x * (1 + erf(x / sqrt 2))
    Rule{"tanh", per_input<kSpecial>},
    Rule{"softmax", per_input<4 + kSpecial>},  // maximum, difference, exp, sum, division
    Rule{"dropout", per_input<2>},             // compare, scale
    Rule{"add", per_output<1>}, Rule{"sub", per_output<1>}, Rule{"mul", per_output<1>},
    Rule{"div", per_output<1>}, Rule{"scale", per_input<2>}, Rule{"shift", per_input<1>},
    Rule{"sigmoid", per_input<3 + kSpecial>},  // 1 / (1 + exp(-x))
    Rule{"erf", per_input<kSpecial>}, Rule{"exp", per_input<kSpecial>}, Rule{"log", per_input<kSpecial>},
    Rule{"sqrt", per_input<kSpecial>}, Rule{"pow", pow}, Rule{"abs", per_input<1>},
    Rule{"clip", per_input<2>}, Rule{"leaky_relu", per_input<2>},
    Rule{"elu", per_input<3 + kSpecial>},  // compare, exp, difference, scale
    Rule{"hardsigmoid", per_input<4>},     // multiply-add, two bounds
    Rule{"hardswish", per_input<5>},       // hardsigmoid, product
    // More activations, and resizing
    Rule{"silu", per_input<4 + kSpecial>},          // sigmoid, product
    Rule{"mish", per_input<2 + 3 * kSpecial>},      // softplus, tanh, product
    Rule{"softplus", per_input<1 + 2 * kSpecial>},  // log(1 + exp(x))
    Rule{"softsign", per_input<3>},                 // magnitude, sum, division
    Rule{"selu", per_input<3 + kSpecial>},          // compare, exp, difference, scale
    Rule{"celu", per_input<4 + kSpecial>},          // compare, division, exp, difference, scale
    Rule{"thresholded_relu", per_input<1>}, Rule{"prelu", per_input<2>}, Rule{"sin", per_input<kSpecial>},
    Rule{"cos", per_input<kSpecial>}, Rule{"sign", per_input<2>}, Rule{"floor", per_input<1>},
    Rule{"ceil", per_input<1>}, Rule{"round", per_input<1>}, Rule{"log_softmax", log_softmax},
    Rule{"reduce_max", per_input<1>}, Rule{"reduce_min", per_input<1>}, Rule{"flip", nothing},
    Rule{"resize", resize},  // products with the weights
    Rule{"reduce_sum", per_input<1>}, Rule{"reduce_mean", per_input<1>}, Rule{"max_pool2d", max_pool},
    Rule{"avg_pool2d", avg_pool},  // sum of the window, one multiplication
    Rule{"global_avg_pool", per_input<1>}, Rule{"embedding", nothing, Traffic::gathered, 1},
    Rule{"global_max_pool", per_input<1>},
    Rule{"group_norm", per_input<6>},  // as batch_norm: a folded scale and shift per image and channel
    Rule{"lrn", lrn}, Rule{"concat", nothing}, Rule{"slice", nothing, Traffic::gathered, 0},
    Rule{"pad", nothing}, Rule{"transpose", nothing}, Rule{"select", nothing, Traffic::gathered, 0},
    Rule{"lstm", lstm}, Rule{"gru", gru}, Rule{"rnn", rnn},
    Rule{"softmax_cross_entropy", softmax_cross_entropy}, Rule{"mse_loss", per_input<3>},
    Rule{"split", nothing}, Rule{"opaque", opaque},
    // Integers and conditions: an operation is one whatever its numbers are
    Rule{"equal", per_output<1>}, Rule{"less", per_output<1>}, Rule{"less_or_equal", per_output<1>},
    Rule{"greater", per_output<1>}, Rule{"greater_or_equal", per_output<1>},
    Rule{"logical_and", per_output<1>}, Rule{"logical_or", per_output<1>}, Rule{"logical_xor", per_output<1>},
    Rule{"logical_not", per_output<1>}, Rule{"cast", per_output<1>}, Rule{"int_div", per_output<1>},
    Rule{"mod", per_output<1>}, Rule{"cumsum", per_input<1>}, Rule{"argmax", per_input<1>},
    Rule{"where", per_output<1>}, Rule{"expand", nothing}, Rule{"gather", nothing, Traffic::gathered, 0},
    Rule{"gather_elements", nothing, Traffic::gathered, 0}, Rule{"where_backward_a", per_stretched<1>},
    Rule{"where_backward_b", per_stretched<1>}, Rule{"gather_backward", per_input<1>},
    Rule{"gather_elements_backward", per_input<1>}, Rule{"cumsum_backward", per_input<1>},
    // Windows over volumes, and transposed ones
    Rule{"conv3d", conv}, Rule{"conv_transpose2d", conv_transpose}, Rule{"conv_transpose3d", conv_transpose},
    Rule{"max_pool3d", max_pool}, Rule{"avg_pool3d", avg_pool},
    // Backward
    Rule{"conv2d_backward_input", conv_backward_input}, Rule{"conv2d_backward_weight", conv_backward_weight},
    Rule{"conv2d_backward_bias", per_input<1>}, Rule{"linear_backward_input", linear_backward_input},
    Rule{"linear_backward_weight", linear_backward_weight}, Rule{"linear_backward_bias", per_input<1>},
    Rule{"batch_norm_backward", batch_norm_backward}, Rule{"layer_norm_backward", layer_norm_backward},
    Rule{"sum_to", per_input<1>}, Rule{"sub_backward_b", per_stretched<1>},
    Rule{"mul_backward", per_stretched<1>}, Rule{"div_backward_a", per_stretched<1>},
    Rule{"div_backward_b", per_stretched<4>},                                      // -dy * a / (b * b)
    Rule{"scale_backward", per_input<1>}, Rule{"sigmoid_backward", per_input<3>},  // dy * y * (1 - y)
    Rule{"erf_backward", per_input<4 + kSpecial>},  // dy * constant * exp(-x * x)
    Rule{"exp_backward", per_input<1>}, Rule{"log_backward", per_input<1>},
    Rule{"sqrt_backward", per_input<2>}, Rule{"pow_backward", pow_backward},
    Rule{"abs_backward", per_input<1>}, Rule{"clip_backward", per_input<2>},
    Rule{"leaky_relu_backward", per_input<2>},
    Rule{"elu_backward", per_input<3>},          // compare, dy * (y + alpha)
    Rule{"hardsigmoid_backward", per_input<3>},  // two bounds, dy * alpha
    Rule{"hardswish_backward", per_input<5>},    // two bounds, dy * (x / 3 + 1 / 2)
    // More activations, and resizing
    Rule{"silu_backward", per_input<8 + kSpecial>},      // s 13, dy * s * (1 + x * (1 - s))
    Rule{"mish_backward", per_input<9 + 3 * kSpecial>},  // t 31, dy * (t + x * e / (1 + e) * (1 - t * t))
    Rule{"softplus_backward", per_input<3 + kSpecial>},  // dy * (1 - exp(-y))
    Rule{"softsign_backward", per_input<4>},             // magnitude, difference, square, product
    Rule{"selu_backward", per_input<3>},                 // compare, dy * (y + constant)
    Rule{"celu_backward", per_input<4>},                 // compare, dy * (y / alpha + 1)
    Rule{"thresholded_relu_backward", per_input<1>}, Rule{"prelu_backward_input", per_input<2>},
    Rule{"prelu_backward_slope", per_stretched<2>},  // compare, product
    Rule{"sin_backward", per_input<1 + kSpecial>}, Rule{"cos_backward", per_input<2 + kSpecial>},
    Rule{"log_softmax_backward", per_input<3 + kSpecial>},  // row sum, dy - exp(y) * sum
    Rule{"reduce_max_backward", extreme_backward}, Rule{"reduce_min_backward", extreme_backward},
    Rule{"flip_backward", nothing}, Rule{"resize_backward", resize_backward},  // the same products
    Rule{"reduce_sum_backward", nothing}, Rule{"reduce_mean_backward", per_input<1>},
    Rule{"relu_backward", per_input<1>},
    Rule{"gelu_backward", per_input<9 + 2 * kSpecial>},  // dy * (Phi(x) + x * phi(x)): erf and exp
    Rule{"tanh_backward", per_input<3>},                 // dy * (1 - y * y)
    Rule{"softmax_backward", per_input<4>},              // row sum of dy * y, then (dy - sum) * y
    Rule{"dropout_backward", per_input<1>},
    Rule{"max_pool2d_backward", per_input<1>},  // one addition per window
    Rule{"avg_pool2d_backward", avg_pool_backward}, Rule{"global_avg_pool_backward", per_input<1>},
    Rule{"global_max_pool_backward", nothing},  // one element per plane, the others zero
    Rule{"group_norm_backward", batch_norm_backward}, Rule{"lrn_backward", lrn_backward},
    Rule{"concat_backward", nothing, Traffic::gathered, 0}, Rule{"slice_backward", nothing},
    Rule{"pad_backward", nothing, Traffic::gathered, 0}, Rule{"transpose_backward", nothing},
    Rule{"select_backward", nothing},
    Rule{"embedding_backward", per_input<1>},  // one addition per element gathered
    Rule{"lstm_backward", lstm_backward}, Rule{"gru_backward", gru_backward},
    Rule{"rnn_backward", rnn_backward},
    Rule{"softmax_cross_entropy_backward", softmax_cross_entropy_backward},
    Rule{"mse_loss_backward", per_input<2>},  // difference, scale
    Rule{"split_backward", nothing}, Rule{"opaque_backward", opaque},
    Rule{"conv3d_backward_input", conv_backward_input}, Rule{"conv3d_backward_weight", conv_backward_weight},
    Rule{"conv3d_backward_bias", per_input<1>},
    Rule{"conv_transpose2d_backward_input", conv_transpose_backward_input},
    Rule{"conv_transpose2d_backward_weight", conv_transpose_backward_weight},
    Rule{"conv_transpose2d_backward_bias", per_input<1>},
    Rule{"conv_transpose3d_backward_input", conv_transpose_backward_input},
    Rule{"conv_transpose3d_backward_weight", conv_transpose_backward_weight},
    Rule{"conv_transpose3d_backward_bias", per_input<1>}, Rule{"max_pool3d_backward", per_input<1>},
    Rule{"avg_pool3d_backward", avg_pool_backward},
    // Update
    Rule{"sgd_update", per_update<2>}, Rule{"momentum_update", per_update<4>},
    Rule{"adam_update",
         per_update<11 + kSpecial>},  // m 3, v 4, then sqrt, + eps, division, scale, difference
};
// clang-format on

const Rule& rule_of(const Subject& subject) {
  const auto rule = std::find_if(kRules.begin(), kRules.end(),
                                 [&subject](const Rule& r) { return r.kind == subject.op().kind; });
  if (rule == kRules.end()) subject.fail("this kind of operator has no cost rule");
  return *rule;
}

/// Storages without repetition; two views of one value are one tensor.
std::vector<ValueId> distinct_storages(const Graph& graph, const std::vector<ValueId>& values) {
  std::vector<ValueId> storages;
  storages.reserve(values.size());
  for (const ValueId v : values) storages.push_back(storage(graph, v));
  std::sort(storages.begin(), storages.end());
  storages.erase(std::unique(storages.begin(), storages.end()), storages.end());
  return storages;
}

Count moved(const Graph& graph, const Subject& subject, const Rule& rule) {
  const Op& op = subject.op();
  if (rule.traffic == Traffic::none) return 0;
  Count total = 0;
  for (const ValueId v : distinct_storages(graph, op.inputs)) {
    Count bytes = graph.values[v].bytes.value();
    if (rule.traffic == Traffic::gathered && rule.table < op.inputs.size() &&
        v == storage(graph, op.inputs[rule.table])) {
      // Touches as many elements as it delivers.
      bytes = std::min(
          bytes, subject.times(subject.elements(subject.output(0)), size_of(graph.values[v].dtype).value()));
    }
    total = subject.plus(total, bytes);
  }
  std::vector<ValueId> written = op.outputs;
  written.insert(written.end(), op.updates.begin(), op.updates.end());
  for (const ValueId v : distinct_storages(graph, written)) {
    total = subject.plus(total, graph.values[v].bytes.value());
  }
  return total;
}

}  // namespace

std::vector<std::string_view> priced_operator_kinds() {
  std::vector<std::string_view> kinds;
  kinds.reserve(kRules.size());
  for (const Rule& rule : kRules) kinds.push_back(rule.kind);
  return kinds;
}

Work work_of(const Graph& graph, OpId op) {
  const Subject subject(graph, op);
  const Rule& rule = rule_of(subject);
  // Every kernel works in place on its outputs (direct convolution, no im2col), so none needs scratch memory.
  return {Flops(rule.flops(subject)), Bytes(moved(graph, subject, rule)), Bytes(0)};
}

std::int64_t forward_macs(const Graph& graph) {
  Count total = 0;
  for (const OpId id : ids<OpId>(graph.ops.size())) {
    const Op& op = graph.ops[id];
    if (op.pass != Pass::forward) continue;
    const Subject s(graph, id);
    Count per_element = 0;
    if (op.kind == "conv2d" || op.kind == "conv3d") {
      per_element = taps(s, s.input(1));
    } else if (op.kind == "conv_transpose2d" || op.kind == "conv_transpose3d") {
      total = s.plus(total, s.each(s.input(0), taps(s, s.input(1))));
      continue;
    } else if (op.kind == "linear") {
      per_element = s.last(s.input(1));
    } else if (op.kind == "matmul") {
      per_element = s.last(s.input(0));
    } else if (op.kind == "lstm" || op.kind == "gru" || op.kind == "rnn") {
      per_element = recurrent_macs(s);
    } else {
      continue;
    }
    total = s.plus(total, s.each(s.output(0), per_element));
  }
  return total;
}

std::int64_t parameter_count(const Graph& graph) {
  Count total = 0;
  for (const Value& value : graph.values) {
    if (value.persistence != Persistence::parameter || value.alias_of.valid()) continue;
    total += element_count(value.shape);
  }
  return total;
}

}  // namespace poet
