#include "poet/frontend/onnx/fuse/patterns.h"
#include "poet/graph/nn.h"

#include <cmath>

namespace poet::onnx {
namespace {

bool about(double a, double b) { return std::fabs(a - b) <= 1e-4 * std::fabs(b); }

/// The position of the operand that is not a known number; nothing unless exactly one is.
std::optional<std::pair<std::size_t, double>> with_number(const Walk& walk, const Node& node) {
  if (node.inputs.size() != 2 || !node.domain.empty()) return std::nullopt;
  for (const std::size_t i : {std::size_t{0}, std::size_t{1}}) {
    if (!walk.known(node.inputs[i])) continue;
    if (const std::optional<double> number = walk.scalar(node, i)) return std::pair{1 - i, *number};
  }
  return std::nullopt;
}

bool multiplies(const Walk& walk, const Node* node, double factor) {
  if (node == nullptr) return false;
  const auto found = factor_of(walk, *node);
  return found && about(found->second, factor);
}

bool is_mean_of_rows(const Walk& walk, const Node* node, std::size_t rank) {
  if (node == nullptr || node->op_type != "ReduceMean" || node->inputs.empty() || node->inputs.size() > 2)
    return false;
  if (integer(*node, "keepdims", 1) == 0) return false;
  std::vector<std::int64_t> axes = integers(*node, "axes");
  if (node->inputs.size() == 2) {  // of opset 18
    const Fixed* list = walk.known(node->inputs[1]) ? walk.fixed(*node, 1) : nullptr;
    if (list == nullptr || !list->tensor.known) return false;
    axes = list->tensor.integers;
  }
  return axes.size() == 1 && rank > 1 && checked_axis(axes[0], rank) + 1 == rank;
}

/// x² as a power or as a product.
bool is_square(const Walk& walk, const Node& node, const std::string& x) {
  if (node.op_type == "Mul") return node.inputs.size() == 2 && node.inputs[0] == x && node.inputs[1] == x;
  const auto two = node.op_type == "Pow" ? with_number(walk, node) : std::nullopt;
  return two && two->first == 0 && two->second == 2.0;
}

/// The only reader of `node`, when it is an `op_type` that also reads a known number.
std::optional<std::pair<const Node*, double>> following(const Walk& walk, const Node& node,
                                                        const std::string& op_type) {
  const Node* next = walk.only_reader(node);
  if (next == nullptr || next->op_type != op_type) return std::nullopt;
  const auto number = with_number(walk, *next);
  if (!number) return std::nullopt;
  return std::pair{next, number->second};
}

/// The only reader of `node`, when it is an `op_type` that also reads a weight of `size` numbers
/// in at most `rank` axes, and where.
std::optional<std::pair<const Node*, std::size_t>> with_weight(const Walk& walk, const Node& node,
                                                               const std::string& op_type, std::int64_t size,
                                                               std::size_t rank) {
  const Node* next = walk.only_reader(node);
  if (next == nullptr || next->op_type != op_type || next->inputs.size() != 2) return std::nullopt;
  const std::size_t other = next->inputs[0] == node.outputs[0] ? 1 : 0;
  if (!walk.known(next->inputs[other])) return std::nullopt;
  const Fixed* weight = walk.fixed(*next, other);
  if (weight == nullptr || weight->transposed || weight->tensor.type != Type::real) return std::nullopt;
  const Shape& shape = weight->tensor.shape;
  // With more axes than the other operand it would give the result more.
  if (shape.empty() || shape.size() > rank || shape.back() != size || element_count(shape) != size)
    return std::nullopt;
  return std::pair{next, other};
}

}  // namespace

bool became_layer_norm(Walk& walk, const Node& mean) {
  const Shape x = walk.shape(mean, 0);
  if (!is_mean_of_rows(walk, &mean, x.size())) return false;
  const Node* centred = walk.only_reader(mean);
  if (centred == nullptr || centred->op_type != "Sub" || centred->inputs[0] != mean.inputs[0]) return false;
  for (const Node* square : walk.readers(centred->outputs[0])) {
    if (!is_square(walk, *square, centred->outputs[0])) continue;
    const Node* variance = walk.only_reader(*square);
    if (!is_mean_of_rows(walk, variance, x.size())) continue;
    const auto plus = following(walk, *variance, "Add");
    const Node* root = plus ? walk.only_reader(*plus->first) : nullptr;
    if (root == nullptr || root->op_type != "Sqrt") continue;
    const Node* ratio = walk.only_reader(*root);
    if (ratio == nullptr || ratio->op_type != "Div" || ratio->inputs[0] != centred->outputs[0]) continue;
    const std::size_t reads = square->op_type == "Mul" ? 3 : 2;
    if (walk.readers(centred->outputs[0]).size() != reads) continue;
    const auto weight = with_weight(walk, *ratio, "Mul", x.back(), x.size());
    const auto bias = weight ? with_weight(walk, *weight->first, "Add", x.back(), x.size()) : std::nullopt;
    if (!bias) continue;
    const std::string name = Walk::name_of(mean);
    const ValueId from = walk.row_major(mean, 0);
    walk.graph().bind(name + ".weight", walk.weight(*weight->first, weight->second, {x.back()}));
    walk.graph().bind(name + ".bias", walk.weight(*bias->first, bias->second, {x.back()}));
    walk.set(*bias->first, nn::layer_norm(walk.graph(), name, from, plus->second));
    for (const Node* part :
         {centred, square, variance, plus->first, root, ratio, weight->first, bias->first}) {
      walk.skip(*part);
    }
    walk.notice(
        "ReduceMean, Sub, Pow, ReduceMean, Add, Sqrt, Div, Mul, Add were recognised as layer normalisation");
    return true;
  }
  return false;
}

std::optional<std::pair<std::size_t, double>> factor_of(const Walk& walk, const Node& node) {
  if (node.op_type != "Mul" && node.op_type != "Div") return std::nullopt;
  auto found = with_number(walk, node);
  if (!found || node.op_type == "Mul") return found;
  if (found->first != 0 || found->second == 0) return std::nullopt;
  return std::pair{found->first, 1.0 / found->second};
}

std::optional<std::pair<const Node*, double>> following_factor(const Walk& walk, const Node& node,
                                                               std::size_t rank) {
  const Node* next = walk.only_reader(node);
  if (next == nullptr) return std::nullopt;
  const auto factor = factor_of(walk, *next);
  if (!factor || walk.shape(*next, 1 - factor->first).size() > rank) return std::nullopt;
  return std::pair{next, factor->second};
}

std::optional<std::pair<const Node*, std::size_t>> following_bias(const Walk& walk, const Node& node,
                                                                  std::int64_t size) {
  return with_weight(walk, node, "Add", size, walk.shape(node, 0).size());
}

bool feeds_product_only(const Walk& walk, const Node& node) {
  const Node* next = walk.only_reader(node);
  while (next != nullptr && next->op_type == "Transpose") next = walk.only_reader(*next);
  return next != nullptr && next->op_type == "MatMul";
}

bool became_gelu(Walk& walk, const Node& node, std::size_t position) {
  const std::string& x = node.inputs[position];
  // Each of the readers comes here and looks at all: their number must be bounded.
  constexpr std::size_t kMostReaders = 64;
  if (walk.reader_count(x) > kMostReaders) return false;
  for (const Node* start : walk.readers(x)) {
    if (!multiplies(walk, start, std::sqrt(0.5))) continue;
    const Node* erf = walk.only_reader(*start);
    if (erf == nullptr || erf->op_type != "Erf") continue;
    const Node* plus = walk.only_reader(*erf);
    if (plus == nullptr || plus->op_type != "Add") continue;
    const auto one = with_number(walk, *plus);
    if (!one || !about(one->second, 1.0)) continue;
    const Node* times = walk.only_reader(*plus);
    if (times == nullptr || times->op_type != "Mul" || times->inputs.size() != 2) continue;
    const std::string& other = times->inputs[times->inputs[0] == plus->outputs[0] ? 1 : 0];
    const Node* half = nullptr;
    const Node* last = nullptr;
    if (other == x) {  // (x (1 + erf)) / 2
      half = walk.only_reader(*times);
      if (multiplies(walk, half, 0.5)) last = half;
    } else {  // (x / 2) (1 + erf)
      for (const Node* reader : walk.readers(x)) {
        if (reader->outputs[0] == other && multiplies(walk, reader, 0.5) &&
            walk.only_reader(*reader) == times) {
          half = reader;
          last = times;
        }
      }
    }
    if (last == nullptr) continue;
    const ValueId y = nn::gelu(walk.graph(), Walk::name_of(*erf), walk.row_major(node, position));
    for (const Node* part : {start, erf, plus, times, half}) walk.skip(*part);
    walk.set(*last, y);
    walk.notice("Div, Erf, Add, Mul, Mul were recognised as GELU");
    return true;
  }
  return false;
}

}  // namespace poet::onnx
