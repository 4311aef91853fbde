#pragma once

// What PyTorch's exporters have computed of parameters, so that a file trains otherwise than its module.
// Private to poet/frontend/onnx.

#include "poet/frontend/onnx/lower/roles.h"

namespace poet::onnx {

/// Adds notices about weights that the exporter has computed of the module's parameters (a matrix that it may
/// only have transposed is said to be one), parameters that it has dropped or merged with equal ones, and
/// batch normalisations that it has folded into convolutions, which are not trained. O(nodes + initialisers).
void note_computed(const Model& model, const Uses& uses, const Roles& roles, Notices& notices);

}  // namespace poet::onnx
