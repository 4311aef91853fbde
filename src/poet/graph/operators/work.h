#pragma once

// What an operator computes, counted from the op's shapes. The building stones of the counts in the families.

#include "poet/base/error.h"
#include "poet/graph/operators/op_reader.h"

namespace poet::operators {

using Count = std::int64_t;

/// exp, tanh, erf, log, sine, cosine and square root: a polynomial or an iteration of about ten multiply-adds
/// in every kernel library.
inline constexpr Count kSpecial = 10;

/// An op whose work is counted. Sums and products throw InputError where 64 bits do not hold them.
class WorkReader : public OpReader {
 public:
  using OpReader::OpReader;

  [[noreturn]] void fail(const std::string& rule) const;
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
  /// The size of the last axis.
  [[nodiscard]] Count last(const Shape& shape) const {
    ensure(!shape.empty(), "an operand with a last axis");
    return shape.back();
  }
  /// Rows along the last axis.
  [[nodiscard]] Count rows(const Shape& shape) const {
    return last(shape) == 0 ? 0 : elements(shape) / last(shape);
  }
  [[nodiscard]] Count window() const { return elements(list("kernel")); }
};

using CountOf = Count (*)(const WorkReader&);

// "n operations per element of input 0, of output 0, of the first updated value".
template <Count n>
Count per_input(const WorkReader& w) {
  return w.each(w.in(0), n);
}
template <Count n>
Count per_output(const WorkReader& w) {
  return w.each(w.out(0), n);
}
template <Count n>
Count per_update(const WorkReader& w) {
  return w.each(w.update(0).shape, n);
}
/// `per_output` multiply-adds for each element of `outputs`.
inline Count macs(const WorkReader& w, const Shape& outputs, Count per_output) {
  return w.times(2, w.each(outputs, per_output));
}
inline Count nothing(const WorkReader&) { return 0; }
/// Gradients of operands: n operations per element of the output's gradient, and an addition where they are
/// summed over the axes along which the operand was stretched.
template <Count n>
Count per_stretched(const WorkReader& w) {
  const bool summed = w.elements(w.out(0)) < w.elements(w.in(0));
  return w.each(w.in(0), n + (summed ? 1 : 0));
}

}  // namespace poet::operators
