#pragma once

// An op as calls of the firmware's kernels: its kernel's, and where operands are stored as bfloat16 those
// that make float32 copies before and round results afterwards.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "poet/firmware/lowered.h"
#include "poet/graph/graph.h"

namespace poet::firmware {

/// Where a call reads or writes.
struct CallOperand {
  enum class Place { input, output, update, workspace };
  Place place = Place::input;
  std::size_t position = 0;  // among the op's inputs, outputs or updates
  std::int64_t offset = 0;   // in the op's workspace, in bytes
};

struct Call {
  Lowered lowered;
  std::vector<CallOperand> operands;
};

/// In order. The copies lie in the workspace as float32_copies() says. Throws as lowered() does.
[[nodiscard]] std::vector<Call> calls_of(const Graph& graph, OpId op);

}  // namespace poet::firmware
