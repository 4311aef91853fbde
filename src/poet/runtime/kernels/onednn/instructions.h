#pragma once

// Which of the loops that are compiled more than once runs here: as new as oneDNN may use.

namespace poet::runtime::onednn {

enum class Instructions { baseline, avx2, avx512 };

[[nodiscard]] Instructions instructions();

// Function attributes.
#define POET_AVX2 __attribute__((target("avx2,fma")))
#define POET_AVX512 __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma")))

}  // namespace poet::runtime::onednn
