// y = f(x), element by element or row by row, and dx = dy f'(x or y).

#include <cmath>

#include "poet/graph/operators/families.h"

namespace poet::operators {
namespace {

/// Whole numbers are scaled by whole numbers, which 64 bits hold.
void scaled(const Checker& op) {
  if (op.output(0).dtype != DType::int32) return;
  constexpr double kMost = 9007199254740992.0;  // 2^53
  for (const char* name : {"alpha", "beta"}) {
    if (!op.has(name)) continue;
    const double x = op.real(name);
    op.need(x == std::trunc(x) && std::abs(x) <= kMost, "a whole {} for whole numbers, not {}", name, x);
  }
}

void clip(const Checker& op) {
  op.need(op.has("min") || op.has("max"), "an attribute min or max");
  if (op.has("min") && op.has("max"))
    op.need(op.real("min") < op.real("max"), "min < max, not {} and {}", op.real("min"), op.real("max"));
}

/// x², x³ and x⁴ are products, of x with itself; any other power takes a logarithm and exp.
Count power(const WorkReader& w, Count if_whole_less, Count otherwise) {
  const double exponent = w.real("exponent");
  for (const Count whole : {1, 2, 3, 4}) {
    if (exponent == static_cast<double>(whole)) return w.each(w.in(0), whole - if_whole_less);
  }
  return w.each(w.in(0), otherwise);
}
Count pow(const WorkReader& w) { return power(w, 1, 1 + 2 * kSpecial); }
// dy * p * x^(p - 1)
Count pow_backward(const WorkReader& w) { return power(w, 0, 3 + 2 * kSpecial); }

/// Softmax, then the logarithm of the sum per row in place of a division.
Count log_softmax(const WorkReader& w) {
  return w.plus(w.each(w.in(0), 4 + kSpecial), w.times(w.rows(w.in(0)), kSpecial));
}

enum class Reads { x, y, none };  // what the slope is computed from; none: it is 0 wherever it exists

struct Function {
  const char* kind;
  Reads reads;
  CountOf flops;
  CountOf slope_flops;
  std::vector<AttributeSpec> attributes = {};
  bool library = false;  // oneDNN computes it and its gradient, too
  void (*rule)(const Checker&) = nullptr;
};

constexpr AttributeSpec kSlope{"alpha", Sort::not_negative};

std::vector<Function> functions() {
  const std::vector<AttributeSpec> bounds = {{"min", Sort::real, true}, {"max", Sort::real, true}};
  return {
      // The sign of x is the sign of y.
      {"relu", Reads::y, per_input<1>, per_input<1>, {}, true},
      // 0.5 x (1 + erf(x / sqrt 2)), not invertible; Phi(x) + x phi(x): erf and exp
      {"gelu", Reads::x, per_input<4 + kSpecial>, per_input<9 + 2 * kSpecial>, {}, true},
      {"tanh", Reads::y, per_input<kSpecial>, per_input<3>, {}, true},         // 1 - y²
      {"sigmoid", Reads::y, per_input<3 + kSpecial>, per_input<3>, {}, true},  // y (1 - y)
      {"erf", Reads::x, per_input<kSpecial>, per_input<4 + kSpecial>},         // 2 / sqrt(pi) exp(-x²)
      {"exp", Reads::y, per_input<kSpecial>, per_input<1>, {}, true},          // y
      {"log", Reads::x, per_input<kSpecial>, per_input<1>, {}, true},          // 1 / x
      {"sqrt", Reads::y, per_input<kSpecial>, per_input<2>, {}, true},         // 1 / (2 y)
      // y / x would be no number at 0.
      {"pow", Reads::x, pow, pow_backward, {{"exponent", Sort::not_zero}}},
      // Strictly between the bounds y is x; on a bound x is there too or beyond, and the gradient is 0, as
      // relu's is at 0. So y decides, which the next layer keeps more often than x.
      {"clip", Reads::y, per_input<2>, per_input<2>, bounds, true, clip},
      {"leaky_relu", Reads::y, per_input<2>, per_input<2>, {kSlope}, true},
      // compare, exp, difference, scale; where negative alpha exp(x) = y + alpha
      {"elu", Reads::y, per_input<3 + kSpecial>, per_input<3>, {kSlope}, true},
      // multiply-add, two bounds; as clip
      {"hardsigmoid", Reads::y, per_input<4>, per_input<3>, {{"alpha"}, {"beta"}}},
      // hardsigmoid, product; falls before it rises: not invertible. Two bounds, x / 3 + 1 / 2.
      {"hardswish", Reads::x, per_input<5>, per_input<5>, {}, true},
      // sigmoid s, product; s (1 + x (1 - s))
      {"silu", Reads::x, per_input<4 + kSpecial>, per_input<8 + kSpecial>, {}, true},
      // softplus, tanh t, product; t + x e / (1 + e) (1 - t²)
      {"mish", Reads::x, per_input<2 + 3 * kSpecial>, per_input<9 + 3 * kSpecial>, {}, true},
      // log(1 + exp(x)); the sigmoid of x is 1 - exp(-y)
      {"softplus", Reads::y, per_input<1 + 2 * kSpecial>, per_input<3 + kSpecial>},
      // magnitude, sum, division; (1 - |y|)²
      {"softsign", Reads::y, per_input<3>, per_input<4>},
      // as elu; where negative y + gamma alpha
      {"selu", Reads::y, per_input<3 + kSpecial>, per_input<3>, {kSlope, {"gamma", Sort::positive}}},
      // as elu, with a division; where negative y / alpha + 1
      {"celu", Reads::y, per_input<4 + kSpecial>, per_input<4>, {{"alpha", Sort::positive}}},
      // Positive where x was above the threshold.
      {"thresholded_relu", Reads::y, per_input<1>, per_input<1>, {kSlope}},
      {"sin", Reads::x, per_input<kSpecial>, per_input<1 + kSpecial>},
      {"cos", Reads::x, per_input<kSpecial>, per_input<2 + kSpecial>},
      {"atan", Reads::x, per_input<kSpecial>, per_input<3>},  // 1 / (1 + x²)
      {"sign", Reads::none, per_input<2>, nothing},
      {"floor", Reads::none, per_input<1>, nothing},
      {"ceil", Reads::none, per_input<1>, nothing},
      {"round", Reads::none, per_input<1>, nothing},
  };
}

OperatorSchema forward(const Function& f) {
  return {.kind = f.kind,
          .operands = "x(...) -> y(...)",
          .attributes = f.attributes,
          .rule = f.rule,
          .in_place = 1,
          .parts = "...",
          .flops = f.flops,
          .library = f.library};
}

OperatorSchema backward(const Function& f) {
  return {.kind = f.kind + std::string("_backward"),
          .operands = f.reads == Reads::x ? "dy(...) x(...) -> dx(...)" : "dy(...) y(...) -> dx(...)",
          .attributes = f.attributes,
          .rule = f.rule,
          .in_place = 2,
          .parts = "...",
          .flops = f.slope_flops,
          .library = f.library};
}

}  // namespace

Schemas function_operators() {
  Schemas all;
  for (const Function& f : functions()) {
    all.push_back(forward(f));
    if (f.reads != Reads::none) all.push_back(backward(f));
  }
  // Integers have a magnitude and are scaled, too.
  Function magnitude{"abs", Reads::x, per_input<1>, per_input<1>, {}, true};  // y has lost the sign
  all.push_back(forward(magnitude));
  all.back().operands = "x:n(...) -> y:n(...)";
  all.push_back(backward(magnitude));
  const OperatorSchema element = {.kind = "scale",
                                  .operands = "x:n(...) -> y:n(...)",
                                  .attributes = {{"alpha"}, {"beta"}},
                                  .rule = scaled,
                                  .in_place = 1,
                                  .parts = "...",
                                  .flops = per_input<2>,
                                  .library = true};
  all.push_back(element);
  all.push_back(element);
  all.back().kind = "scale_backward";
  all.back().operands = "dy(...) -> dx(...)";
  all.back().attributes = {{"alpha"}};
  all.back().flops = per_input<1>;
  all.push_back(element);
  all.back().kind = "shift";
  all.back().attributes = {{"beta"}};
  all.back().flops = per_input<1>;

  const Schemas others = {
      {.kind = "dropout",
       .operands = "x(...) -> y(...) mask:b(...)",
       .attributes = {{"p", Sort::probability}, {"seed", Sort::integer}},
       .in_place = 1,
       .parts = "...",          // the mask is a function of the element's position in the whole: Value::part
       .flops = per_input<2>},  // compare, scale
      {.kind = "dropout_backward",
       .operands = "dy(...) mask:b(...) -> dx(...)",
       .attributes = {{"p", Sort::probability}},
       .in_place = 1,
       .parts = "...",
       .flops = per_input<1>},
      {.kind = "softmax",
       .operands = "x(...,R) -> y(...,R)",
       .in_place = 1,
       .parts = "...",
       .flops = per_input<4 + kSpecial>,  // maximum, difference, exp, sum, division
       .library = true},
      {.kind = "softmax_backward",
       .operands = "dy(...,R) y(...,R) -> dx(...,R)",
       .in_place = 2,
       .parts = "...",
       .flops = per_input<4>,  // row sum of dy * y, then (dy - sum) * y
       .library = true},
      {.kind = "log_softmax",
       .operands = "x(...,R) -> y(...,R)",
       .in_place = 1,
       .parts = "...",
       .flops = log_softmax,
       .library = true},
      {.kind = "log_softmax_backward",
       .operands = "dy(...,R) y(...,R) -> dx(...,R)",
       .in_place = 2,
       .parts = "...",
       .flops = per_input<3 + kSpecial>,  // row sum, dy - exp(y) * sum
       .library = true},
  };
  all.insert(all.end(), others.begin(), others.end());
  return all;
}

}  // namespace poet::operators
