#include "poet/graph/in_place.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace poet {
namespace {

// Inputs 0..positions-1 of these kinds.
struct InPlaceKind {
  std::string_view kind;
  std::size_t positions;
};
constexpr std::array<InPlaceKind, 11> kInPlace{{{"relu", 1},
                                                {"gelu", 1},
                                                {"tanh", 1},
                                                {"softmax", 1},
                                                {"dropout", 1},
                                                {"add", 2},
                                                {"relu_backward", 2},
                                                {"gelu_backward", 2},
                                                {"tanh_backward", 2},
                                                {"softmax_backward", 2},
                                                {"dropout_backward", 1}}};

bool same_layout(const Value& a, const Value& b) {
  return a.shape == b.shape && a.strides == b.strides && a.dtype == b.dtype;
}

}  // namespace

std::vector<std::size_t> overwritable_inputs(const Graph& graph, const Op& op) {
  const auto row = std::find_if(kInPlace.begin(), kInPlace.end(),
                                [&op](const InPlaceKind& candidate) { return candidate.kind == op.kind; });
  std::vector<std::size_t> positions;
  if (row == kInPlace.end() || op.outputs.empty()) return positions;
  const Value& output = graph.values[op.outputs.front()];
  for (std::size_t i = 0; i < std::min(row->positions, op.inputs.size()); ++i) {
    // Written over, a transposed view of the same storage would be read too late.
    const bool alone = std::all_of(op.inputs.begin(), op.inputs.end(), [&](ValueId other) {
      return storage(graph, other) != storage(graph, op.inputs[i]) ||
             same_layout(graph.values[other], output);
    });
    if (alone && same_layout(graph.values[op.inputs[i]], output)) positions.push_back(i);
  }
  return positions;
}

}  // namespace poet
