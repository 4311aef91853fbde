#pragma once

// Loops that are compiled once per instruction set (every_instruction_set.inc), and which of them run here:
// as new as oneDNN may use.

namespace poet::runtime::onednn {

enum class Instructions { baseline, avx2, avx512 };

[[nodiscard]] Instructions instructions();

// The constant `name` of one of the namespaces baseline, avx2 and avx512.
#if defined(__x86_64__)
#define POET_HERE(name)                                  \
  (instructions() == Instructions::avx512 ? avx512::name \
   : instructions() == Instructions::avx2 ? avx2::name   \
                                          : baseline::name)
#else
#define POET_HERE(name) baseline::name
#endif

}  // namespace poet::runtime::onednn
