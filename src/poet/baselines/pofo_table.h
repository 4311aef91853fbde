#pragma once

// Which blocks of a chain are kept, recomputed or offloaded: the dynamic program of POFO, Beaumont,
// Eyraud-Dubois, Shilova 2021 (NeurIPS, "Efficient Combination of Rematerialization and Offloading for
// Training DNNs"), as far as its authors' supplement and the port in ColossalAI (ckpt_solver_pofo.py) go.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "poet/baselines/chain.h"
#include "poet/baselines/chain_memory.h"
#include "poet/baselines/rotor.h"

namespace poet {

struct PofoLink {
  double out_bytes_per_second = 0;
  double in_bytes_per_second = 0;
  bool blocking = false;  // compute stands still during a transfer
};

/// What happens from block `first` on, before its first forward pass and after its last backward op.
struct PofoPiece {
  std::size_t first = 0;
  std::size_t next = 0;  // the piece after it begins there
  /// F_all of one block; otherwise first to next - 1 are only run through (F_ck, F_null).
  bool recorded = false;
  bool offloaded = false;  // its input, and what the block before saved if that was recorded
  bool kept = false;       // the block before reads this piece's input in its backward ops, and was recorded
  Bytes held;              // otherwise: what rotor may take for held while the piece is reversed
};

struct PofoPlan {
  std::vector<PofoPiece> pieces;  // the last one is the last block; empty when nothing fits
  double seconds = 0;             // of the blocks, as the program sees it
};

/// Of one-piece-after-another decisions the fastest, in the paper's states: block, bytes kept in RAM, bytes
/// offloaded but not yet sent, bytes that must have been prefetched when the block's backward ops end, and
/// whether the block before was recorded. An offload starts with the piece's forward pass; what must leave
/// before there is room for it makes compute wait; a prefetch ends before the piece's backward ops begin. At
/// the turn the rest is sent and fetched while nothing computes.
///
/// Three things differ from the port. Byte counts stay exact: states that fall into one cell of a grid of
/// `cells` per axis are merged, the faster one kept, where the port rounds all counts up to the grid at each
/// block. A piece that is recomputed while a prefetch is under way reserves the prefetch's bytes, or is
/// recomputed first and waits for it then, whichever is faster; the port takes the mean of two estimates that
/// ignore these bytes. And the link may have two speeds. With a blocking link transfers cost their time and
/// leave nothing outstanding. Of equally fast ways the one that offloads less is taken; the paper leaves that
/// open.
///
/// `times` is rotor's table of seconds, for the same budget. States that cannot lead to a faster step than
/// rotor's, or than a first round in a coarser grid finds, are left out. When `stop` says so: what is known
/// by then, maybe nothing. O(blocks² * states).
[[nodiscard]] PofoPlan pofo_plan(const Chain& chain, const std::vector<BlockMemory>& memory,
                                 const RotorTable& times, Bytes budget, const PofoLink& link,
                                 const std::function<bool()>& stop, int cells = 50);

}  // namespace poet
