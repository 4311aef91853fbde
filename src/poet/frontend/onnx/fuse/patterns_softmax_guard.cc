#include "poet/frontend/onnx/fuse/patterns_softmax_guard.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "poet/base/numbers.h"
#include "poet/frontend/onnx/lower/constants.h"
#include "poet/frontend/onnx/lower/stored_uses.h"
#include "poet/graph/nn.h"

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

/// The nodes of Where(IsNaN(p), 0, p) if nothing else reads the softmax p; null otherwise.
struct Guard {
  const Node* is_nan = nullptr;
  const Node* where = nullptr;
};

Guard guard_of(const Lowering& net, const Node& softmax) {
  if (softmax.outputs.empty() || net.uses.outputs.contains(softmax.outputs[0])) return {};
  const std::vector<const Node*>& all = readers(net.uses, softmax.outputs[0]);
  if (all.size() != 2) return {};
  const auto [is_nan, where] = all[0]->op_type == "IsNaN" ? Guard{all[0], all[1]} : Guard{all[1], all[0]};
  const bool is_guard = is_nan->op_type == "IsNaN" && is_nan->domain.empty() && where->op_type == "Where" &&
                        where->domain.empty() && where->inputs.size() == 3 &&
                        where->inputs[2] == softmax.outputs[0] && only_reader(net.uses, *is_nan) == where &&
                        where->inputs[0] == is_nan->outputs[0];
  const Fixed* otherwise = is_guard ? known_operand(net, *where, 1) : nullptr;
  return otherwise != nullptr && otherwise->tensor.fill == 0.0 ? Guard{is_nan, where} : Guard{};
}

/// Adds where(max(x) = -infinity, 0, softmax(max(x, the lowest number))) along the last axis: gradients of
/// rows that are masked out as a whole are 0, where those of their softmax would be NaN.
ValueId guarded_softmax(Lowering& net, const std::string& name, ValueId x) {
  constexpr double kLowest = std::numeric_limits<float>::lowest();
  GraphBuilder& g = net.builder;
  const std::int64_t last = std::ssize(g.shape(x)) - 1;
  const ValueId most = nn::reduce(g, "reduce_max", name + ".most", x, {last});
  const ValueId masked =
      nn::binary(g, "equal", name + ".masked", most, add_filled(net, name + ".none", {}, -kInfinity));
  const ValueId p = nn::softmax(g, name + ".rows", nn::clip(g, name + ".finite", x, kLowest, kInfinity));
  return nn::where(g, name, masked, add_filled(net, name + ".zero", {}, 0), p);
}

}  // namespace

bool became_guarded_softmax(Lowering& net, const Node& node) {
  const Guard guard = guard_of(net, node);
  if (guard.where == nullptr || node.inputs.empty()) return false;
  const std::size_t rank = shape_of(net, node, 0).size();
  const std::int64_t axis = integer(node, "axis", net.model.opset < 13 ? 1 : -1);
  if (rank == 0 || checked_axis(axis, rank) + 1 != rank) return false;
  const std::string name = name_of(node);
  const ValueId x = row_major(net, node, 0);
  if (has_scores(net, node.inputs[0])) {
    net.notices.add("Where(IsNaN(Softmax), 0, Softmax) is the softmax where no row is masked out as a whole");
    set_result(net, *guard.where, nn::softmax(net.builder, name, x));
  } else {
    set_result(net, *guard.where, guarded_softmax(net, name, x));
  }
  skip(net, *guard.is_nan);
  skip(net, *guard.where);
  return true;
}

}  // namespace poet::onnx
