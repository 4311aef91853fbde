#pragma once

// ONNX's own tests of its operators: small models with inputs and the outputs that the standard's reference
// implementation gives for them. Debian has them as libonnx-testdata.

#include <onnx/onnx_pb.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "tests/support/reference_kernels.h"

namespace poet::test {

/// Where the package puts them; need not be there.
[[nodiscard]] inline std::filesystem::path onnx_node_folder() {
  return "/usr/share/libonnx-testdata/data/node";
}

struct OnnxNodeCase {
  std::string name;  // of its folder
  ::onnx::ModelProto model;
  std::vector<::onnx::TensorProto> inputs;   // of the graph's inputs, in order; empty where one is no tensor
  std::vector<::onnx::TensorProto> outputs;  // the same of the outputs
};

/// All, by name; none when the folder is absent. O(bytes in the folder).
[[nodiscard]] std::vector<OnnxNodeCase> onnx_node_cases();

/// The elements of a tensor of numbers; nothing for texts and complex numbers.
[[nodiscard]] std::optional<reference::Array> array_of(const ::onnx::TensorProto& tensor);

}  // namespace poet::test
