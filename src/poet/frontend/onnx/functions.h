#pragma once

// Functions of one element, or of one row, that ONNX and the graph differ on by name alone: their attributes
// are real numbers of the same names. Read by import and export. Private to poet/frontend/onnx.

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "poet/graph/builder.h"

namespace poet::onnx {

struct FunctionName {
  const char* op_type;
  const char* kind;
  std::vector<std::pair<const char*, double>> attributes = {};  // with ONNX's defaults
  std::int64_t since = 1;                                       // the opset that has it
};

[[nodiscard]] const std::vector<FunctionName>& function_names();

/// Null when there is none.
[[nodiscard]] const FunctionName* find_function(std::string_view op_type);
[[nodiscard]] const FunctionName* find_function_of(std::string_view kind);

/// Adds the function that ONNX calls `op_type`, with its default attributes.
[[nodiscard]] ValueId add_function(GraphBuilder& graph, const char* op_type, const std::string& name,
                                   ValueId x);

}  // namespace poet::onnx
