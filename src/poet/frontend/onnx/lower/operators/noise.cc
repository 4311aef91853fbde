// Random numbers. They are inputs of the step: the data hold them, so that a run can be repeated, and
// compared with another program that is given the same.

#include <fmt/format.h>

#include "poet/base/error.h"
#include "poet/frontend/onnx/lower/operators.h"
#include "poet/graph/nn.h"

namespace poet::onnx {
namespace {

Shape shape_of_noise(const Lowering& net, const Node& node) {
  if (node.op_type.ends_with("Like")) return shape_of(net, node, 0);
  const std::vector<std::int64_t> shape = integers(node, "shape");
  return {shape.begin(), shape.end()};
}

void noise(Lowering& net, const Node& node) {
  const bool normal = node.op_type.starts_with("RandomNormal");
  const double low = normal ? real(node, "mean", 0.0) : real(node, "low", 0.0);
  const double span = normal ? real(node, "scale", 1.0) : real(node, "high", 1.0) - low;
  const std::string name = name_of(node) + ".noise";
  const Shape shape = shape_of_noise(net, node);
  const ValueId fed = net.builder.input(name, shape);
  net.notices.add(fmt::format("the numbers of {} are an input '{}' that the data must hold: {}", node.op_type,
                              name, normal ? "normal, of mean 0 and variance 1" : "from 0 to 1"));
  if (shape.empty() || shape.front() != net.sizes.batch_size)
    net.notices.add(
        fmt::format("'{}' {} does not have the batch as its first axis, so that a run cannot feed it", name,
                    shown(shape)));
  const bool as_is = low == 0.0 && span == 1.0;
  set_result(net, node, as_is ? fed : nn::scale(net.builder, name_of(node), fed, span, low));
}

}  // namespace

const std::vector<OperatorEntry>& noise_operators() {
  static const std::vector<OperatorEntry> entries = {
      {"RandomNormal", noise},
      {"RandomNormalLike", noise},
      {"RandomUniform", noise},
      {"RandomUniformLike", noise},
  };
  return entries;
}

}  // namespace poet::onnx
