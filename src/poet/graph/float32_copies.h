#pragma once

// Operators compute with float32. Where operands are stored as bfloat16, a kernel works on float32 copies in
// its workspace, and results are rounded into their places.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "poet/graph/graph.h"

namespace poet {

/// What operators work on: a value's bytes, in float32 where it is stored as bfloat16.
[[nodiscard]] Bytes bytes_in_float32(const Value& value);

/// Whether the op's kernel needs such copies: an op that only moves elements does not.
[[nodiscard]] bool needs_float32_copies(const Graph& graph, OpId op);

/// The op alone, with float32 in the place of bfloat16: what its kernel is made for.
struct Float32Op {
  Graph graph;
  OpId op;
};
[[nodiscard]] Float32Op in_float32(const Graph& graph, OpId op);

/// Where the copies lie in the workspace.
struct Float32Copies {
  struct Copy {
    std::size_t operand;     // position in the op's inputs, or in its outputs
    std::int64_t offset;     // bytes
    std::int64_t count = 0;  // of elements
  };
  std::vector<Copy> read;      // inputs, each storage once
  std::vector<Copy> replaced;  // every input that is in one of these
  std::vector<Copy> written;   // outputs
  Bytes bytes;                 // of all of them
};

/// 4 bytes for each element that is stored as bfloat16, each copy's rounded up to `alignment`; a result has
/// the place of an operand that may be overwritten. Of an op that needs no copies: none. O(operands).
[[nodiscard]] Float32Copies float32_copies(const Graph& graph, OpId op, Bytes alignment = Bytes(4));

}  // namespace poet
