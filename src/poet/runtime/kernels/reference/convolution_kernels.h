#pragma once

// The kernels of a convolution, each in a file of its own. A transposed convolution has the same ones, as it
// is seen as the convolution from its output to its input.

#include <memory>

#include "poet/runtime/kernels/kernel.h"
#include "poet/runtime/kernels/reference/convolution.h"

namespace poet::runtime {

/// Returns the kernel of y from x and the weight, and the bias if `biased`.
[[nodiscard]] std::unique_ptr<Kernel> towards_y(const OpReader& op, const Convolution& c, bool biased);

/// Returns the kernel of the gradient of x from dy and the weight, or of the result of a transposed
/// convolution, which has a bias if `biased`.
[[nodiscard]] std::unique_ptr<Kernel> towards_x(const OpReader& op, const Convolution& c, bool biased);

/// Returns the kernel of the gradients of the weight and the bias. `x_first`: the first operand is x of the
/// convolution and not y, as in transposed ones. The bias has the channels of the first operand, which is dy,
/// in both cases.
[[nodiscard]] std::unique_ptr<Kernel> towards_weight(const OpReader& op, const Convolution& c, bool x_first);

/// Returns the kernel of the gradient of the bias alone, from dy.
[[nodiscard]] std::unique_ptr<Kernel> towards_bias(const OpReader& op);

}  // namespace poet::runtime
