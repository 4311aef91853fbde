#pragma once

// Initial states that a file spells out as zeros: to a recurrent layer they are none.

#include <cstddef>
#include <set>
#include <string>

#include "poet/frontend/onnx/model.h"

namespace poet::onnx {

struct Lowering;

/// Values that nodes make and that hold nothing but zeros whatever their shape is: constants, and copies and
/// views of them. O(nodes log nodes).
[[nodiscard]] std::set<std::string> zero_values(const Model& model);

/// Whether `i` is where `node`, if it is a recurrent layer, reads an initial state.
[[nodiscard]] bool is_initial_state(const Node& node, std::size_t i);

/// Whether input `i`, the initial state of a recurrent layer, is known to be nothing but zeros.
[[nodiscard]] bool is_zero_state(Lowering& net, const Node& node, std::size_t i);

}  // namespace poet::onnx
