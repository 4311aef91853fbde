#pragma once

// Addresses for a streaming pass. RAM that is free in pieces is of no use for a value that is larger than
// each of them, and where RAM holds a handful of values that is a good part of it: so what leaves is what
// lies together.

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

  /// Offsets are multiples of `alignment`. Blocks of less than `small` bytes come from the top, others lie at
  /// multiples of `slot`: where they are of nearly one size, each hole that one leaves is good for any other.
  StreamingArena(std::int64_t bytes, std::int64_t alignment, std::int64_t small, std::int64_t slot)
      : bytes_(bytes), alignment_(alignment), small_(small), slot_(slot) {}

  /// Puts a block into the smallest hole that it fits in. Nothing where there is none. O(blocks).
  std::optional<std::int64_t> put(int id, std::int64_t bytes);
  void remove(int id);
  /// Block `to` takes the place of block `from`, of the same size. O(blocks).
  void replace(int from, int to);

  /// The neighbours whose leaving makes the room and loses least. `loss`, at least 0, is infinite for what
  /// has to stay. Nothing where there is no way. O(blocks).
  [[nodiscard]] std::optional<std::vector<int>> in_the_way(std::int64_t bytes,
                                                           const std::function<double(int)>& loss) const;

 private:
  [[nodiscard]] std::int64_t rounded(std::int64_t bytes) const {
    return (bytes + alignment_ - 1) / alignment_ * alignment_;
  }

  /// Of the hole before a block, or of the last one.
  [[nodiscard]] std::int64_t hole_end(std::size_t block) const {
    return block < blocks_.size() ? blocks_[block].begin : bytes_ / alignment_ * alignment_;
  }

  /// Where a block of so many bytes may begin in a hole.
  [[nodiscard]] std::int64_t begin_in_hole(std::int64_t begin, std::int64_t bytes) const {
    return bytes < small_ ? begin : (begin + slot_ - 1) / slot_ * slot_;
  }

  std::int64_t bytes_;
  std::int64_t alignment_;
  std::int64_t small_;
  std::int64_t slot_;
  std::vector<Block> blocks_;  // by offset
};

}  // namespace poet
