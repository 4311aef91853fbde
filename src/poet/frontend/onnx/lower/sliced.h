#pragma once

// Parts of values that are views.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "poet/graph/builder.h"
#include "poet/graph/nn.h"

namespace poet::onnx {

/// nn::slice of a value with any strides. Where the value is a permuted view, what is copied is the
/// part only: it is taken in the storage's order of axes, and the result is a view of it.
[[nodiscard]] ValueId sliced(GraphBuilder& graph, const std::string& name, ValueId x,
                             const std::vector<std::int64_t>& starts, const std::vector<std::int64_t>& ends,
                             const std::vector<std::int64_t>& steps);

/// x without `axis`, which has size 1: a view.
[[nodiscard]] ValueId without_axis(GraphBuilder& graph, const std::string& name, ValueId x, std::size_t axis);

}  // namespace poet::onnx
