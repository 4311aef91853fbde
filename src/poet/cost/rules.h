#pragma once

// What every kind of operator costs: one entry per kind, in one file per family (rules/). Private to
// poet/cost.

#include <string_view>
#include <vector>

#include "poet/cost/subject.h"

namespace poet::cost {

/// exp, tanh, erf, log, sine, cosine and square root: a polynomial or an iteration of about ten multiply-adds
/// in every kernel library.
inline constexpr Count kSpecial = 10;

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

[[nodiscard]] const std::vector<Rule>& layer_rules();
[[nodiscard]] const std::vector<Rule>& elementwise_rules();
[[nodiscard]] const std::vector<Rule>& data_rules();
[[nodiscard]] const std::vector<Rule>& recurrent_rules();
[[nodiscard]] const std::vector<Rule>& update_rules();

/// Multiply-accumulates behind one element of a convolution's output: C/g * kh * kw of a weight (O, C/g, kh,
/// kw), and as many in three dimensions. Of a transposed one, those that an element of its input goes into.
[[nodiscard]] inline Count taps(const Subject& s, const Shape& weight) {
  if (weight.size() < 3) s.fail("needs a weight of shape (O, C/groups, kernel...)");
  Count product = 1;
  for (std::size_t axis = 1; axis < weight.size(); ++axis) product = s.times(product, weight[axis]);
  return product;
}

[[nodiscard]] inline Count macs(const Subject& s, const Shape& outputs, Count per_output) {
  return s.times(2, s.each(outputs, per_output));
}

/// The same of a recurrent layer.
[[nodiscard]] Count recurrent_macs(const Subject& s);

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
inline Count nothing(const Subject&) { return 0; }
/// Gradients of operands: n operations per element of the output's gradient, and an addition where they are
/// summed over the axes along which the operand was stretched.
template <Count n>
Count per_stretched(const Subject& s) {
  const bool summed = s.elements(s.output(0)) < s.elements(s.input(0));
  return s.each(s.input(0), n + (summed ? 1 : 0));
}

}  // namespace poet::cost
