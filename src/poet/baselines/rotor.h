#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "poet/baselines/chain.h"
#include "poet/baselines/chain_memory.h"
#include "poet/baselines/method.h"

namespace poet {

// Optimal memory-persistent checkpointing of heterogeneous chains: Beaumont, Eyraud-Dubois, Herrmann, Joly,
// Shilova 2019 (arXiv 1911.13214), section 4; the program rotor.

/// The dynamic program over (memory held outside, first block, last block): the least cost of running the
/// backward ops of blocks i to j, with the input of block i in RAM and backward ops of later blocks done.
/// Either block i is recorded (F_all) and blocks i + 1 to j are reversed before its backward ops run; or the
/// chain is run from the checkpointed input of i (F_ck, F_null) to that of some k, k to j are reversed from
/// there, then i to k - 1.
///
/// Costs are joules (of the ops, and of idling while they run), of which seconds are a special case. Memory
/// is what the verifier counts: a value leaves after its last use, which for block i's input depends on
/// whether the backward ops of the block before read it (`kept`). What is held outside is counted in slots,
/// rounded upwards; peaks on top of it in bytes. So a schedule that the table holds for feasible is.
///
/// The authors' program divides the memory into 500 slots; these are up to 5,000, as far as 64 MB of table
/// go. Some 0.2 s for 60 blocks. O(blocks³ * slots) time, O(blocks² * slots) memory.
class RotorTable {
 public:
  /// `budget` for transient bytes; `slots` is the most that it may use, fewer where the chain is long.
  RotorTable(const Chain& chain, const std::vector<BlockMemory>& memory, Bytes budget, int slots = 5000);

  /// Infinite where nothing fits. All of a step's cost but that of the backward ops for first = 0, last the
  /// last block and nothing held.
  [[nodiscard]] double cost(Bytes held, std::size_t first, std::size_t last, bool kept) const;

  /// Runs what cost() stands for, which must be finite.
  void emit(Bytes held, std::size_t first, std::size_t last, bool kept, ChainOrder& order) const;

 private:
  struct Choice {
    double cost;
    std::size_t next;  // first: nothing is left (one block) or it is recorded; else the block to run to
  };
  using Row = std::vector<double>;  // per slot held

  [[nodiscard]] std::size_t index(std::size_t first, std::size_t last, bool kept) const;
  [[nodiscard]] int slots_of(Bytes bytes) const;
  /// Slots that may be held while `peak` comes on top; negative: none.
  [[nodiscard]] int most_held(Bytes peak) const;
  void fill(std::size_t first, std::size_t last, bool kept);
  [[nodiscard]] Choice best(int held, std::size_t first, std::size_t last, bool kept) const;
  void emit(int held, std::size_t first, std::size_t last, bool kept, ChainOrder& order) const;
  [[nodiscard]] bool stays(std::size_t block, bool kept) const;
  [[nodiscard]] int held_by_record(std::size_t block, bool kept) const;
  [[nodiscard]] int most_held_by_turn(std::size_t block, bool kept, bool initial) const;
  [[nodiscard]] int most_held_by_record(std::size_t block, std::size_t last, bool kept, bool initial) const;

  const Chain& chain_;
  const std::vector<BlockMemory>& memory_;
  Bytes budget_;
  Bytes slot_{1};
  int slots_ = 0;
  std::vector<Row> rows_;
};

/// The table's plan for the whole budget, and the one that records every block, which the table chooses where
/// there is RAM for it, but for what rounding takes. The reason tells when there is none.
[[nodiscard]] MethodAnswer rotor(const MethodRequest& request);

}  // namespace poet
