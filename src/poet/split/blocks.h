#pragma once

// What ops work on at once: parts of storages, and copies out of them in other parts. Private to split.

#include <cstdint>
#include <vector>

#include "poet/split/partition.h"

namespace poet::splitting {

/// A tensor by the classes along which it is cut.
struct Block {
  ValueId storage;
  std::vector<int> classes;  // per axis of the storage
};

/// Returns every storage as it is cut. O(values).
[[nodiscard]] std::vector<Block> storages(const Graph& graph, const Partition& partition);

/// Returns what ops read of storages along other classes than these are cut along, each once. O(edges).
[[nodiscard]] std::vector<Block> copies(const Graph& graph, const Partition& partition);

/// Returns the bytes of a block's largest part that ops work on. O(axes).
[[nodiscard]] Bytes largest_part(const Graph& graph, const Partition& partition, const Block& block);

/// Returns the bytes of the operands and results of all ops in parts: what moves if nothing stays in RAM from
/// one op to the next. O(edges).
[[nodiscard]] double bytes_touched(const Graph& graph, const Partition& partition);

}  // namespace poet::splitting
