/* The order of the samples, as the host's runs have it: a keyed permutation of any size, from a Feistel
 * network over the next larger power of four and cycle walking. */
#include "poet_engine.h"

static uint64_t wide(uint32_t high, uint32_t low) { return ((uint64_t)high << 32) | low; }

/* A bijection of 64-bit words that scatters them: the finaliser of SplitMix64. */
static uint64_t scattered(uint64_t x) {
  x = (x ^ (x >> 30)) * wide(0xBF58476DU, 0x1CE4E5B9U);
  x = (x ^ (x >> 27)) * wide(0x94D049BBU, 0x133111EBU);
  return x ^ (x >> 31);
}

static uint64_t random_bits(uint64_t key, uint64_t counter) {
  const uint64_t gamma = wide(0x9E3779B9U, 0x7F4A7C15U);
  return scattered(scattered(key + gamma) + (counter + 1) * gamma);
}

static uint64_t subkey(uint64_t key, uint64_t part) { return random_bits(scattered(~key), part); }

uint32_t poet_sample_of(uint32_t step, uint32_t i, uint32_t batch, uint32_t samples, uint32_t seed_low,
                        uint32_t seed_high) {
  const uint32_t steps_per_epoch = samples / batch;
  const uint64_t key = subkey(wide(seed_high, seed_low), (step - 1) / steps_per_epoch);
  uint64_t x = (uint64_t)((step - 1) % steps_per_epoch) * batch + i;
  unsigned bits = 0, half, round;
  uint32_t left_over = samples - 1;
  for (; left_over != 0; left_over >>= 1) ++bits;
  half = (bits + 1) / 2;
  do {
    uint64_t left = x >> half, right = x & (((uint64_t)1 << half) - 1);
    for (round = 0; round < 8; ++round) {
      const uint64_t next = left ^ (random_bits(subkey(key, round), right) & (((uint64_t)1 << half) - 1));
      left = right;
      right = next;
    }
    x = (left << half) | right;
  } while (x >= samples);
  return (uint32_t)x;
}
