#include "poet/graph/precision.h"

#include <algorithm>

namespace poet {

Precision precision_of(const Graph& graph) {
  const bool is_mixed = std::any_of(graph.values.begin(), graph.values.end(),
                                    [](const Value& value) { return value.dtype == DType::bfloat16; });
  return is_mixed ? Precision::bfloat16_mixed : Precision::float32;
}

const char* to_string(Precision precision) {
  return precision == Precision::bfloat16_mixed ? "bf16-mixed" : "fp32";
}

}  // namespace poet
