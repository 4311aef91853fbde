#pragma once

// What an exporter noted beside the tensors. Private to poet/frontend/onnx.

#include <onnx/onnx_pb.h>

#include <map>
#include <string>
#include <vector>

#include "poet/frontend/onnx/model.h"

namespace poet::onnx {

struct Origins {
  std::map<std::string, Origin> of;
  std::map<std::string, std::vector<std::string>> sources;       // of computed tensors, in the file's order
  std::vector<std::string> missing_parameters, missing_buffers;  // that no tensor is, or was computed of
};

/// From metadata (fields of newer versions of ONNX) of the graph and of what it declares of values: those
/// that torch.onnx.export writes from PyTorch 2.6 on. O(size of the metadata).
[[nodiscard]] Origins origins_of(const ::onnx::GraphProto& graph);

}  // namespace poet::onnx
