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
constexpr auto kInPlace = std::to_array<InPlaceKind>({{"relu", 1},
                                                      {"gelu", 1},
                                                      {"tanh", 1},
                                                      {"softmax", 1},
                                                      {"dropout", 1},
                                                      {"scale", 1},
                                                      {"shift", 1},
                                                      {"sigmoid", 1},
                                                      {"erf", 1},
                                                      {"exp", 1},
                                                      {"log", 1},
                                                      {"sqrt", 1},
                                                      {"pow", 1},
                                                      {"abs", 1},
                                                      {"clip", 1},
                                                      {"leaky_relu", 1},
                                                      {"elu", 1},
                                                      {"hardsigmoid", 1},
                                                      {"hardswish", 1},
                                                      {"silu", 1},
                                                      {"silu_backward", 2},
                                                      {"mish", 1},
                                                      {"mish_backward", 2},
                                                      {"softplus", 1},
                                                      {"softplus_backward", 2},
                                                      {"softsign", 1},
                                                      {"softsign_backward", 2},
                                                      {"selu", 1},
                                                      {"selu_backward", 2},
                                                      {"celu", 1},
                                                      {"celu_backward", 2},
                                                      {"thresholded_relu", 1},
                                                      {"thresholded_relu_backward", 2},
                                                      {"prelu", 1},
                                                      {"sin", 1},
                                                      {"sin_backward", 2},
                                                      {"cos", 1},
                                                      {"cos_backward", 2},
                                                      {"sign", 1},
                                                      {"floor", 1},
                                                      {"ceil", 1},
                                                      {"round", 1},
                                                      {"log_softmax", 1},
                                                      {"log_softmax_backward", 2},
                                                      {"prelu_backward_input", 2},
                                                      {"add", 2},
                                                      {"sub", 2},
                                                      {"mul", 2},
                                                      {"div", 2},
                                                      {"logical_and", 2},
                                                      {"logical_or", 2},
                                                      {"logical_xor", 2},
                                                      {"logical_not", 1},
                                                      {"int_div", 2},
                                                      {"mod", 2},
                                                      {"where", 3},
                                                      // Where these sum over stretched axes, no operand has
                                                      // the layout of the result.
                                                      {"sub_backward_b", 1},
                                                      {"mul_backward", 2},
                                                      {"div_backward_a", 2},
                                                      {"div_backward_b", 3},
                                                      {"where_backward_a", 1},
                                                      {"where_backward_b", 1},
                                                      {"scale_backward", 1},
                                                      {"sigmoid_backward", 2},
                                                      {"erf_backward", 2},
                                                      {"exp_backward", 2},
                                                      {"log_backward", 2},
                                                      {"sqrt_backward", 2},
                                                      {"pow_backward", 2},
                                                      {"abs_backward", 2},
                                                      {"clip_backward", 2},
                                                      {"leaky_relu_backward", 2},
                                                      {"elu_backward", 2},
                                                      {"hardsigmoid_backward", 2},
                                                      {"hardswish_backward", 2},
                                                      {"relu_backward", 2},
                                                      {"gelu_backward", 2},
                                                      {"tanh_backward", 2},
                                                      {"softmax_backward", 2},
                                                      {"dropout_backward", 1}});

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
