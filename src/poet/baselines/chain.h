#pragma once

// A training graph as a chain of blocks, for the methods that are defined on chains only (revolve, rotor,
// POFO).
//
// The forward pass is cut where exactly one forward value crosses from the ops before to the ops after.
// Values read by backward ops only (pool indices, dropout masks, batch statistics) do not count, nor do
// inputs of the step (targets, attention masks), which stay in RAM. The backward and update ops, whose order
// is fixed, are divided into one contiguous run per block, last block first: an op that reads the interior of
// a block belongs to it; one that reads only the value between two blocks, or gradients alone, stays with the
// later block as long as it can. A block without backward ops is merged into the one before, as it would
// never be recomputed for itself: for example an activation whose gradient needs only its result, the input
// of the next block.

#include <cstddef>
#include <string>
#include <vector>

#include "poet/cost/instance.h"
#include "poet/graph/dataflow.h"

namespace poet {

struct ChainBlock {
  std::vector<OpId> forward;   // all ops, in order: the first computation
  std::vector<OpId> advance;   // those that recompute `output`
  std::vector<OpId> record;    // those that recompute `output` and `saved`
  std::vector<OpId> turn;      // those that recompute the operands of `backward`
  std::vector<OpId> backward;  // backward and update ops, consecutive
  ValueId input;               // invalid: a first block that reads data of the step only, or nothing
  ValueId output;              // the next block's input; invalid: last block
  std::vector<ValueId> saved;  // interior values that `backward` reads, increasing
  bool reads_input = false;    // by `backward`
  bool reads_output = false;
};

struct Chain {
  std::vector<OpId> inputs;        // ops before the first block: data of the step
  std::vector<ValueId> pinned;     // data of the step that is no block's `input`: in RAM until its last use
  std::vector<ChainBlock> blocks;  // at least three
  std::size_t forward_ops = 0;     // of all blocks
  std::string reason;              // why the graph is no chain, part of a sentence; empty if it is one
};

/// Returns the chain of a verified instance. O(ops + values + edges).
[[nodiscard]] Chain chain_of(const Instance& instance, const Dataflow& flow);

/// Returns "on a chain of 8 blocks (of 66 forward ops)".
[[nodiscard]] std::string chain_note(const Chain& chain);

/// Returns the order that records every block, then reverses it: nothing is recomputed.
[[nodiscard]] std::vector<OpId> recording_order(const Chain& chain);

/// Builds the order of ops of a schedule of a chain. A block's first computation runs all its ops; a
/// repetition omits ops whose results are not read.
class ChainOrder {
 public:
  explicit ChainOrder(const Chain& chain)
      : chain_(chain), order_(chain.inputs), computed_(chain.blocks.size()) {}

  void advance(std::size_t block) { compute(block, chain_.blocks[block].advance); }
  void record(std::size_t block) { compute(block, chain_.blocks[block].record); }
  void turn(std::size_t block) { compute(block, chain_.blocks[block].turn); }
  void backward(std::size_t block) { append(chain_.blocks[block].backward); }

  [[nodiscard]] const std::vector<OpId>& ops() const { return order_; }

 private:
  void compute(std::size_t block, const std::vector<OpId>& again) {
    append(computed_[block] ? again : chain_.blocks[block].forward);
    computed_[block] = true;
  }
  void append(const std::vector<OpId>& ops) { order_.insert(order_.end(), ops.begin(), ops.end()); }

  const Chain& chain_;
  std::vector<OpId> order_;
  std::vector<bool> computed_;
};

}  // namespace poet
