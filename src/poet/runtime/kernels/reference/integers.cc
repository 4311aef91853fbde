// Comparisons, logic, conversions, whole numbers, and the choice between two operands.

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>

#include "poet/base/error.h"
#include "poet/runtime/kernels/reference/elementwise.h"
#include "poet/runtime/kernels/reference/families.h"

namespace poet::runtime {
namespace {

using Truth = std::uint8_t;

template <class T, class F>
std::unique_ptr<Kernel> compared_as(const OpReader& op, F f) {
  return elementwise<Truth, T, T>(op, [f](T a, T b) { return static_cast<Truth>(f(a, b) ? 1 : 0); });
}

template <class F>
std::unique_ptr<Kernel> compared(const OpReader& op, F f) {
  switch (op.input(0).dtype) {
    case DType::float32:
      return compared_as<float>(op, f);
    case DType::int32:
      return compared_as<std::int32_t>(op, f);
    case DType::int64:
      return compared_as<std::int64_t>(op, f);
    case DType::uint8:
      return compared_as<std::uint8_t>(op, f);
    case DType::bfloat16:
      break;
  }
  return nullptr;
}

template <class F>
std::unique_ptr<Kernel> logical(const OpReader& op, F f) {
  return compared_as<Truth>(op, [f](Truth a, Truth b) { return f(a != 0, b != 0); });
}

/// Of int32, computed with 64 bits, where nothing overflows. Throws InputError for the divisor 0.
template <class F>
std::unique_ptr<Kernel> divided(const OpReader& op, F f) {
  return elementwise<std::int32_t, std::int32_t, std::int32_t>(
      op, [f, name = op.op().name](std::int32_t a, std::int32_t b) {
        if (b == 0) throw InputError(fmt::format("op \"{}\"", name), "divides a whole number by 0");
        return static_cast<std::int32_t>(f(std::int64_t{a}, std::int64_t{b}));
      });
}

std::int64_t remainder_of(std::int64_t a, std::int64_t b) {
  const std::int64_t rest = a % b;
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

// ---- cast

/// Towards zero, to the nearest bound where the range ends; NaN gives 0.
std::int32_t whole(float x) {
  constexpr float kEnd = 2147483648.0F;
  if (x >= kEnd) return std::numeric_limits<std::int32_t>::max();
  if (x <= -kEnd) return std::numeric_limits<std::int32_t>::min();
  return std::isnan(x) ? 0 : static_cast<std::int32_t>(x);
}

template <class From>
std::unique_ptr<Kernel> cast_from(const OpReader& op) {
  switch (op.output(0).dtype) {
    case DType::float32:
      return elementwise<float, From>(op, [](From x) { return static_cast<float>(x); });
    case DType::uint8:
      return elementwise<Truth, From>(op, [](From x) { return static_cast<Truth>(x != From(0) ? 1 : 0); });
    case DType::int32:
      if constexpr (std::is_same_v<From, float>) {
        return elementwise<std::int32_t, float>(op, whole);
      } else {
        return elementwise<std::int32_t, From>(op, [](From x) { return static_cast<std::int32_t>(x); });
      }
    case DType::int64:
    case DType::bfloat16:
      break;
  }
  return nullptr;
}

std::unique_ptr<Kernel> cast(const OpReader& op) {
  switch (op.input(0).dtype) {
    case DType::float32:
      return cast_from<float>(op);
    case DType::int32:
      return cast_from<std::int32_t>(op);
    case DType::uint8:
      return cast_from<std::uint8_t>(op);
    case DType::int64:
    case DType::bfloat16:
      break;
  }
  return nullptr;
}

// ---- where

template <class T>
std::unique_ptr<Kernel> chosen(const OpReader& op) {
  return elementwise<T, Truth, T, T>(op, [](Truth c, T a, T b) { return c != 0 ? a : b; });
}

/// By size alone: nothing is computed.
std::unique_ptr<Kernel> where(const OpReader& op) {
  const Index size = size_of(op.output(0).dtype).value();
  if (size == 1) return chosen<std::uint8_t>(op);
  return size == 4 ? chosen<std::uint32_t>(op) : chosen<std::uint64_t>(op);
}

// ---- argmax

template <class T>
bool is_nan(T x) {
  if constexpr (std::is_floating_point_v<T>) return std::isnan(x);
  return false;
}

/// Among equal ones the first or, `last`, the last. A NaN is larger than everything.
template <class T>
std::unique_ptr<Kernel> argmax_of(const OpReader& op) {
  const Shape& x = op.in(0);
  const auto axis = static_cast<std::size_t>(op.integer("axis"));
  const Index length = x[axis];
  Index inner = 1;
  for (std::size_t i = axis + 1; i < x.size(); ++i) inner *= x[i];
  const Index outer = op.in_count(0) / (inner * length);
  const bool last = op.integer("last") != 0;
  return loop_kernel([=](const KernelCall& call) {
    for (Index o = 0; o < outer; ++o) {
      for (Index k = 0; k < inner; ++k) {
        const T* from = input<T>(call, 0) + o * length * inner + k;
        Index best = 0;
        for (Index i = 1; i < length; ++i) {
          const T v = from[i * inner];
          const T most = from[best * inner];
          const bool more = v > most || (is_nan(v) && !is_nan(most));
          const bool equal = v == most || (is_nan(v) && is_nan(most));
          if (more || (last && equal)) best = i;
        }
        output<std::int32_t>(call, 0)[o * inner + k] = static_cast<std::int32_t>(best);
      }
    }
  });
}

std::unique_ptr<Kernel> argmax(const OpReader& op) {
  return op.input(0).dtype == DType::int32 ? argmax_of<std::int32_t>(op) : argmax_of<float>(op);
}

}  // namespace

void add_integer_kernels(ReferenceTable& table) {
  ReferenceTable own;
  own["equal"].make = [](const OpReader& op) { return compared(op, [](auto a, auto b) { return a == b; }); };
  own["less"].make = [](const OpReader& op) { return compared(op, [](auto a, auto b) { return a < b; }); };
  own["less_or_equal"].make = [](const OpReader& op) {
    return compared(op, [](auto a, auto b) { return a <= b; });
  };
  own["greater"].make = [](const OpReader& op) { return compared(op, [](auto a, auto b) { return a > b; }); };
  own["greater_or_equal"].make = [](const OpReader& op) {
    return compared(op, [](auto a, auto b) { return a >= b; });
  };
  own["logical_and"].make = [](const OpReader& op) {
    return logical(op, [](bool a, bool b) { return a && b; });
  };
  own["logical_or"].make = [](const OpReader& op) {
    return logical(op, [](bool a, bool b) { return a || b; });
  };
  own["logical_xor"].make = [](const OpReader& op) {
    return logical(op, [](bool a, bool b) { return a != b; });
  };
  own["logical_not"].make = [](const OpReader& op) {
    return elementwise<Truth, Truth>(op, [](Truth x) { return static_cast<Truth>(x == 0 ? 1 : 0); });
  };
  own["int_div"].make = [](const OpReader& op) {
    return divided(op, [](std::int64_t a, std::int64_t b) { return a / b; });
  };
  own["mod"].make = [](const OpReader& op) { return divided(op, remainder_of); };
  own["cast"].make = cast;
  own["where"].make = where;
  for (auto& entry : own) entry.second.any_strides = true;
  own["argmax"] = {argmax};
  table.merge(own);
}

}  // namespace poet::runtime
