#pragma once

// The costs of ops and values on a device, in SI units: all that the optimiser and the verifier know of it.
// They do not depend on operator kinds, device profiles or cost models.

#include <optional>
#include <string>

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
  // RAM that the value occupies; 0 for views and for values excluded from the budget. Bytes of resident
  // persistent values are included in CostTable::persistent.
  Bytes bytes{};
  TransferCost page_out{};
  TransferCost page_in{};
};

/// Bytes behind each row of a table on storage (Value::rows): the step in which it was written, and a
/// checksum.
inline constexpr Bytes kRowMark{16};

/// The largest alignment of addresses in RAM; alignments are powers of two.
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
  Bytes persistent{};  // resident parameters and optimiser state: in RAM at every instant
  std::string persistent_of = "parameters and optimiser state";  // what `persistent` counts; for display
  bool has_storage = true;                                       // false: nothing can be paged
  /// The limit of bytes written per step: every page-out needs a place of its own.
  std::optional<Bytes> storage_capacity;
  Bytes alignment{1};  // every address in RAM is a multiple of it; a power of two
  DeviceTiming timing{};
};

}  // namespace poet
