#pragma once

// A training graph as a chain of blocks, for the methods that are defined on chains only (revolve, rotor,
// POFO).
//
// The forward pass is cut where exactly one forward value crosses from the ops before to the ops after. What
// only backward ops read (pool indices, dropout masks, batch statistics) does not count, nor does data of the
// step (targets, attention masks), which stays in RAM. The backward and update ops, whose order is fixed, are
// divided into one contiguous run per block, last block first: an op that reads the interior of a block
// belongs to it; one that reads only the value between two blocks, or gradients alone, stays with the later
// block as long as it can. A block left without backward ops becomes part of the one before it, since nobody
// would ever recompute it for its own sake: a convolution and its activation, where the activation's gradient
// needs its result only, which the next block has as its input.

#include <cstddef>
#include <string>
#include <vector>

#include "poet/cost/instance.h"
#include "poet/graph/dataflow.h"

namespace poet {

struct ChainBlock {
  std::vector<OpId> forward;   // all its ops, in order: what computes it for the first time
  std::vector<OpId> advance;   // of them, what computes `output` again
  std::vector<OpId> record;    // of them, what computes `output` and `saved` again
  std::vector<OpId> turn;      // of them, what computes again what `backward` reads
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
  std::string reason;              // why the graph is no chain, part of a sentence; empty when it is one
};

/// `instance` must be verified. O(ops + values + edges).
[[nodiscard]] Chain chain_of(const Instance& instance, const Dataflow& flow);

/// "on a chain of 8 blocks (of 66 forward ops)".
[[nodiscard]] std::string chain_note(const Chain& chain);

/// Every block recorded, then reversed: nothing is computed twice.
[[nodiscard]] std::vector<OpId> recording_order(const Chain& chain);

/// The ops of a schedule of a chain in the order in which they run. A block's first computation runs all its
/// ops, whatever it is for; a repetition leaves out ops whose results nobody reads.
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
