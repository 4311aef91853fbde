#pragma once

// Random numbers by number: each is a function of a key and a counter and of nothing drawn before, so any of
// them can be made again, in any order, without state.

#include <cmath>
#include <cstdint>
#include <numbers>
#include <string_view>

namespace poet::runtime {

/// A bijection of 64 bits in which every bit of the result depends on every bit of x (the finaliser of
/// SplitMix64; Steele, Lea, Flood, "Fast Splittable Pseudorandom Number Generators", 2014).
[[nodiscard]] constexpr std::uint64_t scattered(std::uint64_t x) {
  x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27U)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31U);
}

[[nodiscard]] constexpr std::uint64_t random_bits(std::uint64_t key, std::uint64_t counter) {
  constexpr std::uint64_t kGamma = 0x9e3779b97f4a7c15ULL;  // 2^64 / golden ratio: SplitMix64's step
  return scattered(scattered(key + kGamma) + (counter + 1) * kGamma);
}

/// A key of its own for part `part` of what `key` is for.
[[nodiscard]] constexpr std::uint64_t subkey(std::uint64_t key, std::uint64_t part) {
  return random_bits(scattered(~key), part);
}

/// The key of a name (64-bit FNV-1a).
[[nodiscard]] constexpr std::uint64_t key_of(std::string_view name) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  return hash;
}

/// In [0, 1).
[[nodiscard]] constexpr double random_uniform(std::uint64_t key, std::uint64_t counter) {
  return static_cast<double>(random_bits(key, counter) >> 11U) * 0x1p-53;
}

/// Mean 0, variance 1 (Box and Muller, 1958).
[[nodiscard]] inline double random_normal(std::uint64_t key, std::uint64_t counter) {
  const double radius = std::sqrt(-2.0 * std::log(1.0 - random_uniform(key, 2 * counter)));
  return radius * std::cos(2.0 * std::numbers::pi * random_uniform(key, 2 * counter + 1));
}

/// Below `bound`, which is far below 2^53.
[[nodiscard]] constexpr std::int64_t random_below(std::uint64_t key, std::uint64_t counter,
                                                  std::int64_t bound) {
  return static_cast<std::int64_t>(random_uniform(key, counter) * static_cast<double>(bound));
}

}  // namespace poet::runtime
