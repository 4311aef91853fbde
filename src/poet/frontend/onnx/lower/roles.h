#pragma once

// What becomes of the tensors that a file stores: parameters or constants. Decided once for each, before
// nodes are lowered; whatever reads a tensor takes it as it is. Private to poet/frontend/onnx.

#include <map>
#include <string>
#include <vector>

#include "poet/frontend/onnx/import.h"
#include "poet/frontend/onnx/lower/notices.h"
#include "poet/frontend/onnx/lower/uses.h"

namespace poet::onnx {

struct Role {
  bool trains = false;
  std::string why = "computed from constants while importing";
};

/// Of a file's tensors of real numbers.
struct Roles {
  std::map<std::string, Role> of;  // initialisers, and results of Constant and ConstantOfShape nodes
  std::vector<TiedCopy> copies;    // initialisers that are another one, seen in another way
  bool without_weights = false;    // ConstantOfShape nodes stand for the weights, which the file lacks
};

/// Decides by the first rule that holds, of those in docs/onnx.md. Adds notices about what the exporter has
/// computed of parameters. O(size of the model).
[[nodiscard]] Roles roles_of(const Model& model, const Uses& uses, const ImportOptions& options,
                             Notices& notices);

/// The role of a tensor of that name: what was decided where the file stores it, and otherwise a constant's.
[[nodiscard]] Role role_in(const Roles& roles, const std::string& name, const Tensor& tensor);

}  // namespace poet::onnx
