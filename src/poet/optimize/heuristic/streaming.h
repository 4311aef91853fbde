#pragma once

// A plan in one pass over the ops, for RAM in which almost nothing can stay: before each op room is made by
// taking from RAM what is least worth its place, and what the op reads is brought back by the cheaper of
// page-in and recomputation. Decisions are made in the order in which they are carried out, so that the
// result is a list of steps, with no retained set per stage.

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "poet/optimize/problem/gaps.h"
#include "poet/optimize/problem/problem.h"
#include "poet/plan/plan.h"

namespace poet {

/// How what lies in RAM is ranked. A value in a gap ranks by what bringing it back costs, over its bytes and
/// the rent of the ops until it is used.
struct StreamingGuide {
  std::vector<double> rent;  // per op: of a byte
  std::vector<double> kept;  // per gap: 1 keeps its value before all that have 0; empty: 0
  bool by_distance = false;  // farthest next use leaves first, whatever it costs (Belady)
  /// Recomputing from operands, which want RAM meanwhile, counts for so many times its price; infinite: a
  /// value leaves without a copy only where it is made of nothing.
  double caution = 1;
  std::int64_t alignment = 0;  // more: everything gets an address, a multiple of it
  bool in_slots = false;       // with addresses: what is large at multiples of the largest value's size
};

/// Where something lies from when it is taken into RAM.
struct Taken {
  int taking = 0;  // of the steps that page in or compute, the one that takes it, by number
  int value = -1;  // -1: workspace of the op
  std::int64_t offset = 0;
};

/// What a pass did with a value: from one entry into RAM to its leaving, in ops.
struct RamInterval {
  int from = 0;
  int to = 0;  // the op before which it has left; Problem::ops where it stays
};

struct Stream {
  Plan plan;           // without waits; page-outs right after their value is complete, frees where it leaves
  double joules = 0;   // of its steps, idle power over its computations included; transfers take no time
  double seconds = 0;  // computing
  std::int64_t bytes_written = 0;
  std::vector<std::vector<RamInterval>> in_ram;  // per value, in order
  std::vector<Taken> addresses;                  // in order; none where no addresses were asked for
};

class Streaming {
 public:
  Streaming(const Problem& problem, const Gaps& gaps);

  /// Nothing where an op's needs do not fit beside what its operands' recomputation takes, or where `stop`
  /// says so. What is known of an earlier pass, `before`, says which operands will be in RAM when something
  /// is to be recomputed. O(edges + evictions * values in RAM).
  [[nodiscard]] std::optional<Stream> run(const StreamingGuide& guide, const Stream* before,
                                          const std::function<bool()>& stop) const;

  /// Per gap: what recomputing its value at its end costs, after a pass.
  [[nodiscard]] std::vector<double> recomputation(const Stream* before) const;

 private:
  const Problem& p_;
  const Gaps& gaps_;
};

}  // namespace poet
