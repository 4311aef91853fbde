#pragma once

// The makers of kernels, one per family of operators. Null: there is nothing here for the op as it stands.
// They may throw dnnl::error, which means the same.

#include <memory>
#include <string_view>

#include "poet/runtime/kernels/onednn/subject.h"

namespace poet::runtime::onednn {

/// conv2d, conv3d and their gradients.
[[nodiscard]] std::unique_ptr<Kernel> make_convolution(const Subject& subject);
[[nodiscard]] std::unique_ptr<Kernel> make_convolution_backward_input(const Subject& subject);
[[nodiscard]] std::unique_ptr<Kernel> make_convolution_backward_weight(const Subject& subject);

/// conv_transpose2d, conv_transpose3d and their gradients.
[[nodiscard]] std::unique_ptr<Kernel> make_transposed_convolution(const Subject& subject);

/// linear and its gradients.
[[nodiscard]] std::unique_ptr<Kernel> make_linear(const Subject& subject);
[[nodiscard]] std::unique_ptr<Kernel> make_linear_backward_input(const Subject& subject);
[[nodiscard]] std::unique_ptr<Kernel> make_linear_backward_weight(const Subject& subject);

[[nodiscard]] std::unique_ptr<Kernel> make_matmul(const Subject& subject);

/// Functions of one element and their derivatives; null for other kinds.
[[nodiscard]] bool is_eltwise(std::string_view kind);
[[nodiscard]] std::unique_ptr<Kernel> make_eltwise(const Subject& subject);

/// add, sub, mul and div, and mul_backward and div_backward_a.
[[nodiscard]] std::unique_ptr<Kernel> make_binary(const Subject& subject);

/// reduce_sum, reduce_mean.
[[nodiscard]] std::unique_ptr<Kernel> make_reduction(const Subject& subject);

/// avg_pool2d, avg_pool3d, global_avg_pool and their gradients.
[[nodiscard]] std::unique_ptr<Kernel> make_average_pool(const Subject& subject);

[[nodiscard]] std::unique_ptr<Kernel> make_batch_norm(const Subject& subject);
[[nodiscard]] std::unique_ptr<Kernel> make_batch_norm_backward(const Subject& subject);

[[nodiscard]] std::unique_ptr<Kernel> make_layer_norm(const Subject& subject);
[[nodiscard]] std::unique_ptr<Kernel> make_layer_norm_backward(const Subject& subject);

/// The gradient of a convolution's bias, and that of a linear layer's.
[[nodiscard]] std::unique_ptr<Kernel> make_channel_sum(const Subject& subject);
[[nodiscard]] std::unique_ptr<Kernel> make_column_sums(const Subject& subject);

/// softmax, log_softmax and their gradients.
[[nodiscard]] std::unique_ptr<Kernel> make_softmax(const Subject& subject);

}  // namespace poet::runtime::onednn
