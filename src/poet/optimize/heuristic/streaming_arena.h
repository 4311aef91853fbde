#pragma once

// Addresses for a streaming pass. A value larger than every hole cannot use fragmented RAM, which is much of
// it when RAM holds a handful of values. So adjacent blocks are evicted together.

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace poet {

class StreamingArena {
 public:
  struct Block {
    std::int64_t begin;
    std::int64_t end;
    int id;
  };

  /// Offsets are multiples of `alignment`. Blocks smaller than `small` are placed from the top, others at
  /// multiples of `slot`: if they are of similar size, the hole that one leaves fits any other.
  StreamingArena(std::int64_t bytes, std::int64_t alignment, std::int64_t small, std::int64_t slot)
      : bytes_(bytes), alignment_(alignment), small_(small), slot_(slot) {}

  /// Puts a block into the smallest hole that it fits in (best fit); nullopt if there is none. O(blocks).
  std::optional<std::int64_t> put(int id, std::int64_t bytes);
  void remove(int id);
  /// Renames block `from` to `to`, of the same size. O(blocks).
  void replace(int from, int to);

  /// Returns the adjacent blocks of least total loss whose eviction makes room for `bytes`; nullopt if there
  /// are none. `loss` >= 0 is infinite for blocks that have to stay. O(blocks).
  [[nodiscard]] std::optional<std::vector<int>> in_the_way(std::int64_t bytes,
                                                           const std::function<double(int)>& loss) const;

 private:
  [[nodiscard]] std::int64_t rounded(std::int64_t bytes) const {
    return (bytes + alignment_ - 1) / alignment_ * alignment_;
  }

  /// The end of the hole before a block, or of the last hole.
  [[nodiscard]] std::int64_t hole_end(std::size_t block) const {
    return block < blocks_.size() ? blocks_[block].begin : bytes_ / alignment_ * alignment_;
  }

  /// The offset at which a block of `bytes` may begin in a hole.
  [[nodiscard]] std::int64_t begin_in_hole(std::int64_t begin, std::int64_t bytes) const {
    if (bytes < small_ || slot_ == alignment_) return begin;  // every block begins at a multiple of that
    return (begin + slot_ - 1) / slot_ * slot_;
  }

  std::int64_t bytes_;
  std::int64_t alignment_;
  std::int64_t small_;
  std::int64_t slot_;
  std::vector<Block> blocks_;  // by offset
};

}  // namespace poet
