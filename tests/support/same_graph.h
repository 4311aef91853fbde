#pragma once

// Whether two graphs are one up to names.

#include <string>

#include "poet/graph/graph.h"

namespace poet::test {

/// Where the graphs first differ, in one line; empty when there is a one-to-one relation of their ops, in
/// order, and of the values that these read, write or update, such that all but names is equal: kinds,
/// attributes, passes, which value stands at which place, and of values shape, strides, element type, bytes,
/// persistence and storage. Parameters and states have equal names, too, since users choose by them. Real
/// numbers are equal within the precision of float32, as which files hold them. A view that no op reads takes
/// no memory and is not looked at. O((ops + values + edges) log values).
[[nodiscard]] std::string first_difference(const Graph& a, const Graph& b);

}  // namespace poet::test
