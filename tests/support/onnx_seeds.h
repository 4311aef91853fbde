#pragma once

// Models to start fuzzing the ONNX import from.

#include <onnx/onnx_pb.h>

#include <string>
#include <vector>

namespace poet::test {

struct OnnxSeed {
  std::string name;
  ::onnx::ModelProto model;
};

/// What exporters write, small: layers, shape arithmetic, attention, recurrence, masks, resizing, subgraphs.
/// Sound models all, though poet does not import each.
[[nodiscard]] std::vector<OnnxSeed> handmade_seeds();

/// Built-in networks by to_onnx(), weights without contents.
[[nodiscard]] std::vector<OnnxSeed> network_seeds();

/// ONNX's own tests of its operators with all inputs but the first as initialisers, where they are installed.
[[nodiscard]] std::vector<OnnxSeed> node_test_seeds();

}  // namespace poet::test
