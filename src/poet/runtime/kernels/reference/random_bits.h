#pragma once

// Philox-4x32-10, a counter-based generator: Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy
// as 1, 2, 3" (SC 2011). Ten rounds of a keyed bijection of 128-bit counters, so that number n of a stream
// costs the same as number 0 and nothing has to be kept between two of them.

#include <array>
#include <cstdint>

namespace poet::runtime {

using Philox4 = std::array<std::uint32_t, 4>;

/// Four random words, a function of the arguments alone.
[[nodiscard]] inline Philox4 philox(Philox4 counter, std::uint64_t key) {
  auto key0 = static_cast<std::uint32_t>(key);
  auto key1 = static_cast<std::uint32_t>(key >> 32U);
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t a = std::uint64_t{0xD2511F53U} * counter[0];
    const std::uint64_t b = std::uint64_t{0xCD9E8D57U} * counter[2];
    counter = {static_cast<std::uint32_t>(b >> 32U) ^ counter[1] ^ key0, static_cast<std::uint32_t>(b),
               static_cast<std::uint32_t>(a >> 32U) ^ counter[3] ^ key1, static_cast<std::uint32_t>(a)};
    key0 += 0x9E3779B9U;  // the golden ratio and sqrt(3) - 1, as the paper has them
    key1 += 0xBB67AE85U;
  }
  return counter;
}

/// The words of elements 4 block ... 4 block + 3 of a dropout: no two of (seed of the dropout below 2^32,
/// step and block below 2^48) share a counter, and the seed of the run is the key.
[[nodiscard]] inline Philox4 dropout_words(std::uint64_t run_seed, std::uint64_t op_seed, std::uint64_t step,
                                           std::uint64_t block) {
  const auto high = ((step >> 32U) << 16U) | (block >> 32U);
  return philox({static_cast<std::uint32_t>(block), static_cast<std::uint32_t>(high),
                 static_cast<std::uint32_t>(step), static_cast<std::uint32_t>(op_seed)},
                run_seed);
}

}  // namespace poet::runtime
