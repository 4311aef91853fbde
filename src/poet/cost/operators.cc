#include "poet/cost/operators.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "poet/base/error.h"

namespace poet {
namespace {

using Count = std::int64_t;

/// exp, tanh, erf, log and square root: a polynomial or an iteration of about ten multiply-adds in every
/// kernel library.
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
  return s.plus(macs(s, s.output(0), s.last(s.input(0))), scaled ? s.elements(s.output(0)) : 0);
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

Count softmax_cross_entropy(const Subject& s) {
  // Softmax, then per row the logarithm, its sign and the mean's sum.
  return s.plus(s.each(s.input(0), 4 + kSpecial), s.times(s.rows(s.input(0)), kSpecial + 2));
}
Count softmax_cross_entropy_backward(const Subject& s) {
  return s.plus(s.elements(s.input(0)), s.rows(s.input(0)));  // scale all, subtract one per row
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
    Rule{"reduce_sum", per_input<1>}, Rule{"reduce_mean", per_input<1>}, Rule{"max_pool2d", max_pool},
    Rule{"avg_pool2d", avg_pool},  // sum of the window, one multiplication
    Rule{"global_avg_pool", per_input<1>}, Rule{"embedding", nothing, Traffic::gathered, 1},
    Rule{"global_max_pool", per_input<1>},
    Rule{"group_norm", per_input<6>},  // as batch_norm: a folded scale and shift per image and channel
    Rule{"lrn", lrn}, Rule{"concat", nothing}, Rule{"slice", nothing, Traffic::gathered, 0},
    Rule{"pad", nothing}, Rule{"transpose", nothing}, Rule{"select", nothing, Traffic::gathered, 0},
    Rule{"softmax_cross_entropy", softmax_cross_entropy}, Rule{"conv3d", conv},
    Rule{"conv_transpose2d", conv_transpose}, Rule{"conv_transpose3d", conv_transpose},
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
    Rule{"softmax_cross_entropy_backward", softmax_cross_entropy_backward},
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
