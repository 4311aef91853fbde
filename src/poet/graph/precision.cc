#include "poet/graph/precision.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "poet/graph/operators/schema.h"

namespace poet {

Precision precision_of(const Graph& graph) {
  const bool is_mixed = std::any_of(graph.values.begin(), graph.values.end(),
                                    [](const Value& value) { return value.dtype == DType::bfloat16; });
  return is_mixed ? Precision::bfloat16_mixed : Precision::float32;
}

std::size_t outputs_in_bfloat16(const Op& op) {
  constexpr std::array<std::string_view, 3> kWithStatistics = {"batch_norm", "layer_norm", "group_norm"};
  if (op.pass == Pass::update || op.kind == "input" || is_loss(op)) return 0;
  if (find_operator(op.kind) == nullptr || op.kind.starts_with("opaque")) return 0;
  return std::ranges::count(kWithStatistics, op.kind) > 0 ? 1 : op.outputs.size();
}

const char* to_string(Precision precision) {
  return precision == Precision::bfloat16_mixed ? "bf16-mixed" : "fp32";
}

}  // namespace poet
