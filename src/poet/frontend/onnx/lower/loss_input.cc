#include "poet/frontend/onnx/lower/loss_input.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "poet/base/error.h"
#include "poet/base/text.h"
#include "poet/frontend/onnx/lower/constants/attributes.h"
#include "poet/frontend/onnx/lower/uses.h"
#include "poet/frontend/onnx/lower/views.h"

namespace poet::onnx {
namespace {

/// A model and the nodes that write its values.
struct Written {
  const Model& model;
  std::map<std::string, const Node*> writers;
};

/// Returns the node of ONNX's own domain, with inputs, that writes the value, or null.
const Node* writer_of(const Written& w, const std::string& value) {
  const auto found = w.writers.find(value);
  if (found == w.writers.end() || !found->second->domain.empty() || found->second->inputs.empty())
    return nullptr;
  return found->second;
}

const Node* writer_of(const Written& w, const std::string& value, const char* op_type) {
  const Node* node = writer_of(w, value);
  return node != nullptr && node->op_type == op_type ? node : nullptr;
}

/// Returns the tensor that the file stores as an initialiser or a Constant node, also where it is cast; or
/// null.
const Tensor* stored_tensor(const Written& w, std::string name) {
  const auto is_cast = [](const Node* node) {
    return node != nullptr && (node->op_type == "CastLike" || is_real_cast(*node));
  };
  for (const Node* node = writer_of(w, name); is_cast(node); node = writer_of(w, name))
    name = node->inputs[0];
  const auto stored = w.model.initializers.find(name);
  if (stored != w.model.initializers.end()) return &stored->second;
  const auto made = w.writers.find(name);
  return made == w.writers.end() || made->second->op_type != "Constant" ? nullptr
                                                                        : stated_value(*made->second);
}

/// Returns whether bounds leave probabilities nearly as they are.
bool bounds_nothing(const Written& w, const Node& clip) {
  constexpr double kNearly = 0.01;
  const auto bound = [&](std::size_t i, const char* attribute, double none) {
    if (i >= clip.inputs.size() || clip.inputs[i].empty()) return real(clip, attribute, none);
    const Tensor* tensor = stored_tensor(w, clip.inputs[i]);
    return tensor != nullptr && tensor->fill ? *tensor->fill : std::nan("");
  };
  return bound(1, "min", 0.0) <= kNearly && bound(2, "max", 1.0) >= 1.0 - kNearly;
}

/// Returns whether the node keeps probabilities as they are or nearly so.
bool keeps_all(const Written& w, const Node& node) {
  return node.op_type == "Identity" || is_real_cast(node) ||
         (node.op_type == "Clip" && bounds_nothing(w, node));
}

/// Returns the only axis of a reduction that keeps it, if the file says it.
std::optional<std::int64_t> kept_axis(const Written& w, const Node& node) {
  std::vector<std::int64_t> axes = integers(node, "axes");
  if (node.inputs.size() > 1)
    if (const Tensor* tensor = stored_tensor(w, node.inputs[1])) axes = tensor->integers;
  return axes.size() == 1 && integer(node, "keepdims", 1) != 0 ? std::optional(axes[0]) : std::nullopt;
}

/// Returns the softmax that the node ends: itself, or Exp(x) / ReduceSum(Exp(x)), or the logarithm of one.
std::optional<RemovedSoftmax> softmax_at(const Written& w, const Node& node) {
  if (node.op_type == "Softmax" || node.op_type == "LogSoftmax")
    return RemovedSoftmax{&node, {}, node.inputs[0]};
  if (node.op_type == "Log") {
    const Node* of = writer_of(w, node.inputs[0]);
    return of == nullptr || of->op_type == "Log" || of->op_type == "LogSoftmax" ? std::nullopt
                                                                                : softmax_at(w, *of);
  }
  if (node.op_type != "Div" || node.inputs.size() != 2) return std::nullopt;
  const Node* exp = writer_of(w, node.inputs[0], "Exp");
  const Node* sum = writer_of(w, node.inputs[1], "ReduceSum");
  const Node* summed = sum == nullptr ? nullptr : writer_of(w, sum->inputs[0], "Exp");
  if (exp == nullptr || summed == nullptr || summed->inputs[0] != exp->inputs[0]) return std::nullopt;
  const std::optional<std::int64_t> axis = kept_axis(w, *sum);
  if (!axis) return std::nullopt;
  RemovedSoftmax softmax{&node, axis, exp->inputs[0]};
  // Less the largest, which changes nothing.
  const Node* less = writer_of(w, softmax.logits, "Sub");
  const Node* most =
      less == nullptr || less->inputs.size() != 2 ? nullptr : writer_of(w, less->inputs[1], "ReduceMax");
  if (most != nullptr && most->inputs[0] == less->inputs[0] && kept_axis(w, *most) == axis)
    softmax.logits = less->inputs[0];
  return softmax;
}

std::vector<std::string> outputs_of(const Model& model, const ImportOptions& options) {
  if (!options.loss_output) return {model.outputs.front()};
  std::vector<std::string> names = {*options.loss_output};
  if (options.loss == Loss::none) names = pieces_of(*options.loss_output, ',');
  for (const std::string& name : names) {
    if (std::find(model.outputs.begin(), model.outputs.end(), name) == model.outputs.end())
      throw InputError(Field{"loss_output"}, fmt::format("\"{}\" is not one of the outputs ({})", name,
                                                         fmt::join(model.outputs, ", ")));
  }
  return names;
}

void check_delta(const ImportOptions& options) {
  if (!options.huber_delta) return;
  if (options.loss != Loss::huber) throw InputError(Field{"huber_delta"}, "is for `loss` huber");
  if (!(*options.huber_delta > 0) || !std::isfinite(*options.huber_delta))
    throw InputError(Field{"huber_delta"}, "must be > 0 and finite");
}

void note_outputs(const Model& model, const ImportOptions& options, const LossInput& input,
                  Notices& notices) {
  if (model.outputs.size() == input.outputs.size()) return;
  if (options.loss == Loss::none) {
    notices.add(fmt::format("of {} outputs the sum of {} is trained", model.outputs.size(),
                            fmt::join(input.outputs, ", ")));
    return;
  }
  notices.add(fmt::format("of {} outputs only {}'{}'{} gets a loss", model.outputs.size(),
                          options.loss_output ? "" : "the first, ", input.outputs.front(),
                          options.loss_output ? "" : ","));
}

/// Takes the file's own loss off.
void take_loss(const Written& w, LossInput& input, Notices& notices) {
  const Node* last = writer_of(w, input.outputs.front());
  if (last == nullptr || last->outputs.front() != input.outputs.front() ||
      (last->op_type != "SoftmaxCrossEntropyLoss" && last->op_type != "NegativeLogLikelihoodLoss")) {
    return;
  }
  input.file_had_loss = true;
  notices.add(
      fmt::format("the file's {} was taken off: poet's loss is the mean over all targets, without "
                  "weights (--loss none trains the file's)",
                  last->op_type));
  input.outputs = {last->inputs.front()};
}

/// Takes a softmax or sigmoid off the end, or refuses it.
void take_function(const Written& w, const ImportOptions& options, LossInput& input, Notices& notices) {
  std::vector<const Node*> after;
  bool is_seen = false;
  const Node* last = writer_of(w, input.outputs.front());
  while (last != nullptr && (keeps_all(w, *last) || is_reshaping(last->op_type))) {
    is_seen = is_seen || is_reshaping(last->op_type);
    after.push_back(last);
    last = writer_of(w, last->inputs.front());
  }
  if (last == nullptr) return;
  if (options.loss == Loss::cross_entropy && last->op_type == "Clip" && !last->inputs.empty()) {
    const Node* bounded = writer_of(w, last->inputs[0]);
    if (bounded != nullptr && softmax_at(w, *bounded))
      throw InputError(
          Field{"loss_output"},
          fmt::format("'{}' is a softmax cut off by a Clip, which cross-entropy cannot undo; name an "
                      "output of the logits",
                      input.outputs.front()));
  }
  std::string before;
  if (options.loss == Loss::cross_entropy) {
    if (last->op_type == "Sigmoid")
      throw InputError(
          Field{"loss"},
          fmt::format("cross-entropy is over classes, but the output '{}' is a Sigmoid; `loss` bce "
                      "fits probabilities, each of its own",
                      input.outputs.front()));
    std::optional<RemovedSoftmax> softmax = softmax_at(w, *last);
    if (!softmax) return;
    softmax->is_seen = is_seen;
    before = softmax->logits;
    input.softmax = std::move(softmax);
    // What bounds logarithms stays, and their cross-entropy is that of the logits.
    const bool is_log = last->op_type == "LogSoftmax" || last->op_type == "Log";
    const bool is_bounded =
        std::any_of(after.begin(), after.end(), [](const Node* node) { return node->op_type == "Clip"; });
    if (is_log && is_bounded) return;
    notices.add(fmt::format("the final {} was taken off{}: the cross-entropy loss has its own",
                            last->op_type == "Div"   ? "softmax (Exp, ReduceSum, Div)"
                            : last->op_type == "Log" ? "Log of a softmax"
                                                     : last->op_type,
                            is_bounded ? ", and the Clip behind it" : ""));
  } else if (last->op_type == "Sigmoid") {
    before = last->inputs.front();
    notices.add("the final Sigmoid was taken off: bce-with-logits has its own");
  } else {
    return;
  }
  if (!is_seen) {
    input.outputs = {before};
    return;
  }
  // The views stay, of what comes before it; what bounds probabilities does not.
  std::string from = before;
  for (auto node = after.rbegin(); node != after.rend(); ++node) {
    if (!is_reshaping((*node)->op_type)) continue;
    input.rewired.emplace_back((*node)->index, from);
    from = (*node)->outputs.front();
  }
  input.outputs = {from};
}

}  // namespace

LossInput loss_input(const Model& model, const ImportOptions& options, Notices& notices) {
  check_delta(options);
  LossInput input{outputs_of(model, options)};
  note_outputs(model, options, input, notices);
  const Written written{model, writers_of(model)};
  if (options.loss == Loss::cross_entropy) take_loss(written, input, notices);
  if (options.loss == Loss::cross_entropy || options.loss == Loss::binary_cross_entropy_with_logits)
    take_function(written, options, input, notices);
  return input;
}

}  // namespace poet::onnx
