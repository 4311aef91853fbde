#pragma once

// The families of kernels, each a file that adds its own to the table.

#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "poet/runtime/kernels/kernel.h"
#include "poet/runtime/kernels/reference/op_reader.h"

namespace poet::runtime {

struct ReferenceFactory {
  std::unique_ptr<Kernel> (*make)(const OpReader& op) = nullptr;
  bool any_strides = false;  // reads and writes operands of any strides; others are for row-major ones
};

using ReferenceTable = std::map<std::string, ReferenceFactory, std::less<>>;

void add_activation_kernels(ReferenceTable& table);   // y = f(x) and their gradients
void add_arithmetic_kernels(ReferenceTable& table);   // two operands that broadcast, and their gradients
void add_convolution_kernels(ReferenceTable& table);  // conv2d, conv3d, conv_transpose2d, conv_transpose3d
void add_dropout_kernels(ReferenceTable& table);
void add_gather_kernels(ReferenceTable& table);       // embedding, gather, gather_elements
void add_global_pool_kernels(ReferenceTable& table);  // maxima and means over planes
void add_gradient_kernels(ReferenceTable& table);     // accumulated and clipped
void add_integer_kernels(ReferenceTable& table);      // comparisons, logic, cast, where, argmax
void add_layout_kernels(ReferenceTable& table);       // copies of elements: concat, slice, transpose...
void add_loss_kernels(ReferenceTable& table);
void add_number_loss_kernels(ReferenceTable& table);  // losses, softmax, log_softmax
void add_lrn_kernels(ReferenceTable& table);
void add_norm_kernels(ReferenceTable& table);       // batch, layer and group norms
void add_pool_kernels(ReferenceTable& table);       // maxima and means over windows
void add_product_kernels(ReferenceTable& table);    // linear and matmul
void add_recurrent_kernels(ReferenceTable& table);  // lstm, gru, rnn
void add_reduction_kernels(ReferenceTable& table);  // sums, means and extremes along axes, cumsum
void add_resize_kernels(ReferenceTable& table);     // resize, flip
void add_update_kernels(ReferenceTable& table);     // sgd, momentum, Adam

}  // namespace poet::runtime
