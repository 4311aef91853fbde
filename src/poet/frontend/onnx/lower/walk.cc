#include "poet/frontend/onnx/lower/walk.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <list>

#include "poet/base/error.h"
#include "poet/frontend/onnx/lower/folded_norm.h"
#include "poet/frontend/onnx/lower/loss.h"
#include "poet/frontend/onnx/lower/opaque.h"
#include "poet/frontend/onnx/lower/operators.h"
#include "poet/frontend/onnx/lower/zero_states.h"

namespace poet::onnx {
namespace {

constexpr std::int64_t kMostHeld = std::int64_t{1} << 26;

/// Real numbers that may train if they reach an operator as they are.
bool may_train(const Fixed& x) {
  return x.tensor.type == Type::real && element_count(x.tensor.shape) != 1 && !x.constant && !x.tensor.fill;
}

/// Operators that only change how a constant is seen: the walk's own rules keep its name.
bool only_views(const Node& node, std::size_t rank) {
  const std::int64_t to = integer(node, "to", 0);
  if (node.op_type == "Cast") return to == 1 || to == 10 || to == 11 || to == 16;
  for (const char* view : {"Reshape", "Squeeze", "Unsqueeze", "Transpose", "Identity", "Flatten"}) {
    if (node.op_type == view) return node.op_type != "Transpose" || rank == 2;
  }
  return false;
}

}  // namespace

Walk::Walk(const Model& model, const ImportOptions& options, const std::map<std::size_t, std::string>& opaque)
    : model_(model), options_(options), opaque_(opaque), graph_(model.name), zeros_(zero_values(model)) {
  for (const Node& node : model_.nodes) {
    for (const std::string& input : node.inputs) {
      if (!input.empty()) readers_[input].push_back(&node);
    }
  }
}

std::string Walk::place_of(const Node& node) {
  return fmt::format("node {} '{}' ({})", node.index, node.name, node.op_type);
}

std::string Walk::name_of(const Node& node) {
  return node.name.empty() ? fmt::format("{}_{}", node.op_type, node.index) : node.name;
}

const Node* Walk::only_reader(const Node& node) const {
  const std::string& output = node.outputs.at(0);
  if (output == logits_) return nullptr;
  const std::vector<const Node*> all = readers(output);
  return all.size() == 1 && all.front()->domain.empty() ? all.front() : nullptr;
}

std::size_t Walk::reader_count(const std::string& value) const {
  const auto found = readers_.find(value);
  return found == readers_.end() ? 0 : found->second.size();
}

bool Walk::is_read(const Node& node, std::size_t output) const {
  if (output >= node.outputs.size() || node.outputs[output].empty()) return false;
  const std::string& name = node.outputs[output];
  return name == logits_ || !readers(name).empty();
}

std::vector<const Node*> Walk::readers(const std::string& value) const {
  std::vector<const Node*> out;
  const auto found = readers_.find(value);
  if (found == readers_.end()) return out;
  for (const Node* node : found->second) {
    if (needed_.contains(node->index)) out.push_back(node);
  }
  return out;
}

void Walk::notice(const std::string& text) {
  for (auto& [known, count] : notices_) {
    if (known != text) continue;
    ++count;
    return;
  }
  notices_.emplace_back(text, 1);
}

void Walk::mark_needed() {
  logits_ = model_.outputs.front();
  if (model_.outputs.size() > 1) {
    notice(fmt::format("of {} outputs only the first, '{}', gets a loss", model_.outputs.size(), logits_));
  }
  std::set<std::string> wanted;
  for (std::size_t i = model_.nodes.size(); i-- > 0;) {
    const Node& node = model_.nodes[i];
    const bool provides = std::find(node.outputs.begin(), node.outputs.end(), logits_) != node.outputs.end();
    // Poet's own loss takes the place of the file's.
    if (provides && options_.loss == Loss::cross_entropy && !own_loss_ && final_softmax_ == nullptr &&
        node.domain.empty() && node.outputs.front() == logits_ && !node.inputs.empty() &&
        (node.op_type == "SoftmaxCrossEntropyLoss" || node.op_type == "NegativeLogLikelihoodLoss")) {
      own_loss_ = true;
      notice(fmt::format(
          "the file's {} was taken off: poet's loss is the mean over all targets, without weights",
          node.op_type));
      logits_ = node.inputs.front();
      continue;
    }
    // The loss has a softmax of its own.
    if (provides && options_.loss == Loss::cross_entropy && final_softmax_ == nullptr &&
        node.domain.empty() && (node.op_type == "Softmax" || node.op_type == "LogSoftmax") &&
        node.inputs.size() == 1) {
      final_softmax_ = &node;
      notice(fmt::format("the final {} was taken off: the cross-entropy loss has its own", node.op_type));
      logits_ = node.inputs.front();
      continue;
    }
    const bool used = std::any_of(node.outputs.begin(), node.outputs.end(),
                                  [&](const std::string& output) { return wanted.contains(output); });
    if (!provides && !used) continue;
    needed_.insert(node.index);
    for (std::size_t k = 0; k < node.inputs.size(); ++k) {
      // What only makes zeros for a layer to start with is not computed.
      const bool is_none = is_initial_state(node, k) && zeros_.contains(node.inputs[k]);
      if (!is_none || opaque_.contains(node.index)) wanted.insert(node.inputs[k]);
    }
    wanted.erase("");
  }
}

void Walk::add_constants() {
  for (const auto& [name, tensor] : model_.initializers)
    operands_[name] = Fixed{name, tensor, false, tensor.patterned};
  // First of all, so that rules that look ahead know them.
  for (const Node& node : model_.nodes) {
    if (!needed_.contains(node.index) || !node.domain.empty()) continue;
    static const std::set<std::string> kinds = {"Cast",    "Constant", "ConstantOfShape", "Identity",
                                                "Reshape", "Squeeze",  "Unsqueeze"};
    if (!kinds.contains(node.op_type)) continue;
    const bool early = std::all_of(node.inputs.begin(), node.inputs.end(), [&](const std::string& input) {
      const auto found = operands_.find(input);
      return found != operands_.end() && std::holds_alternative<Fixed>(found->second);
    });
    if (early) visit(node);
  }
}

bool Walk::evaluated(const Node& node) {
  if (node.outputs.empty()) return false;
  if (node.op_type == "Shape" || node.op_type == "Size") {
    const Shape whole = shape(node, 0);
    if (node.op_type == "Size") {
      Tensor count = integer_list({element_count(whole)});
      count.shape = {};
      set(node, Fixed{node.outputs.front(), std::move(count), false, false});
      return true;
    }
    const std::int64_t rank = static_cast<std::int64_t>(whole.size());
    const std::int64_t start = integer(node, "start", 0);
    const std::int64_t end = integer(node, "end", rank);
    const std::int64_t from = std::clamp<std::int64_t>(start < 0 ? start + rank : start, 0, rank);
    const std::int64_t to = std::clamp<std::int64_t>(end < 0 ? end + rank : end, from, rank);
    set(node, Fixed{node.outputs.front(), integer_list(Shape(whole.begin() + from, whole.begin() + to)),
                    false, false});
    return true;
  }
  if (!is_evaluated(node.op_type)) return false;
  Operands inputs;
  std::list<Tensor> filled;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    const Fixed* x = fixed(node, i);
    inputs.push_back(x == nullptr ? nullptr : &x->tensor);
    if (x == nullptr || x->tensor.type != Type::real) continue;
    // Weights keep their names, however small they are.
    if (may_train(*x) || x->transposed) return false;
    if (element_count(x->tensor.shape) != 1 && only_views(node, x->tensor.shape.size())) return false;
    if (x->tensor.known || !x->tensor.fill || !is_evaluated(node.op_type)) continue;
    filled.push_back(with_contents(x->tensor));
    inputs.back() = &filled.back();
  }
  std::optional<Tensor> result = evaluate(node, inputs, opset());
  if (!result) return false;
  // Each is bounded, and so are all together.
  held_ += result->known ? element_count(result->shape) : 0;
  if (held_ > kMostHeld) {
    throw InputError(
        fmt::format("the constants that nodes make have more than {} elements together; store them as "
                    "initialisers",
                    kMostHeld));
  }
  // A number that the file stores is a weight for operators that have one, however it is shaped on the way.
  const Fixed* seen = inputs.empty() ? nullptr : fixed(node, 0);
  if (seen != nullptr && seen->tensor.type == Type::real && !seen->constant && only_views(node, 0)) {
    const std::string name = node.op_type == "Identity" ? node.outputs.front() : seen->name;
    set(node, Fixed{name, std::move(*result), false, false});
    return true;
  }
  const bool constant = node.op_type != "ConstantOfShape";  // which also stands for weights
  set(node, Fixed{node.outputs.front(), std::move(*result), false, constant});
  return true;
}

void Walk::visit(const Node& node) {
  if (!needed_.contains(node.index) || !skipped_.insert(node.index).second) return;
  const auto reason = opaque_.find(node.index);
  const bool evaluable = node.domain.empty() && is_evaluated(node.op_type);
  bool opaque = reason != opaque_.end();
  try {
    if (!opaque && evaluated(node)) {
      ++counts_.evaluated;
      return;
    }
    const bool integers = has(node, 0) && type(node, 0) != Type::real;
    const OperatorRule rule = node.domain.empty() ? find_operator(node.op_type, integers) : nullptr;
    if (rule == nullptr && options_.allow_opaque) opaque = true;
    if (opaque) {
      const std::string evaluates =
          rule == nullptr && evaluable ? "poet only evaluates it, of known inputs" : "";
      return add_opaque(*this, node, reason == opaque_.end() ? evaluates : reason->second);
    }
    if (rule == nullptr && evaluable) {
      throw InputError(
          "poet only evaluates this operator while importing, so all its inputs must be known then; export "
          "with fixed shapes where it computes one, otherwise replace it or plan around it with "
          "`allow_opaque`");
    }
    if (rule == nullptr) {
      throw InputError(
          fmt::format("poet cannot import the operator {}; replace it in the model, cut the model "
                      "before it, or plan around it with `allow_opaque`",
                      operator_name(node)));
    }
    rule(*this, node);
  } catch (const InputError& error) {
    if (opaque) throw InputError(place_of(node), error.what());
    throw NodeError(node.index, place_of(node), error.what());
  }
}

void Walk::add_loss() {
  const auto found = operands_.find(logits_);
  if (found == operands_.end() || !std::holds_alternative<Runtime>(found->second) ||
      std::get<Runtime>(found->second).type != Type::real) {
    throw InputError(fmt::format("the output '{}' does not depend on the inputs", logits_));
  }
  const ValueId output = std::get<Runtime>(found->second).id;
  if (options_.loss == Loss::mean_squared_error) return add_mean_squared_error(*this, output);
  const bool convolved = std::any_of(model_.nodes.begin(), model_.nodes.end(), [&](const Node& node) {
    return (node.op_type == "Conv" || node.op_type == "ConvTranspose") && !node.outputs.empty() &&
           node.outputs.front() == logits_;
  });
  add_cross_entropy(*this, output, convolved || own_loss_, final_softmax_);
}

ImportedModel Walk::run() {
  if (options_.batch_size && *options_.batch_size < 1) throw InputError("batch size", "must be >= 1");
  mark_needed();
  add_inputs();
  add_constants();
  for (const Node& node : model_.nodes) visit(node);
  add_loss();
  if (const auto folded = folded_norm_notice(model_, needed_)) notice(*folded);
  ImportedModel imported;
  imported.forward = graph_.finish();
  imported.nodes = counts_;
  imported.nodes.all = static_cast<std::int64_t>(model_.nodes.size());
  imported.nodes.unneeded = imported.nodes.all - static_cast<std::int64_t>(needed_.size());
  imported.batch_size = batch_size_;
  for (const auto& [name, parameter] : parameters_) {
    if (parameter.transposed) imported.transposed.push_back(name);
  }
  imported.contents = std::move(contents_);
  imported.placements = std::move(placements_);
  for (const auto& [text, count] : notices_) {
    imported.notices.push_back(count == 1 ? text : fmt::format("{} ({} times)", text, count));
  }
  return imported;
}

}  // namespace poet::onnx
