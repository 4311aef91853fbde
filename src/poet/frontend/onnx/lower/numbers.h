#pragma once

// Numbers of one type as another. Private to poet/frontend/onnx.

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

#include "poet/base/error.h"

namespace poet::onnx {

/// IEEE 754's 16 bits.
inline double from_float16(std::uint16_t bits) {
  const double sign = (bits & 0x8000U) != 0 ? -1.0 : 1.0;
  const int exponent = bits >> 10U & 0x1fU;
  const int fraction = bits & 0x3ffU;
  if (exponent == 0x1f) {
    return fraction != 0 ? std::numeric_limits<double>::quiet_NaN()
                         : sign * std::numeric_limits<double>::infinity();
  }
  return sign * (exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(fraction + 1024, exponent - 25));
}

/// The upper half of a float.
inline double from_bfloat16(std::uint16_t bits) {
  const std::uint32_t wide = static_cast<std::uint32_t>(bits) << 16U;
  float number = 0;
  std::memcpy(&number, &wide, sizeof(number));
  return number;
}

/// Throws InputError when an integer cannot hold x.
template <class To, class From>
To converted(From x) {
  if constexpr (std::is_integral_v<To>) {
    constexpr To kLeast = std::numeric_limits<To>::min();
    constexpr To kMost = std::numeric_limits<To>::max();
    if constexpr (std::is_integral_v<From>) {
      if (std::cmp_less(x, kLeast) || std::cmp_greater(x, kMost))
        throw InputError(fmt::format("{} is not within {} to {}", x, kLeast, kMost));
    } else if (!(x >= static_cast<From>(kLeast) && x < static_cast<From>(kMost))) {
      throw InputError(fmt::format("{} is not within {} to {}", x, kLeast, kMost));
    }
  }
  return static_cast<To>(x);
}

}  // namespace poet::onnx
