#pragma once

// The row indices of a step, read before its first transfer.

#include <cstdint>
#include <functional>
#include <vector>

#include "poet/runtime/executor/program.h"

namespace poet::runtime {

/// Writes the data of an `input` op (its only output) to `to`.
using InputSource = std::function<void(OpId input, std::byte* to)>;

class RowNumbers {
 public:
  /// For the index lists of `program`; it and `graph` must outlive this.
  RowNumbers(const Graph& graph, const Program& program);

  /// Reads the indices of the next step into the program's lists. Throws the InputError of the input source,
  /// and InputError for an index that is out of range. Does not allocate.
  void read(const InputSource& inputs);

 private:
  const Graph& graph_;
  const Program& program_;
  std::vector<std::int32_t> part_;  // of a list, as one input has it
  std::vector<char> is_named_;      // by row
};

}  // namespace poet::runtime
