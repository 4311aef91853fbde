#pragma once

// Elements and slices at positions.

#include <cstdint>
#include <string>

#include "poet/graph/builder.h"

namespace poet::nn {

/// Rows of NAME.weight (rows, width) at the positions `indices` (int32).
ValueId embedding(GraphBuilder& g, const std::string& name, ValueId indices, std::int64_t rows,
                  std::int64_t width);
/// Slices of x (of any type) at the positions `indices` (int32) along `axis`, which the axes of `indices`
/// take the place of. A position below 0 counts from the end.
ValueId gather(GraphBuilder& g, const std::string& name, ValueId x, ValueId indices, std::int64_t axis);
/// For every element of `indices` (int32, of x's rank, no axis but `axis` longer than x's) the element of x
/// whose position along `axis` it is, with the other positions its own.
ValueId gather_elements(GraphBuilder& g, const std::string& name, ValueId x, ValueId indices,
                        std::int64_t axis);
/// Position `index` of the middle axis of x (N,S,C).
ValueId select(GraphBuilder& g, const std::string& name, ValueId x, std::int64_t index);

}  // namespace poet::nn
