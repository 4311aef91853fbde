// Arithmetic and activations, element by element, and sums along axes.

#include "poet/cost/rules.h"

namespace poet::cost {
namespace {

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

// Which elements are extreme and how many, and one division per result.
Count extreme_backward(const Subject& s) { return s.plus(s.each(s.output(0), 3), s.elements(s.input(0))); }

}  // namespace

const std::vector<Rule>& elementwise_rules() {
  static const std::vector<Rule> rules = {
      {"relu", per_input<1>},
      {"relu_backward", per_input<1>},
      {"gelu", per_input<4 + kSpecial>},               // 0.5 * x * (1 + erf(x / sqrt 2))
      {"gelu_backward", per_input<9 + 2 * kSpecial>},  // dy * (Phi(x) + x * phi(x)): erf and exp
      {"tanh", per_input<kSpecial>},
      {"tanh_backward", per_input<3>},  // dy * (1 - y * y)
      {"add", per_output<1>},
      {"sub", per_output<1>},
      {"sub_backward_b", per_stretched<1>},
      {"mul", per_output<1>},
      {"mul_backward", per_stretched<1>},
      {"div", per_output<1>},
      {"div_backward_a", per_stretched<1>},
      {"div_backward_b", per_stretched<4>},  // -dy * a / (b * b)
      {"scale", per_input<2>},
      {"scale_backward", per_input<1>},
      {"shift", per_input<1>},
      {"sigmoid", per_input<3 + kSpecial>},  // 1 / (1 + exp(-x))
      {"sigmoid_backward", per_input<3>},    // dy * y * (1 - y)
      {"erf", per_input<kSpecial>},
      {"erf_backward", per_input<4 + kSpecial>},  // dy * constant * exp(-x * x)
      {"exp", per_input<kSpecial>},
      {"exp_backward", per_input<1>},
      {"log", per_input<kSpecial>},
      {"log_backward", per_input<1>},
      {"sqrt", per_input<kSpecial>},
      {"sqrt_backward", per_input<2>},
      {"pow", pow},
      {"pow_backward", pow_backward},
      {"abs", per_input<1>},
      {"abs_backward", per_input<1>},
      {"clip", per_input<2>},
      {"clip_backward", per_input<2>},
      {"leaky_relu", per_input<2>},
      {"leaky_relu_backward", per_input<2>},
      {"elu", per_input<3 + kSpecial>},                // compare, exp, difference, scale
      {"elu_backward", per_input<3>},                  // compare, dy * (y + alpha)
      {"hardsigmoid", per_input<4>},                   // multiply-add, two bounds
      {"hardsigmoid_backward", per_input<3>},          // two bounds, dy * alpha
      {"hardswish", per_input<5>},                     // hardsigmoid, product
      {"hardswish_backward", per_input<5>},            // two bounds, dy * (x / 3 + 1 / 2)
      {"silu", per_input<4 + kSpecial>},               // sigmoid, product
      {"silu_backward", per_input<8 + kSpecial>},      // s 13, dy * s * (1 + x * (1 - s))
      {"mish", per_input<2 + 3 * kSpecial>},           // softplus, tanh, product
      {"mish_backward", per_input<9 + 3 * kSpecial>},  // t 31, dy * (t + x * e / (1 + e) * (1 - t * t))
      {"softplus", per_input<1 + 2 * kSpecial>},       // log(1 + exp(x))
      {"softplus_backward", per_input<3 + kSpecial>},  // dy * (1 - exp(-y))
      {"softsign", per_input<3>},                      // magnitude, sum, division
      {"softsign_backward", per_input<4>},             // magnitude, difference, square, product
      {"selu", per_input<3 + kSpecial>},               // compare, exp, difference, scale
      {"selu_backward", per_input<3>},                 // compare, dy * (y + constant)
      {"celu", per_input<4 + kSpecial>},               // compare, division, exp, difference, scale
      {"celu_backward", per_input<4>},                 // compare, dy * (y / alpha + 1)
      {"thresholded_relu", per_input<1>},
      {"thresholded_relu_backward", per_input<1>},
      {"prelu", per_input<2>},
      {"prelu_backward_input", per_input<2>},
      {"prelu_backward_slope", per_stretched<2>},  // compare, product
      {"sin", per_input<kSpecial>},
      {"sin_backward", per_input<1 + kSpecial>},
      {"cos", per_input<kSpecial>},
      {"cos_backward", per_input<2 + kSpecial>},
      {"sign", per_input<2>},
      {"floor", per_input<1>},
      {"ceil", per_input<1>},
      {"round", per_input<1>},
      {"reduce_max", per_input<1>},
      {"reduce_max_backward", extreme_backward},
      {"reduce_min", per_input<1>},
      {"reduce_min_backward", extreme_backward},
      {"reduce_sum", per_input<1>},
      {"reduce_sum_backward", nothing},
      {"reduce_mean", per_input<1>},
      {"reduce_mean_backward", per_input<1>},
      {"sum_to", per_input<1>},
  };
  return rules;
}

}  // namespace poet::cost
