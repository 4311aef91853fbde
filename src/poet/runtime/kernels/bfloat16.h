#pragma once

// bfloat16: the upper half of a float32, so with its range and 8 of its 24 bits of precision.

#include <bit>
#include <cstdint>

namespace poet::runtime {

/// Exact.
[[nodiscard]] inline float widened(std::uint16_t number) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(number) << 16U);
}

/// The nearest one, of two as near the even one. What is finite stays so: beyond the largest one (3.39e38),
/// where IEEE's rule gives infinity, it is the largest one. A mask of the least float32 is no infinity then,
/// of which a softmax makes no number. What is no number stays none.
[[nodiscard]] inline std::uint16_t rounded_to_bfloat16(float number) {
  constexpr std::uint32_t kInfinity = 0x7f800000U, kLargest = 0x7f7fU, kQuiet = 0x0040U;
  const auto bits = std::bit_cast<std::uint32_t>(number);
  const std::uint32_t magnitude = bits & 0x7fffffffU, sign = (bits >> 16U) & 0x8000U;
  std::uint32_t half = (magnitude + 0x7fffU + ((magnitude >> 16U) & 1U)) >> 16U;
  half = magnitude < kInfinity && half > kLargest ? kLargest : half;
  half = magnitude > kInfinity ? (magnitude >> 16U) | kQuiet : half;
  return static_cast<std::uint16_t>(sign | half);
}

/// Of `count` numbers. `from` and `to` do not overlap.
void widen(const std::uint16_t* from, std::int64_t count, float* to);
void round_to_bfloat16(const float* from, std::int64_t count, std::uint16_t* to);

}  // namespace poet::runtime
