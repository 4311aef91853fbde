#pragma once

// Where the operators of a model read a stored tensor, and as what. Private to poet/frontend/onnx.

#include <cstddef>
#include <string>
#include <vector>

#include "poet/frontend/onnx/lower/uses.h"

namespace poet::onnx {

/// Input `input` of a node that is no view.
struct Use {
  const Node* node = nullptr;
  std::size_t input = 0;
};

/// The uses of a value and of views of it, but for an Identity that parts it (Uses). O(uses).
[[nodiscard]] std::vector<Use> uses_through_views(const Uses& uses, const std::string& value);

// Of what an operator reads there.
/// A weight that nobody computes and no exporter makes up: a slope, a bias or matrix of a recurrent layer.
[[nodiscard]] bool is_only_weight(const Use& use);
/// A bias of a convolution or a linear layer; PyTorch's newer exporter makes up zeros where there is none.
[[nodiscard]] bool is_bias(const Use& use);
/// A weight by its nature: a filter, matrix, table, bias, scale or slope.
[[nodiscard]] bool is_weight(const Use& use);
/// A filter, matrix or table: of a network, most of its numbers.
[[nodiscard]] bool is_filter(const Use& use);
/// Running statistics.
[[nodiscard]] bool is_statistics(const Use& use);
/// No operand, but a setting: a bound, ratio or size, which must be known; a table or weights of classes.
[[nodiscard]] bool is_setting(const Use& use);
/// A bound of a Clip, which is a setting but may train.
[[nodiscard]] bool is_bound(const Use& use);
/// Something that is compared or of which the sign is taken, through which no gradient comes.
[[nodiscard]] bool is_compared(const Use& use);

}  // namespace poet::onnx
