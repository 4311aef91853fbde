#include "poet/frontend/onnx/lower/loss.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "poet/base/error.h"
#include "poet/frontend/onnx/lower/constants/attributes.h"
#include "poet/frontend/onnx/lower/constants/shape_rules.h"
#include "poet/frontend/onnx/lower/lowering.h"
#include "poet/graph/nn.h"

namespace poet::onnx {
namespace {

/// Returns the node of ONNX's own domain that writes the value, or null.
const Node* writer_of(const Model& model, const std::string& value) {
  const auto writes = [&value](const Node& node) {
    return std::find(node.outputs.begin(), node.outputs.end(), value) != node.outputs.end();
  };
  const auto found = std::find_if(model.nodes.begin(), model.nodes.end(), writes);
  return found == model.nodes.end() || !found->domain.empty() ? nullptr : &*found;
}

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

/// `convolved`: a convolution wrote the output. `final_softmax`: the softmax that was removed, or null.
void add_cross_entropy(Lowering& net, ValueId output, bool convolved, const Node* final_softmax) {
  GraphBuilder& graph = net.builder;
  ValueId logits = output;
  const Shape from = graph.shape(output);
  if (from.size() < 2) {
    throw InputError(
        fmt::format("the output {} has no axis of classes; `loss` mse is for numbers", shown(from)));
  }
  std::int64_t rows = 1;
  bool channels = from.size() > 1;  // (N, C, 1, 1...)
  for (std::size_t i = 2; i < from.size(); ++i) channels = channels && from[i] == 1;
  // Convolutions have channels along axis 1; other results with three axes have classes along the last one.
  bool pixels = (from.size() > 3 || (from.size() == 3 && convolved)) && !channels;
  if (final_softmax != nullptr) {
    // Its axis is the axis of the classes.
    const std::string place = place_of(*final_softmax);
    std::size_t axis = 0;
    try {
      axis = softmax_axis(*final_softmax, from, net.model.opset);
    } catch (const InputError& error) {
      throw InputError(place, error.what());
    }
    if (pixels && axis + 1 == from.size()) pixels = false;
    if (!channels && from.size() == 3 && axis == 1) pixels = true;
    const std::size_t classes = pixels || channels ? 1 : from.size() - 1;
    if (axis != classes) {
      throw InputError(place, fmt::format("normalises axis {} of {}, but the loss has its classes along axis "
                                          "{}; transpose before it",
                                          axis, shown(from), classes));
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
      break;
  }
  throw InternalError("a loss of numbers is one of these");
}

/// Returns the output to which the loss is applied.
const std::string& output_of(const Model& model, const ImportOptions& options) {
  if (!options.loss_output) return model.outputs.front();
  const auto found = std::find(model.outputs.begin(), model.outputs.end(), *options.loss_output);
  if (found == model.outputs.end())
    throw InputError(Field{"loss_output"}, fmt::format("\"{}\" is not one of the outputs ({})",
                                                       *options.loss_output, fmt::join(model.outputs, ", ")));
  return *found;
}

void check_delta(const ImportOptions& options) {
  if (!options.huber_delta) return;
  if (options.loss != Loss::huber) throw InputError(Field{"huber_delta"}, "is for `loss` huber");
  if (!(*options.huber_delta > 0) || !std::isfinite(*options.huber_delta))
    throw InputError(Field{"huber_delta"}, "must be > 0 and finite");
}

}  // namespace

LossInput taken_off(const Model& model, const ImportOptions& options, Notices& notices) {
  check_delta(options);
  LossInput input{output_of(model, options)};
  if (model.outputs.size() > 1) {
    notices.add(fmt::format("of {} outputs only {}'{}'{} gets a loss", model.outputs.size(),
                            options.loss_output ? "" : "the first, ", input.logits,
                            options.loss_output ? "" : ","));
  }
  if (options.loss != Loss::cross_entropy) return input;
  const Node* last = writer_of(model, input.logits);
  if (last != nullptr && last->outputs.front() == input.logits && !last->inputs.empty() &&
      (last->op_type == "SoftmaxCrossEntropyLoss" || last->op_type == "NegativeLogLikelihoodLoss")) {
    input.file_had_loss = true;
    notices.add(
        fmt::format("the file's {} was taken off: poet's loss is the mean over all targets, without weights",
                    last->op_type));
    input.logits = last->inputs.front();
    last = writer_of(model, input.logits);
  }
  if (last != nullptr && last->inputs.size() == 1 &&
      (last->op_type == "Softmax" || last->op_type == "LogSoftmax")) {
    input.final_softmax = last;
    notices.add(fmt::format("the final {} was taken off: the cross-entropy loss has its own", last->op_type));
    input.logits = last->inputs.front();
  }
  return input;
}

void add_loss(Lowering& net, const LossInput& input) {
  const auto found = net.operands.find(input.logits);
  const Runtime* output = found == net.operands.end() ? nullptr : std::get_if<Runtime>(&found->second);
  if (output == nullptr || output->type != Type::real)
    throw InputError(fmt::format("the output '{}' does not depend on the inputs", input.logits));
  if (net.options.loss != Loss::cross_entropy) return add_loss_of_numbers(net, output->id);
  const bool convolved = std::any_of(net.model.nodes.begin(), net.model.nodes.end(), [&](const Node& node) {
    return (node.op_type == "Conv" || node.op_type == "ConvTranspose") && !node.outputs.empty() &&
           node.outputs.front() == input.logits;
  });
  add_cross_entropy(net, output->id, convolved || input.file_had_loss, input.final_softmax);
}

}  // namespace poet::onnx
