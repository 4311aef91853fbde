#include "poet/runtime/kernels/onednn/wide_loops.h"

#include <cmath>

#include "poet/runtime/kernels/onednn/instructions.h"
#include "poet/runtime/kernels/onednn/lanes.h"

namespace poet::runtime::onednn {
#define POET_INSTRUCTIONS
#define POET_LOOPS baseline
#include "poet/runtime/kernels/onednn/wide_loops.inc"

#if defined(__x86_64__)
#define POET_INSTRUCTIONS POET_AVX2
#define POET_LOOPS avx2
#include "poet/runtime/kernels/onednn/wide_loops.inc"

#define POET_INSTRUCTIONS POET_AVX512
#define POET_LOOPS avx512
#include "poet/runtime/kernels/onednn/wide_loops.inc"
#endif

const WideLoops& wide_loops() {
#if defined(__x86_64__)
  if (instructions() == Instructions::avx512) return avx512::kLoops;
  if (instructions() == Instructions::avx2) return avx2::kLoops;
#endif
  return baseline::kLoops;
}

}  // namespace poet::runtime::onednn
