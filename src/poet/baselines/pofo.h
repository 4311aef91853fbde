#pragma once

#include "poet/baselines/method.h"

namespace poet {

/// POFO: a chain's blocks are kept, recomputed or offloaded so that the step takes the least time
/// (pofo_table.h). One plan, and the one that keeps everything, as for rotor. The link's speed is what the
/// instance's transfers of the blocks' inputs and saved values come to, latencies included; where the
/// semantics charges no time for transfers, their seconds still say what the method is to reckon with.
/// Offloads go on the channel where the program lets them start; compute waits for one where its RAM is
/// wanted, as in the program. Page-ins leave in the order of their uses, after the loss, as early as RAM
/// allows (overlap.h); then plan_transfers() makes what it can of the gaps. On a device whose transfers block
/// compute the overlap that the program reckons with does not happen. Time is all that counts in it: what
/// transfers draw, and limits on time and on writing, are ignored. Not defined for staged semantics, where a
/// transfer lasts as long as its stage, and without storage. Where nothing needs to be offloaded, or the
/// program finds nothing faster, the plan is rotor's with seconds for costs.
[[nodiscard]] MethodAnswer pofo(const MethodRequest& request);

/// The same for a device without DMA, as POET's paper compares with it: compute stands still during each
/// transfer, in the program as in the plan.
[[nodiscard]] MethodAnswer pofo_blocking(const MethodRequest& request);

}  // namespace poet
