#pragma once

// Which rows of its tables a step names, known before its first transfer.

#include <cstdint>
#include <functional>
#include <vector>

#include "poet/runtime/executor/program.h"

namespace poet::runtime {

/// Delivers the data of an `input` op (its one output) to where they are to be.
using InputSource = std::function<void(OpId input, std::byte* to)>;

class RowNumbers {
 public:
  /// For the index lists of `program`, which must outlive this, as `graph` must.
  RowNumbers(const Graph& graph, const Program& program);

  /// Into the program's lists, from the inputs of the step that is to follow. Throws the InputError of the
  /// input source, and for a number that is none of a row. Does not allocate.
  void read(const InputSource& inputs);

 private:
  const Graph& graph_;
  const Program& program_;
  std::vector<std::int32_t> part_;  // of a list, as one input has it
  std::vector<char> is_named_;      // by row
};

}  // namespace poet::runtime
