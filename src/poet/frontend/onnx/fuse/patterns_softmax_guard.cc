#include "poet/frontend/onnx/fuse/patterns_softmax_guard.h"

#include <algorithm>
#include <cmath>

#include "poet/frontend/onnx/lower/constants.h"
#include "poet/frontend/onnx/lower/stored_uses.h"

namespace poet::onnx {
namespace {

enum class Mask { none, leaves_rows, unknown };

/// What adding a constant does to rows, along the last axis: nothing, as all of it is finite; something, but
/// each row keeps a finite number; or it is not known.
Mask mask_of(const Fixed& x) {
  const Tensor& t = x.tensor;
  if (x.role.trains) return Mask::none;
  if (!t.known) {
    const bool is_finite = t.fill ? std::isfinite(*t.fill) : !t.patterned && t.digest.as_stored != 0;
    return is_finite ? Mask::none : Mask::unknown;
  }
  const auto finite = [](double element) { return std::isfinite(element); };
  if (std::all_of(t.reals.begin(), t.reals.end(), finite)) return Mask::none;
  const auto row = static_cast<std::ptrdiff_t>(t.shape.empty() ? 1 : t.shape.back());
  for (auto from = t.reals.begin(); from != t.reals.end(); from += row)
    if (std::none_of(from, from + row, finite)) return Mask::unknown;
  return Mask::leaves_rows;
}

/// Returns the input if it is stored or known. Others may be part of another node's operator.
const Fixed* known_operand(const Lowering& net, const Node& node, std::size_t i) {
  return net.operands.contains(node.inputs[i]) ? fixed_of(net, node, i) : nullptr;
}

/// Returns whether every row of scores keeps a finite number: they are products, scaled, to which at most one
/// mask was added that leaves something of each row.
bool has_scores(const Lowering& net, std::string scores) {
  constexpr int kMostNodes = 16;
  bool masked = false;
  for (int nodes = 0; nodes < kMostNodes; ++nodes) {
    const Node* node = writer(net.uses, scores);
    if (node == nullptr || node->inputs.empty()) return false;
    if (node->op_type == "MatMul" || node->op_type == "Gemm") return true;
    if (node->op_type == "Identity" || node->op_type == "Cast") {
      scores = node->inputs[0];
      continue;
    }
    if (node->inputs.size() != 2) return false;
    const std::size_t known = known_operand(net, *node, 0) != nullptr ? 0 : 1;
    const Fixed* operand = known_operand(net, *node, known);
    if (operand == nullptr) return false;
    const Mask mask = mask_of(*operand);
    const bool scales = node->op_type == "Mul" || (node->op_type == "Div" && known == 1);
    if (mask == Mask::unknown || (scales && mask != Mask::none) || (masked && mask != Mask::none))
      return false;
    if (!scales && node->op_type != "Add") return false;
    masked = masked || mask == Mask::leaves_rows;
    scores = node->inputs[1 - known];
  }
  return false;
}

}  // namespace

bool became_softmax(Lowering& net, const Node& node) {
  if (node.inputs.empty() || node.outputs.empty()) return false;
  const Node* next = only_reader(net.uses, node, "Where");
  const Node* softmax = writer(net.uses, node.inputs[0]);
  if (next == nullptr || next->inputs.size() != 3 || next->inputs[0] != node.outputs[0] ||
      next->inputs[2] != node.inputs[0] || softmax == nullptr || softmax->op_type != "Softmax" ||
      softmax->inputs.empty()) {
    return false;
  }
  const std::size_t rank = shape_of(net, node, 0).size();
  const std::int64_t axis = integer(*softmax, "axis", net.model.opset < 13 ? 1 : -1);
  const bool of_rows = rank > 0 && checked_axis(axis, rank) + 1 == rank;
  if (!of_rows || !has_scores(net, softmax->inputs[0])) return false;
  set_result(net, *next, operand_of(net, node, 0));
  skip(net, *next);
  net.notices.add("Where(IsNaN(Softmax), 0, Softmax) is the softmax where no row is masked out as a whole");
  return true;
}

}  // namespace poet::onnx
