#include <algorithm>

#include "poet/frontend/onnx/fuse/patterns.h"
#include "poet/graph/nn.h"

namespace poet::onnx {
namespace {

/// Whether input `i` holds this number and no other.
bool all_are(const Walk& walk, const Node& node, std::size_t i, double number) {
  if (node.inputs.size() <= i || !walk.known(node.inputs[i])) return false;
  const Fixed* x = walk.fixed(node, i);
  return x != nullptr && x->tensor.known && x->tensor.type == Type::real &&
         std::all_of(x->tensor.reals.begin(), x->tensor.reals.end(),
                     [number](double element) { return element == number; });
}

/// Whether the Reshape gives back `shape`, that of `x`, by the list itself or by the Shape of x.
bool gives_back(const Walk& walk, const Node& node, const std::string& x, const Shape& shape) {
  if (node.inputs.size() != 2) return false;
  if (walk.known(node.inputs[1])) {
    const Fixed* list = walk.fixed(node, 1);
    return list != nullptr && list->tensor.known && list->tensor.integers == shape;
  }
  for (const Node* reader : walk.readers(x)) {
    if (reader->op_type == "Shape" && reader->domain.empty() && reader->outputs[0] == node.inputs[1] &&
        reader->attributes.empty()) {
      return true;
    }
  }
  return false;
}

/// The only reader, when it is an `op_type` that also reads one number per channel of a value of `shape`, and
/// where.
std::optional<std::pair<const Node*, std::size_t>> per_channel(const Walk& walk, const Node& node,
                                                               const std::string& op_type,
                                                               const Shape& shape) {
  const Node* next = walk.only_reader(node);
  if (next == nullptr || next->op_type != op_type || next->inputs.size() != 2) return std::nullopt;
  const std::size_t other = next->inputs[0] == node.outputs[0] ? 1 : 0;
  if (!walk.known(next->inputs[other])) return std::nullopt;
  const Fixed* weight = walk.fixed(*next, other);
  if (weight == nullptr || weight->transposed || weight->tensor.type != Type::real) return std::nullopt;
  Shape wanted(shape.size() - 1, 1);
  wanted[0] = shape[1];
  Shape with_batch = wanted;
  with_batch.insert(with_batch.begin(), 1);
  if (weight->tensor.shape != wanted && weight->tensor.shape != with_batch) return std::nullopt;
  return std::pair{next, other};
}

}  // namespace

bool became_group_norm(Walk& walk, const Node& node, const Shape& reshaped) {
  if (!walk.is_runtime(node, 0) || node.inputs.empty()) return false;
  const Shape x = walk.shape(node, 0);
  if (x.size() < 3 || reshaped.size() < 3 || reshaped[0] != x[0]) return false;
  const std::int64_t groups = reshaped[1];
  if (groups < 1 || x[1] % groups != 0) return false;
  const Node* norm = walk.only_reader(node);
  if (norm == nullptr || norm->op_type != "InstanceNormalization" || norm->inputs[0] != node.outputs[0] ||
      !all_are(walk, *norm, 1, 1.0) || !all_are(walk, *norm, 2, 0.0)) {
    return false;
  }
  const Node* back = walk.only_reader(*norm);
  if (back == nullptr || back->op_type != "Reshape" || !gives_back(walk, *back, node.inputs[0], x))
    return false;
  const auto weight = per_channel(walk, *back, "Mul", x);
  const auto bias = weight ? per_channel(walk, *weight->first, "Add", x) : std::nullopt;
  if (!bias) return false;
  const std::string name = Walk::name_of(*norm);
  const ValueId from = walk.row_major(node, 0);
  walk.graph().bind(name + ".weight", walk.weight(*weight->first, weight->second, {x[1]}));
  walk.graph().bind(name + ".bias", walk.weight(*bias->first, bias->second, {x[1]}));
  walk.set(*bias->first, nn::group_norm(walk.graph(), name, from, groups, real(*norm, "epsilon", 1e-5)));
  for (const Node* part : {norm, back, weight->first, bias->first}) walk.skip(*part);
  walk.notice("Reshape, InstanceNormalization, Reshape, Mul, Add were recognised as group normalisation");
  return true;
}

}  // namespace poet::onnx
