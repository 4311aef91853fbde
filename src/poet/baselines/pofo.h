#pragma once

#include "poet/baselines/method.h"

namespace poet {

/// POFO: a chain's blocks are kept, recomputed or offloaded so that the step takes the least time
/// (pofo_table.h). One plan. The link's speed is what the instance's transfers of the blocks' inputs and
/// saved values come to, latencies included; where the semantics charges no time for transfers, their seconds
/// still say what the method is to reckon with. Offloads go on the channel where the program lets them start;
/// a value's RAM is waited for when it is needed, which is when the program lets compute wait. Page-ins are
/// where they are wanted, and on a device plan_transfers() moves them ahead as far as RAM allows: the
/// program's prefetches. Time is all that counts in it: what transfers draw and what limits there are on
/// writing is ignored. Not defined for staged semantics, where a transfer lasts as long as its stage, and
/// without storage.
[[nodiscard]] MethodAnswer pofo(const MethodRequest& request);

/// The same for a device without DMA, as POET's paper compares with it: compute stands still during each
/// transfer, in the program as in the plan.
[[nodiscard]] MethodAnswer pofo_blocking(const MethodRequest& request);

}  // namespace poet
