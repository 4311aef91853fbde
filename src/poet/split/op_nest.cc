#include "poet/split/op_nest.h"

#include <algorithm>
#include <utility>

#include "poet/graph/float32_copies.h"

namespace poet::splitting {
namespace {

double bytes_of(const Graph& graph, ValueId v) { return static_cast<double>(graph.values[v].bytes.value()); }

/// Of one part, the float32 copies that a kernel works on.
double copied_bytes(const Cutting& cutting, OpId id, const std::vector<Loop>& loops) {
  const Op& op = cutting.graph.ops[id];
  const OpAxes& axes = cutting.parts.axes[id];
  double total = 0;
  const auto add = [&](ValueId v, const AxisLabels& labels) {
    const Value& value = cutting.graph.values[v];
    if (value.dtype != DType::bfloat16) return;
    auto bytes = static_cast<double>(bytes_in_float32(value).value());
    for (const Loop& loop : loops)
      if (std::ranges::count(labels, loop.label) > 0) bytes /= static_cast<double>(loop.parts);
    total += bytes;
  };
  for (std::size_t i = 0; i < op.inputs.size(); ++i) add(op.inputs[i], axes.inputs[i]);
  for (std::size_t i = 0; i < op.outputs.size(); ++i) add(op.outputs[i], axes.outputs[i]);
  return total;
}

/// The parts of a parameter's gradient are computed as the last op that reads the parameter goes on: what
/// they read and write is moved in its loops.
void add_gradient(const Cutting& cutting, OpId id, OpId gradient, std::vector<Traffic>& operands) {
  const Op& op = cutting.graph.ops[gradient];
  const auto add = [&](ValueId v, const AxisLabels& labels, bool written) {
    const std::vector<ValueId>& known = cutting.graph.ops[id].inputs;
    if (std::find(known.begin(), known.end(), v) != known.end()) return;
    Traffic traffic{bytes_of(cutting.graph, v), {}, written};
    for (const int label : labels) {
      if (label < 0) continue;
      const int c = cutting.parts.of_label[gradient][static_cast<std::size_t>(label)];
      const auto own = std::find(cutting.parts.of_label[id].begin(), cutting.parts.of_label[id].end(), c);
      if (own != cutting.parts.of_label[id].end())
        traffic.with.push_back(static_cast<int>(own - cutting.parts.of_label[id].begin()));
    }
    operands.push_back(std::move(traffic));
  };
  for (std::size_t i = 0; i < op.inputs.size(); ++i)
    add(op.inputs[i], cutting.parts.axes[gradient].inputs[i], false);
  for (std::size_t i = 0; i < op.outputs.size(); ++i)
    add(op.outputs[i], cutting.parts.axes[gradient].outputs[i], true);
}

}  // namespace

FollowingGradients following_gradients(const Graph& graph) {
  FollowingGradients found;
  IdVector<ValueId, OpId> last_reader(graph.values.size());
  for (const OpId id : ids<OpId>(graph.ops.size())) {
    found.push_back({});
    const Op& op = graph.ops[id];
    if (op.pass == Pass::update && op.inputs.size() > 1) {
      const OpId reader = last_reader[storage(graph, op.inputs[0])];
      const OpId gradient = graph.values[storage(graph, op.inputs[1])].producer;
      if (reader.valid() && gradient.valid()) found[reader].push_back(gradient);
    }
    for (const ValueId v : op.inputs) last_reader[storage(graph, v)] = id;
  }
  return found;
}

Nest nest_of(const Cutting& cutting, const FollowingGradients& gradients, OpId id,
             const std::vector<Loop>& loops, Bytes ram) {
  std::vector<Traffic> operands;
  const Op& op = cutting.graph.ops[id];
  const OpAxes& axes = cutting.parts.axes[id];
  for (std::size_t i = 0; i < op.inputs.size(); ++i)
    operands.push_back({bytes_of(cutting.graph, op.inputs[i]), axes.inputs[i], false});
  const bool sums = std::any_of(loops.begin(), loops.end(), [](const Loop& loop) { return loop.summed; });
  for (std::size_t i = 0; i < op.outputs.size(); ++i) {
    const Value& result = cutting.graph.values[op.outputs[i]];
    // Sums are rounded when they are whole.
    const Bytes bytes = sums ? bytes_in_float32(result) : result.bytes;
    operands.push_back({static_cast<double>(bytes.value()), axes.outputs[i], true});
  }
  for (const OpId gradient : gradients[id]) add_gradient(cutting, id, gradient, operands);
  return best_nest(loops, operands, static_cast<double>(ram.value()) - copied_bytes(cutting, id, loops));
}

}  // namespace poet::splitting
