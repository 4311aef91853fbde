#pragma once

// Operators compute in float32. For operands stored as bfloat16 a kernel works on float32 copies in its
// workspace, and its results are rounded to bfloat16.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "poet/graph/graph.h"

namespace poet {

/// Returns the bytes that operators work on: those of the value, or of its float32 copy if it is stored as
/// bfloat16.
[[nodiscard]] Bytes bytes_in_float32(const Value& value);

/// Returns whether the op's kernel needs float32 copies; ops that only move elements do not.
[[nodiscard]] bool needs_float32_copies(const Graph& graph, OpId op);

/// The op alone, with float32 instead of bfloat16: the op that its kernel is made for.
struct Float32Op {
  Graph graph;
  OpId op;
};
[[nodiscard]] Float32Op in_float32(const Graph& graph, OpId op);

/// The layout of the copies in the workspace.
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

/// Returns the copies: 4 bytes per element that is stored as bfloat16, each copy rounded up to `alignment`; a
/// result shares the place of an operand that may be overwritten. Empty for ops that need no copies.
/// O(operands).
[[nodiscard]] Float32Copies float32_copies(const Graph& graph, OpId op, Bytes alignment = Bytes(4));

}  // namespace poet
