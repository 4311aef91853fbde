#pragma once

// Operators that poet does not know.

#include <string>
#include <vector>

#include "poet/graph/builder.h"

namespace poet::nn {

struct TensorType {
  Shape shape;
  DType dtype = DType::float32;
};

/// An operator of which no more is known than what it reads and writes: it cannot be recomputed, and its
/// backward op reads all of that. `what` is its name where it comes from; the first output is called
/// `name`, the others "NAME.1", "NAME.2"...
std::vector<ValueId> opaque(GraphBuilder& g, const std::string& name, const std::string& what,
                            const std::vector<ValueId>& inputs, const std::vector<TensorType>& outputs);

}  // namespace poet::nn
