#pragma once

// Along axes.

#include <cstdint>
#include <string>
#include <vector>

#include "poet/graph/builder.h"

namespace poet::nn {

/// "reduce_sum", "reduce_mean", "reduce_max" or "reduce_min" over `axes` (at least one, each once,
/// counted from 0), which stay as axes of size 1 with `keepdims`. Elements that are equally extreme
/// share the gradient.
ValueId reduce(GraphBuilder& g, const std::string& kind, const std::string& name, ValueId x,
               std::vector<std::int64_t> axes, bool keepdims = true);
/// The position (int32) of the largest element along `axis`, the first of several, or the last.
ValueId argmax(GraphBuilder& g, const std::string& name, ValueId x, std::int64_t axis, bool keepdims = true,
               bool last = false);
/// Of float32 or int32. `exclusive`: without the element itself; `reverse`: from the end.
ValueId cumsum(GraphBuilder& g, const std::string& name, ValueId x, std::int64_t axis, bool exclusive = false,
               bool reverse = false);

}  // namespace poet::nn
