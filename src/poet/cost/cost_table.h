#pragma once

// What the optimiser and the verifier know of a device: per op and per value, in SI units. Everything above
// (operator kinds, device profiles, rooflines) ends here.

#include <optional>

#include "poet/base/id.h"
#include "poet/base/units.h"
#include "poet/cost/variation.h"

namespace poet {

struct OpCost {
  Seconds runtime{};
  Joules energy{};    // increment over idle power
  Bytes workspace{};  // scratch RAM while the op runs
};

struct TransferCost {
  Seconds seconds{};
  Joules energy{};  // increment over idle power
};

struct ValueCost {
  // RAM that the value occupies; 0 for views and for what the user excluded from the budget. A resident
  // persistent value's are part of CostTable::persistent.
  Bytes bytes{};
  TransferCost page_out{};
  TransferCost page_in{};
};

/// Behind each row of a table on storage (Value::rows): when it was written, and a checksum.
inline constexpr Bytes kRowMark{16};

/// Of an address in RAM: a power of two up to this one.
inline constexpr Bytes kMostAlignment{4096};

/// How transfers and idling behave; meaningful in device semantics only.
struct DeviceTiming {
  bool concurrent = true;  // storage channel runs beside compute (DMA); false: it blocks compute
  Watts idle{};            // drawn for the whole makespan
  Seconds wake_time{};     // before the first transfer of a burst
  Joules wake_energy{};    // per burst
  std::optional<TimeVariation> variation = {};  // of times around those of the table; absent: not known
};

struct CostTable {
  IdVector<OpId, OpCost> ops;
  IdVector<ValueId, ValueCost> values;
  Bytes persistent{};                     // resident parameters and optimiser state: in RAM at every instant
  bool has_storage = true;                // false: nothing can be paged
  std::optional<Bytes> storage_capacity;  // a step writes no more: every page-out needs a place of its own
  Bytes alignment{1};                     // every address in RAM is a multiple of it; a power of two
  DeviceTiming timing{};
};

}  // namespace poet
