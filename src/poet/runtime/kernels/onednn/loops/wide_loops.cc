#include "poet/runtime/kernels/onednn/loops/wide_loops.h"

#include <cmath>

#include "poet/runtime/kernels/onednn/loops/instruction_sets.h"
#include "poet/runtime/kernels/onednn/loops/lanes.h"

namespace poet::runtime::onednn {
#define POET_LOOPS_FILE "poet/runtime/kernels/onednn/loops/wide_loops.inc"
#include "poet/runtime/kernels/onednn/loops/every_instruction_set.inc"

const WideLoops& wide_loops() { return POET_HERE(kLoops); }

}  // namespace poet::runtime::onednn
