#pragma once

// Gradients that are looked at in another shape, without being copied.

#include <optional>

#include "poet/graph/graph.h"
#include "poet/graph/strides.h"

namespace poet {

/// `gradient` has the shape of `view`, which is a view of all of `storage` (itself, if there is no view).
/// Gives the layout under which gradient's own buffer is a tensor of storage's shape: element x of it is the
/// gradient of storage's element x. Nothing when no strides do that: the gradient's layout scatters an axis
/// of storage, or the view does not show every element exactly once. O(d²) for d axes.
[[nodiscard]] std::optional<StridedShape> viewed_back(const Value& gradient, const Value& view,
                                                      const Value& storage);

}  // namespace poet
