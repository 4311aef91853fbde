#include "poet/frontend/onnx/lower/loss.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "poet/base/error.h"
#include "poet/frontend/onnx/lower/constants/attributes.h"
#include "poet/frontend/onnx/lower/constants/shape_rules.h"
#include "poet/frontend/onnx/lower/lowering.h"
#include "poet/frontend/onnx/lower/views.h"
#include "poet/graph/nn.h"

namespace poet::onnx {
namespace {

/// Returns the axis that a softmax normalises. Before opset 13 a softmax normalises all axes from the given
/// one on, which is equivalent if at most one of them is longer than 1; otherwise throws InputError.
std::size_t softmax_axis(const Node& node, const Shape& shape, std::int64_t opset) {
  const std::size_t first = checked_axis(integer(node, "axis", opset < 13 ? 1 : -1), shape.size());
  if (opset >= 13) return first;
  std::size_t axis = first;
  for (std::size_t i = first; i < shape.size(); ++i) {
    if (shape[i] == 1) continue;
    if (shape[axis] != 1 && axis != i) throw InputError("normalises several axes at once");
    axis = i;
  }
  return axis;
}

/// Returns the axis of the classes, which is that of the softmax that was removed, given the shape of what it
/// read. Throws InputError.
std::size_t classes_axis(const Lowering& net, const RemovedSoftmax& softmax, const Shape& shape) {
  try {
    return softmax.axis ? checked_axis(*softmax.axis, shape.size())
                        : softmax_axis(*softmax.node, shape, net.model.opset);
  } catch (const InputError& error) {
    throw InputError(place_of(*softmax.node), error.what());
  }
}

/// `convolved`: a convolution wrote the output.
void add_cross_entropy(Lowering& net, ValueId output, bool convolved,
                       const std::optional<RemovedSoftmax>& softmax) {
  GraphBuilder& graph = net.builder;
  ValueId logits = output;
  const Shape from = graph.shape(output);
  if (from.size() < 2) {
    throw InputError(fmt::format(
        "the output {} has no axis of classes; `loss` mse is for numbers, `loss` none for a network "
        "that computes its loss itself",
        shown(from)));
  }
  std::int64_t rows = 1;
  bool channels = from.size() > 1;  // (N, C, 1, 1...)
  for (std::size_t i = 2; i < from.size(); ++i) channels = channels && from[i] == 1;
  // Convolutions have channels along axis 1; other results with three axes have classes along the last one.
  bool pixels = (from.size() > 3 || (from.size() == 3 && convolved)) && !channels;
  if (softmax && !softmax->is_seen) {
    const std::size_t axis = classes_axis(net, *softmax, from);
    if (pixels && axis + 1 == from.size()) pixels = false;
    if (!channels && from.size() == 3 && axis == 1) pixels = true;
    const std::size_t classes = pixels || channels ? 1 : from.size() - 1;
    if (axis != classes) {
      throw InputError(place_of(*softmax->node),
                       fmt::format("normalises axis {} of {}, but the loss has its classes along axis "
                                   "{}; transpose before it",
                                   axis, shown(from), classes));
    }
  }
  if (softmax && softmax->is_seen) {  // in another shape, which must keep the classes together
    const Shape shape = graph.shape(std::get<Runtime>(net.operands.at(softmax->logits)).id);
    const std::size_t axis = classes_axis(net, *softmax, shape);
    const auto after = shape.begin() + static_cast<std::ptrdiff_t>(axis) + 1;
    const bool ends =
        element_count(Shape(after, shape.end())) == 1 && shape[axis] == (channels ? from[1] : from.back());
    pixels = !channels && from.size() > 2 && axis == 1 && std::equal(shape.begin(), after, from.begin());
    if (!ends && !pixels) {
      throw InputError(place_of(*softmax->node),
                       fmt::format("normalises axis {} of {}, which the output has as {}; give the loss its "
                                   "input as an output (`loss_output`)",
                                   axis, shown(shape), shown(from)));
    }
  }
  if (pixels) {
    // One prediction per pixel, classes along axis 1.
    std::vector<std::int64_t> classes_last = {0};
    for (std::size_t i = 2; i < from.size(); ++i) classes_last.push_back(static_cast<std::int64_t>(i));
    classes_last.push_back(1);
    // If the exporter has transposed it before, a view suffices.
    const bool is_stored_so = permuted(graph.layout(logits), classes_last).strides.empty();
    logits = is_stored_so ? nn::permute(graph, "logits.rows", logits, classes_last)
                          : nn::transpose(graph, "logits.rows", logits, classes_last);
    rows = element_count(from) / from[1];
    logits = nn::reshape(graph, "logits.flat", logits, {rows, from[1]});
    net.notices.add("the loss is the mean over every position of the output, with its classes along axis 1");
  } else {
    logits = row_major(graph, "logits", logits);
    const std::int64_t classes = channels ? from[1] : from.back();
    rows = element_count(from) / classes;
    if (from.size() > 2 && !channels) {
      net.notices.add(
          "the loss is the mean over every position of the output, with its classes along the last axis");
    }
    if (from.size() != 2) logits = nn::reshape(graph, "logits.flat", logits, {rows, classes});
  }
  if (graph.shape(logits).back() == 1) {
    throw InputError(
        fmt::format("the output {} has one class, for which cross-entropy is always 0; `loss` mse is "
                    "for numbers",
                    shown(from)));
  }
  const ValueId targets = graph.input("targets", {rows}, DType::int32);
  nn::softmax_cross_entropy(graph, "loss", logits, targets);
}

void add_loss_of_numbers(Lowering& net, ValueId output) {
  GraphBuilder& graph = net.builder;
  const ValueId x = row_major(graph, "logits", output);
  const ValueId targets = graph.input("targets", Shape(graph.shape(x)));
  switch (net.options.loss) {
    case Loss::mean_squared_error:
      nn::mse_loss(graph, "loss", x, targets);
      return;
    case Loss::absolute_error:
      nn::l1_loss(graph, "loss", x, targets);
      return;
    case Loss::huber:
      nn::huber_loss(graph, "loss", x, targets, net.options.huber_delta.value_or(1.0));
      return;
    case Loss::binary_cross_entropy:
      nn::bce_loss(graph, "loss", x, targets);
      return;
    case Loss::binary_cross_entropy_with_logits:
      nn::bce_with_logits_loss(graph, "loss", x, targets);
      return;
    case Loss::cross_entropy:
    case Loss::none:
      break;
  }
  throw InternalError("a loss of numbers is one of these");
}

/// Adds the sum of outputs of one number each as the loss.
void add_sum(Lowering& net, const std::vector<std::string>& names, const std::vector<ValueId>& outputs) {
  GraphBuilder& graph = net.builder;
  ValueId sum;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (element_count(graph.shape(outputs[i])) != 1)
      throw InputError(Field{"loss"},
                       fmt::format("none trains outputs of one number, but '{}' is {}; take its "
                                   "mean in the network, or choose a loss",
                                   names[i], shown(graph.shape(outputs[i]))));
    const ValueId one =
        nn::reshape(graph, fmt::format("loss.{}", i), row_major(graph, names[i], outputs[i]), {1});
    sum = i == 0 ? one : nn::add(graph, fmt::format("loss.sum{}", i), sum, one);
  }
  nn::mean_loss(graph, "loss", sum);
}

}  // namespace

void add_loss(Lowering& net, const LossInput& input) {
  std::vector<ValueId> outputs;
  for (const std::string& name : input.outputs) {
    const auto found = net.operands.find(name);
    const Runtime* output = found == net.operands.end() ? nullptr : std::get_if<Runtime>(&found->second);
    if (output == nullptr || output->type != Type::real)
      throw InputError(fmt::format("the output '{}' does not depend on the inputs", name));
    outputs.push_back(output->id);
  }
  if (net.options.loss == Loss::none) return add_sum(net, input.outputs, outputs);
  if (net.options.loss != Loss::cross_entropy) return add_loss_of_numbers(net, outputs.front());
  const Node* last = writer(net.uses, input.outputs.front());
  while (last != nullptr && !last->inputs.empty() && (last->op_type == "Identity" || is_real_cast(*last)))
    last = writer(net.uses, last->inputs[0]);
  const bool convolved = last != nullptr && (last->op_type == "Conv" || last->op_type == "ConvTranspose");
  add_cross_entropy(net, outputs.front(), convolved || input.file_had_loss, input.softmax);
}

}  // namespace poet::onnx
