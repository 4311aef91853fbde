#pragma once

// Names that exporters make for what they compute, unlike those of a module's own tensors. Private to
// poet/frontend/onnx.

#include <string>
#include <string_view>

#include "poet/frontend/onnx/model.h"

namespace poet::onnx {

/// Whether the exporter made the name of this stored tensor: it says so, or the name is a number, has a
/// number after a prefix of its own (val_5, onnx::MatMul_7, const_fold_opt__3), or is that of a PyTorch
/// function (zeros, mul_1, t).
[[nodiscard]] bool is_generated(const Model& model, const std::string& name);

/// Whether the exporter named it after a PyTorch function that makes tables: of positions, angles, one
/// number. None of them is applied to a parameter.
[[nodiscard]] bool is_table(const Model& model, const std::string& name);

[[nodiscard]] bool is_digits(std::string_view text);

/// A name without the number at its end, and without the underscores before that: mul of mul_1.
[[nodiscard]] std::string_view stem(std::string_view name);

/// Whether the name is one that PyTorch's exporters give to the transposed weight of a linear layer.
[[nodiscard]] bool is_of_layer(const std::string& name);

}  // namespace poet::onnx
