#pragma once

// What an exporter noted beside a tensor. Private to poet/frontend/onnx.

#include <onnx/onnx_pb.h>

#include <optional>

#include "poet/frontend/onnx/model.h"

namespace poet::onnx {

/// From the metadata (a field of newer versions of ONNX) of what the file declares of a value: those that
/// torch.onnx.export writes from PyTorch 2.6 on.
[[nodiscard]] std::optional<Origin> origin_of(const ::onnx::ValueInfoProto& info);

}  // namespace poet::onnx
