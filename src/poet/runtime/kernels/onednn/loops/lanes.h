#pragma once

// Sixteen numbers at any address; the compiler makes of them what the instruction set has.

#include <cstdint>

namespace poet::runtime::onednn {

using Lanes = float __attribute__((vector_size(64), aligned(4), may_alias));
inline constexpr std::int64_t kLanes = 16;

#define POET_LOAD(address) (*reinterpret_cast<const Lanes*>(address))
#define POET_STORE(address) (*reinterpret_cast<Lanes*>(address))

}  // namespace poet::runtime::onednn
