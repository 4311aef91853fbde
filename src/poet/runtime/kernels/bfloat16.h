#pragma once

// bfloat16: the upper half of a float32, so with its range and 8 of its 24 bits of precision.

#include <bit>
#include <cstdint>

namespace poet::runtime {

/// Exact conversion to float32.
[[nodiscard]] inline float widened(std::uint16_t number) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(number) << 16U);
}

/// Rounds to the nearest bfloat16, ties to even. Finite numbers beyond the largest bfloat16 (3.39e38) become
/// that, unlike in IEEE 754: a mask of -FLT_MAX stays finite, and the softmax of a fully masked row has no
/// NaN. NaN stays NaN.
[[nodiscard]] inline std::uint16_t rounded_to_bfloat16(float number) {
  constexpr std::uint32_t kInfinity = 0x7f800000U, kLargest = 0x7f7fU, kQuiet = 0x0040U;
  const auto bits = std::bit_cast<std::uint32_t>(number);
  const std::uint32_t magnitude = bits & 0x7fffffffU, sign = (bits >> 16U) & 0x8000U;
  std::uint32_t half = (magnitude + 0x7fffU + ((magnitude >> 16U) & 1U)) >> 16U;
  half = magnitude < kInfinity && half > kLargest ? kLargest : half;
  half = magnitude > kInfinity ? (magnitude >> 16U) | kQuiet : half;
  return static_cast<std::uint16_t>(sign | half);
}

/// Convert `count` numbers. `from` and `to` must not overlap.
void widen(const std::uint16_t* from, std::int64_t count, float* to);
void round_to_bfloat16(const float* from, std::int64_t count, std::uint16_t* to);

}  // namespace poet::runtime
