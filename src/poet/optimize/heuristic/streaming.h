#pragma once

// A plan in one pass over the ops, for RAM in which almost nothing can stay: before each op, the values least
// worth their RAM are evicted, and missing operands are restored by the cheaper of page-in and recomputation.
// Decisions are made in execution order, so the result is a list of steps without retained sets per stage.

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "poet/optimize/problem/gaps.h"
#include "poet/optimize/problem/problem.h"
#include "poet/plan/plan.h"

namespace poet {

/// How values in RAM are ranked for eviction. In a gap, a value ranks by the price of restoring it, divided
/// by its bytes and by the rent of the ops until its next use.
struct StreamingGuide {
  std::vector<double> rent;  // per op, of a byte
  std::vector<double> kept;  // per gap: 1 retains its value in preference to all with 0; empty: 0
  bool by_distance = false;  // evict the farthest next use, whatever it costs (Belady)
  /// Factor on the price of recomputation from operands, which take RAM meanwhile. Infinite: only values
  /// without operands are evicted without a copy.
  double caution = 1;
  std::int64_t alignment = 0;  // if > 0, every value gets an address that is a multiple of it
  bool in_slots = false;       // with addresses: large values lie at multiples of the largest value's size
};

/// The address of a value or workspace from one allocation on.
struct StreamAddress {
  int allocation = 0;  // the step that allocates it, counted among page-ins and computations
  int value = -1;      // -1: workspace of the op
  std::int64_t offset = 0;
};

/// A live range of a value in RAM, in ops.
struct RamInterval {
  int from = 0;
  int to = 0;  // the op before which it is freed; Problem::ops if it stays
};

struct Stream {
  Plan plan;           // without waits; page-outs right after their value is complete
  double joules = 0;   // of its steps, with idle power during computations; transfers take no time
  double seconds = 0;  // of computations
  std::int64_t bytes_written = 0;
  std::vector<std::vector<RamInterval>> in_ram;  // per value, in order
  std::vector<StreamAddress> addresses;          // in order; none where no addresses were asked for
};

class Streaming {
 public:
  Streaming(const Problem& problem, const Gaps& gaps);

  /// Returns nullopt if an op does not fit beside the operands being recomputed, or when stopped. `before`,
  /// an earlier pass, predicts which operands will be in RAM; may be null. O(edges + evictions * values in
  /// RAM).
  [[nodiscard]] std::optional<Stream> run(const StreamingGuide& guide, const Stream* before,
                                          const std::function<bool()>& stop) const;

  /// Returns, per gap, the predicted price of recomputing its value at its end. `before` as in run(); once
  /// stopped, further prices are infinite.
  [[nodiscard]] std::vector<double> recomputation(const Stream* before,
                                                  const std::function<bool()>& stop) const;

 private:
  const Problem& p_;
  const Gaps& gaps_;
};

}  // namespace poet
