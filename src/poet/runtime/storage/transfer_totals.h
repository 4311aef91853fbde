#pragma once

#include "poet/base/units.h"

namespace poet::runtime {

/// What a channel has carried.
struct TransferTotals {
  Seconds reading{};  // the channel's own time
  Seconds writing{};
  Bytes read{};
  Bytes written{};
};

}  // namespace poet::runtime
