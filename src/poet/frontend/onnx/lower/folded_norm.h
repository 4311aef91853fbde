#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <string>

#include "poet/frontend/onnx/model.h"

namespace poet::onnx {

/// What to say where PyTorch's exporter has folded batch normalisations into convolutions, as it does unless
/// it is told to export for training: they are not trained. Of the nodes in `needed`, by index. Nothing where
/// there are none. Parameters have the names that the modules give them; only this folding
///  - computes both filters and bias, which then have a number for a name (`onnx::Conv_123`; before PyTorch
///    1.11 `123`),
///  - or, in the exporter based on torch.export, adds a bias that is named after what the convolution reads.
[[nodiscard]] std::optional<std::string> folded_norm_notice(const Model& model,
                                                            const std::set<std::size_t>& needed);

}  // namespace poet::onnx
