#pragma once

// One rule per operator kind: how an op becomes nodes of an ONNX model. Private to poet/frontend/onnx.

#include <string>

#include "poet/frontend/onnx/write/graph_export.h"

namespace poet::onnx {

/// Adds the nodes that write the op's first output under its name.
using ExportRule = void (*)(GraphExport& to, const Op& op);

/// Null when there is none.
[[nodiscard]] ExportRule find_export_rule(const std::string& kind);

}  // namespace poet::onnx
