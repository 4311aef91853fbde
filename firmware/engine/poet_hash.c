/* XXH32, the 32-bit hash of the xxHash family as its specification has it. */
#include <string.h>

#include "poet_engine.h"

#define PRIME1 0x9E3779B1U
#define PRIME2 0x85EBCA77U
#define PRIME3 0xC2B2AE3DU
#define PRIME4 0x27D4EB2FU
#define PRIME5 0x165667B1U

static uint32_t rotated(uint32_t x, unsigned bits) { return (x << bits) | (x >> (32U - bits)); }

static uint32_t word_at(const uint8_t* at) {
  uint32_t word;
  memcpy(&word, at, sizeof word);
  return word;
}

static uint32_t mixed(uint32_t lane, uint32_t word) { return rotated(lane + word * PRIME2, 13) * PRIME1; }

uint32_t poet_hash(const void* bytes, uint32_t count, uint32_t seed) {
  const uint8_t* at = bytes;
  const uint32_t all = count;
  uint32_t h;
  if (count >= 16) {
    uint32_t a = seed + PRIME1 + PRIME2, b = seed + PRIME2, c = seed, d = seed - PRIME1;
    for (; count >= 16; count -= 16, at += 16) {
      a = mixed(a, word_at(at));
      b = mixed(b, word_at(at + 4));
      c = mixed(c, word_at(at + 8));
      d = mixed(d, word_at(at + 12));
    }
    h = rotated(a, 1) + rotated(b, 7) + rotated(c, 12) + rotated(d, 18);
  } else {
    h = seed + PRIME5;
  }
  h += all;
  for (; count >= 4; count -= 4, at += 4) h = rotated(h + word_at(at) * PRIME3, 17) * PRIME4;
  for (; count > 0; --count, ++at) h = rotated(h + *at * PRIME5, 11) * PRIME1;
  h = (h ^ (h >> 15)) * PRIME2;
  h = (h ^ (h >> 13)) * PRIME3;
  return h ^ (h >> 16);
}
