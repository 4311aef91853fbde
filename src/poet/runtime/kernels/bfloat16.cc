#include "poet/runtime/kernels/bfloat16.h"

namespace poet::runtime {

void widen(const std::uint16_t* __restrict from, std::int64_t count, float* __restrict to) {
  for (std::int64_t i = 0; i < count; ++i) to[i] = widened(from[i]);
}

void round_to_bfloat16(const float* __restrict from, std::int64_t count, std::uint16_t* __restrict to) {
  for (std::int64_t i = 0; i < count; ++i) to[i] = rounded_to_bfloat16(from[i]);
}

}  // namespace poet::runtime
