#include "poet/frontend/onnx/fuse/patterns.h"

#include <cmath>

#include "poet/frontend/onnx/lower/constants.h"
#include "poet/frontend/onnx/lower/lowering.h"
#include "poet/graph/nn.h"

namespace poet::onnx {
namespace {

/// Returns the position of the operand that is not a known number, and the other's number; nullopt if neither
/// is a known number.
std::optional<std::pair<std::size_t, double>> with_number(const Lowering& net, const Node& node) {
  if (node.inputs.size() != 2 || !node.domain.empty()) return std::nullopt;
  for (const std::size_t i : {std::size_t{0}, std::size_t{1}}) {
    if (!net.operands.contains(node.inputs[i])) continue;
    if (const std::optional<double> number = scalar_of(net, node, i)) return std::pair{1 - i, *number};
  }
  return std::nullopt;
}

bool multiplies(const Lowering& net, const Node* node, double factor) {
  if (node == nullptr) return false;
  const auto found = factor_of(net, *node);
  return found && about(found->second, factor);
}

bool is_mean_of_rows(const Lowering& net, const Node* node, std::size_t rank) {
  if (node == nullptr || node->op_type != "ReduceMean" || node->inputs.empty() || node->inputs.size() > 2)
    return false;
  if (integer(*node, "keepdims", 1) == 0) return false;
  std::vector<std::int64_t> axes = integers(*node, "axes");
  if (node->inputs.size() == 2) {  // since opset 18
    const Fixed* list = net.operands.contains(node->inputs[1]) ? fixed_of(net, *node, 1) : nullptr;
    if (list == nullptr || !list->tensor.known) return false;
    axes = list->tensor.integers;
  }
  return axes.size() == 1 && rank > 1 && checked_axis(axes[0], rank) + 1 == rank;
}

/// Returns whether the node computes x², as a power or as a product.
bool is_square(const Lowering& net, const Node& node, const std::string& x) {
  if (node.op_type == "Mul") return node.inputs.size() == 2 && node.inputs[0] == x && node.inputs[1] == x;
  const auto two = node.op_type == "Pow" ? with_number(net, node) : std::nullopt;
  return two && two->first == 0 && two->second == 2.0;
}

/// Returns the only reader of `node` and the known number that it also reads, if it is an `op_type`.
std::optional<std::pair<const Node*, double>> following(const Lowering& net, const Node& node,
                                                        const std::string& op_type) {
  const Node* next = only_reader(net.uses, node, op_type);
  const auto number = next == nullptr ? std::nullopt : with_number(net, *next);
  if (!number) return std::nullopt;
  return std::pair{next, number->second};
}

/// As following_weight(), for a weight of `size` numbers in at most `rank` axes.
std::optional<std::pair<const Node*, std::size_t>> following_list(const Lowering& net, const Node& node,
                                                                  const std::string& op_type,
                                                                  std::int64_t size, std::size_t rank) {
  const auto next = following_weight(net, node, op_type);
  if (!next) return std::nullopt;
  const Shape shape = shape_of(net, *next->first, next->second);
  // With more axes than the other operand it would add axes to the result.
  const bool fits =
      !shape.empty() && shape.size() <= rank && shape.back() == size && element_count(shape) == size;
  return fits ? next : std::nullopt;
}

}  // namespace

bool about(double a, double b) { return std::fabs(a - b) <= 1e-4 * std::fabs(b); }

bool became_layer_norm(Lowering& net, const Node& mean) {
  const Shape x = shape_of(net, mean, 0);
  if (!is_mean_of_rows(net, &mean, x.size())) return false;
  const Node* centred = only_reader(net.uses, mean, "Sub");
  if (centred == nullptr || centred->inputs[0] != mean.inputs[0]) return false;
  for (const Node* square : readers(net.uses, centred->outputs[0])) {
    if (!is_square(net, *square, centred->outputs[0])) continue;
    const Node* variance = only_reader(net.uses, *square);
    if (!is_mean_of_rows(net, variance, x.size())) continue;
    const auto plus = following(net, *variance, "Add");
    const Node* root = plus ? only_reader(net.uses, *plus->first, "Sqrt") : nullptr;
    const Node* ratio = root == nullptr ? nullptr : only_reader(net.uses, *root, "Div");
    if (ratio == nullptr || ratio->inputs[0] != centred->outputs[0]) continue;
    const std::size_t reads = square->op_type == "Mul" ? 3 : 2;
    if (readers(net.uses, centred->outputs[0]).size() != reads) continue;
    const auto weight = following_list(net, *ratio, "Mul", x.back(), x.size());
    const auto bias = weight ? following_list(net, *weight->first, "Add", x.back(), x.size()) : std::nullopt;
    if (!bias) continue;
    const std::string name = name_of(mean);
    const ValueId from = row_major(net, mean, 0);
    net.builder.bind(name + ".weight", weight_of(net, *weight->first, weight->second, {x.back()}));
    net.builder.bind(name + ".bias", weight_of(net, *bias->first, bias->second, {x.back()}));
    set_result(net, *bias->first, nn::layer_norm(net.builder, name, from, plus->second));
    for (const Node* part :
         {centred, square, variance, plus->first, root, ratio, weight->first, bias->first}) {
      skip(net, *part);
    }
    net.notices.add(
        "ReduceMean, Sub, Pow, ReduceMean, Add, Sqrt, Div, Mul, Add were recognised as layer normalisation");
    return true;
  }
  return false;
}

std::optional<std::pair<std::size_t, double>> factor_of(const Lowering& net, const Node& node) {
  if (node.op_type != "Mul" && node.op_type != "Div") return std::nullopt;
  auto found = with_number(net, node);
  if (!found || node.op_type == "Mul") return found;
  if (found->first != 0 || found->second == 0) return std::nullopt;
  return std::pair{found->first, 1.0 / found->second};
}

std::optional<std::pair<const Node*, double>> following_factor(const Lowering& net, const Node& node,
                                                               std::size_t rank) {
  const Node* next = only_reader(net.uses, node);
  if (next == nullptr) return std::nullopt;
  const auto factor = factor_of(net, *next);
  if (!factor || shape_of(net, *next, 1 - factor->first).size() > rank) return std::nullopt;
  return std::pair{next, factor->second};
}

std::optional<std::pair<const Node*, std::size_t>> following_weight(const Lowering& net, const Node& node,
                                                                    const std::string& op_type) {
  const Node* next = only_reader(net.uses, node, op_type);
  if (next == nullptr || next->inputs.size() != 2) return std::nullopt;
  const std::size_t other = next->inputs[0] == node.outputs[0] ? 1 : 0;
  const Fixed* weight = net.operands.contains(next->inputs[other]) ? fixed_of(net, *next, other) : nullptr;
  if (weight == nullptr || weight->transposed || weight->tensor.type != Type::real) return std::nullopt;
  return std::pair{next, other};
}

std::optional<std::pair<const Node*, std::size_t>> following_bias(const Lowering& net, const Node& node,
                                                                  std::int64_t size) {
  return following_list(net, node, "Add", size, shape_of(net, node, 0).size());
}

bool feeds_product_only(const Lowering& net, const Node& node) {
  const Node* next = only_reader(net.uses, node);
  while (next != nullptr && next->op_type == "Transpose") next = only_reader(net.uses, *next);
  return next != nullptr && next->op_type == "MatMul";
}

bool became_gelu(Lowering& net, const Node& node, std::size_t position) {
  const std::string& x = node.inputs[position];
  // Every reader checks all readers, so their number is limited.
  constexpr std::size_t kMostReaders = 64;
  if (readers(net.uses, x).size() > kMostReaders) return false;
  for (const Node* start : readers(net.uses, x)) {
    if (!multiplies(net, start, std::sqrt(0.5))) continue;
    const Node* erf = only_reader(net.uses, *start, "Erf");
    const auto plus_one = erf == nullptr ? std::nullopt : following(net, *erf, "Add");
    if (!plus_one || !about(plus_one->second, 1.0)) continue;
    const Node* plus = plus_one->first;
    const Node* times = only_reader(net.uses, *plus, "Mul");
    if (times == nullptr || times->inputs.size() != 2) continue;
    const std::string& other = times->inputs[times->inputs[0] == plus->outputs[0] ? 1 : 0];
    const Node* half = nullptr;
    const Node* last = nullptr;
    if (other == x) {  // (x (1 + erf)) / 2
      half = only_reader(net.uses, *times);
      if (multiplies(net, half, 0.5)) last = half;
    } else {  // (x / 2) (1 + erf)
      for (const Node* reader : readers(net.uses, x)) {
        if (reader->outputs[0] == other && multiplies(net, reader, 0.5) &&
            only_reader(net.uses, *reader) == times) {
          half = reader;
          last = times;
        }
      }
    }
    if (last == nullptr || (&node != start && &node != half)) continue;  // another reader of x
    const ValueId y = nn::gelu(net.builder, name_of(*erf), row_major(net, node, position));
    for (const Node* part : {start, erf, plus, times, half}) skip(net, *part);
    set_result(net, *last, y);
    net.notices.add("Div, Erf, Add, Mul, Mul were recognised as GELU");
    return true;
  }
  return false;
}

}  // namespace poet::onnx
