#pragma once

// The families' tables. Private to graph/operators.

#include <vector>

#include "poet/graph/operators/checker.h"
#include "poet/graph/operators/schema.h"

namespace poet::operators {

using Schemas = std::vector<OperatorSchema>;
using Sort = AttributeSpec::Sort;

[[nodiscard]] Schemas data_operators();         // input, opaque
[[nodiscard]] Schemas convolution_operators();  // conv2d, conv_transpose3d...
[[nodiscard]] Schemas product_operators();      // linear, matmul
[[nodiscard]] Schemas norm_operators();
[[nodiscard]] Schemas function_operators();   // y = f(x), element by element or row by row
[[nodiscard]] Schemas broadcast_operators();  // element by element, of several operands
[[nodiscard]] Schemas reduction_operators();  // along axes
[[nodiscard]] Schemas pool_operators();
[[nodiscard]] Schemas resize_operators();
[[nodiscard]] Schemas gather_operators();  // elements at positions that are data
[[nodiscard]] Schemas layout_operators();  // copies of elements
[[nodiscard]] Schemas recurrent_operators();
[[nodiscard]] Schemas loss_operators();
[[nodiscard]] Schemas update_operators();

// Rules that families share.
/// Output 0 has the shape that the inputs broadcast to.
void broadcast_to_output(const Checker& op);
/// Output 0 and the inputs but the first broadcast to input 0, a gradient.
void summed_from_first(const Checker& op);

}  // namespace poet::operators
