// Arithmetic on two operands that broadcast, and its gradients, summed where an operand was stretched; prelu
// and where, which choose.

#include <cstdint>

#include "poet/runtime/kernels/reference/families.h"
#include "poet/runtime/kernels/reference/fold.h"

namespace poet::runtime {
namespace {

/// Of reals, or of integers, which wrap around.
template <class F>
std::unique_ptr<Kernel> arithmetic(const OpReader& op, F f) {
  if (op.output(0).dtype == DType::int32) {
    return elementwise<std::int32_t, std::int32_t, std::int32_t>(op, [f](std::int32_t a, std::int32_t b) {
      return static_cast<std::int32_t>(f(static_cast<std::uint32_t>(a), static_cast<std::uint32_t>(b)));
    });
  }
  return elementwise<float, float, float>(op, f);
}

std::unique_ptr<Kernel> prelu_backward_slope(const OpReader& op) {
  return gradient_of_stretched<float, float>(
      op, [](auto dy, auto x) { return x > 0 ? decltype(dy * x)(0) : dy * x; });
}

/// dy where the condition is `of_first`.
template <bool of_first>
std::unique_ptr<Kernel> where_backward(const OpReader& op) {
  return gradient_of_stretched<float, std::uint8_t>(
      op, [](auto dy, auto condition) { return (condition != 0) == of_first ? dy : decltype(dy)(0); });
}

}  // namespace

void add_arithmetic_kernels(ReferenceTable& table) {
  ReferenceTable own;
  own["add"].make = [](const OpReader& op) { return arithmetic(op, [](auto a, auto b) { return a + b; }); };
  own["sub"].make = [](const OpReader& op) { return arithmetic(op, [](auto a, auto b) { return a - b; }); };
  own["mul"].make = [](const OpReader& op) { return arithmetic(op, [](auto a, auto b) { return a * b; }); };
  own["div"].make = [](const OpReader& op) {
    return elementwise<float, float, float>(op, [](float a, float b) { return a / b; });
  };
  own["sum_to"].make = [](const OpReader& op) {
    return gradient_of_stretched<float>(op, [](auto dy) { return dy; });
  };
  own["sub_backward_b"].make = [](const OpReader& op) {
    return gradient_of_stretched<float>(op, [](auto dy) { return -dy; });
  };
  own["mul_backward"].make = [](const OpReader& op) {
    return gradient_of_stretched<float, float>(op, [](auto dy, auto other) { return dy * other; });
  };
  own["div_backward_a"].make = [](const OpReader& op) {
    return gradient_of_stretched<float, float>(op, [](auto dy, auto b) { return dy / b; });
  };
  own["div_backward_b"].make = [](const OpReader& op) {
    return gradient_of_stretched<float, float, float>(
        op, [](auto dy, auto a, auto b) { return -dy * a / (b * b); });
  };
  own["prelu"].make = [](const OpReader& op) {
    return elementwise<float, float, float>(op, [](float x, float slope) { return x > 0 ? x : slope * x; });
  };
  own["prelu_backward_input"].make = [](const OpReader& op) {
    return elementwise<float, float, float, float>(
        op, [](float dy, float x, float slope) { return x > 0 ? dy : dy * slope; });
  };
  own["prelu_backward_slope"].make = prelu_backward_slope;
  own["where_backward_a"].make = where_backward<true>;
  own["where_backward_b"].make = where_backward<false>;
  for (auto& entry : own) entry.second.any_strides = true;
  table.merge(own);
}

}  // namespace poet::runtime
