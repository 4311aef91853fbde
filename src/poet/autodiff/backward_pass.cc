#include "poet/autodiff/backward_pass.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

#include "poet/autodiff/layout.h"
#include "poet/base/error.h"
#include "poet/graph/diagnostics.h"
#include "poet/graph/strides.h"

namespace poet {

void BackwardPass::differentiate(const Op& op, bool is_loss) {
  const GradientRule* rule = find_gradient_rule(op.kind);
  const std::vector<std::int64_t> arrived = outputs_with_gradients(op);
  for (const std::int64_t position : arrived) {
    const auto i = static_cast<std::size_t>(position);
    if (i >= (rule == nullptr ? 1 : rule->outputs_with_gradients)) {
      throw InputError(diagnostics::place(op.name),
                       fmt::format("no gradient flows through output '{}' of a {} op",
                                   graph_.values[op.outputs[i]].name, op.kind));
    }
  }
  if (!is_loss && arrived.empty()) return;
  if (rule == nullptr)
    throw InputError(diagnostics::place(op.name),
                     fmt::format("operator kind '{}' has no gradient rule", op.kind));
  std::vector<Task> todo = tasks(op, *rule);
  // The gradient that is written first waits in RAM while the other is computed, so the smaller one goes
  // first: a convolution's weight gradient where images are large, its input gradient where weights are.
  std::stable_sort(todo.begin(), todo.end(),
                   [&](const Task& a, const Task& b) { return written_bytes(op, a) < written_bytes(op, b); });
  for (const Task& task : todo) perform(op, task);
}

std::vector<BackwardPass::Task> BackwardPass::tasks(const Op& op, const GradientRule& rule) const {
  std::vector<Task> result;
  std::vector<bool> open(op.inputs.size());
  for (std::size_t i = 0; i < open.size(); ++i) open[i] = needs(op, i);
  for (const BackwardOp& backward : rule.ops) {
    if (backward.only_with_first && !needs(op, backward.gradients_of.front())) continue;
    std::vector<std::size_t> candidates = backward.gradients_of;
    if (backward.inputs != BackwardOp::Inputs::listed) {
      candidates.resize(open.size());
      std::iota(candidates.begin(), candidates.end(), std::size_t{0});
    }
    if (backward.inputs == BackwardOp::Inputs::each) {
      for (const std::size_t target : candidates) {
        if (open[target]) result.push_back({&backward, {target}});
        open[target] = false;
      }
      continue;
    }
    Task task{&backward, {}};
    for (const std::size_t target : candidates) {
      if (target >= open.size() || !open[target]) continue;
      open[target] = false;
      task.targets.push_back(target);
    }
    if (!task.targets.empty()) result.push_back(std::move(task));
  }
  const auto missed = std::find(open.begin(), open.end(), true);
  if (missed != open.end()) {
    const ValueId v = op.inputs[static_cast<std::size_t>(missed - open.begin())];
    throw InputError(diagnostics::place(op.name),
                     fmt::format("operator kind '{}' has no gradient rule for its input '{}'", op.kind,
                                 graph_.values[v].name));
  }
  return result;
}

/// Whether the gradient is what the op would read. The op is one that may be left out for that.
bool BackwardPass::shares(const Op& op, const Task& task) const {
  if (!task.op->shared_unless_broadcast) return false;
  const Shape& whole = graph_.values[op.outputs[0]].shape;
  return graph_.values[op.inputs[task.targets.front()]].shape == whole;
}

Bytes BackwardPass::written_bytes(const Op& op, const Task& task) const {
  Bytes sum;
  if (shares(op, task)) return sum;
  for (const std::size_t target : task.targets) sum += graph_.values[op.inputs[target]].bytes;
  return sum;
}

/// Whether the op that does the task has this operand.
bool BackwardPass::reads(const Op& op, const Task& task, const Operand& what) {
  if (what.only_with != nullptr && op.attributes.count(what.only_with) == 0) return false;
  return what.only_for < 0 || std::find(task.targets.begin(), task.targets.end(),
                                        static_cast<std::size_t>(what.only_for)) != task.targets.end();
}

void BackwardPass::perform(const Op& op, const Task& task) {
  if (shares(op, task)) {
    for (const std::size_t target : task.targets) {
      contribute(op, op.inputs[target], operands(op, task.op->reads.front()).front());
    }
    return;
  }
  Op backward;
  const bool one_of_many = task.op->inputs == BackwardOp::Inputs::each;
  const std::string position = one_of_many ? fmt::format("_{}", task.targets.front()) : "";
  backward.name = unique(op.name + ":" + task.op->suffix + position);
  backward.kind = task.op->kind;
  backward.attributes = op.attributes;
  backward.pass = Pass::backward;
  backward.recomputable = op.recomputable;
  for (const Operand& what : task.op->reads) {
    if (!reads(op, task, what)) continue;
    const std::vector<ValueId> values = operands(op, what);
    backward.inputs.insert(backward.inputs.end(), values.begin(), values.end());
    const std::size_t most = std::min(op.outputs.size(), find_gradient_rule(op.kind)->outputs_with_gradients);
    if (what.source == Operand::Source::all_output_gradients && values.size() < most)
      backward.attributes["output_gradients"] = outputs_with_gradients(op);
  }

  std::vector<std::int64_t> positions;
  std::size_t possible = task.op->inputs == BackwardOp::Inputs::all ? op.inputs.size() : 0;
  for (const std::size_t target : task.op->gradients_of) possible += target < op.inputs.size() ? 1 : 0;
  for (const std::size_t target : task.targets) {
    positions.push_back(static_cast<std::int64_t>(target));
    const ValueId of = op.inputs[target];
    backward.outputs.push_back(new_gradient(of, "grad:" + graph_.values[of].name));
  }
  if (one_of_many || positions.size() < possible) backward.attributes["gradients"] = positions;
  const std::vector<ValueId> written = backward.outputs;
  ops_.push_back(std::move(backward));
  for (std::size_t i = 0; i < written.size(); ++i) contribute(op, op.inputs[task.targets[i]], written[i]);
}

/// Positions of the outputs that a gradient has arrived at.
std::vector<std::int64_t> BackwardPass::outputs_with_gradients(const Op& op) const {
  std::vector<std::int64_t> positions;
  for (std::size_t i = 0; i < op.outputs.size(); ++i) {
    if (gradients_[op.outputs[i]].valid()) positions.push_back(static_cast<std::int64_t>(i));
  }
  return positions;
}

std::vector<ValueId> BackwardPass::operands(const Op& op, const Operand& what) {
  switch (what.source) {
    case Operand::Source::output_gradient:
      return {gradients_[op.outputs[0]]};
    case Operand::Source::all_output_gradients: {
      std::vector<ValueId> arrived;
      for (const std::int64_t i : outputs_with_gradients(op))
        arrived.push_back(gradients_[op.outputs[static_cast<std::size_t>(i)]]);
      return arrived;
    }
    case Operand::Source::all_inputs:
      return op.inputs;
    case Operand::Source::all_outputs:
      return op.outputs;
    case Operand::Source::input:
    case Operand::Source::output:
      break;
  }
  const bool is_input = what.source == Operand::Source::input;
  const std::vector<ValueId>& list = is_input ? op.inputs : op.outputs;
  return {what.transposed ? transposed(list[what.index]) : list[what.index]};
}

/// A view of `v` with the last two axes swapped.
ValueId BackwardPass::transposed(ValueId v) {
  const Value& value = graph_.values[v];
  const std::size_t rank = value.shape.size();
  std::vector<std::int64_t> axes(rank);
  std::iota(axes.begin(), axes.end(), 0);
  std::swap(axes[rank - 1], axes[rank - 2]);
  return add_view(graph_, v, permuted(strided_shape(value), axes), unique(value.name + ":transposed"));
}

ValueId BackwardPass::new_gradient(ValueId of, const std::string& name) {
  const Value& model = graph_.values[of];
  Value gradient;
  gradient.name = unique(name);
  gradient.shape = model.shape;
  gradient.strides = model.strides;
  gradient.dtype = model.dtype;
  gradient.bytes = model.bytes;
  gradient.persistence = graph_.values[storage(graph_, of)].persistence == Persistence::parameter
                             ? Persistence::parameter_gradient
                             : Persistence::activation;
  return graph_.values.push_back(std::move(gradient));
}

/// Adds `gradient`, which has the shape of forward value `to`, to what has arrived at the storage of `to`.
/// The sum is taken at once, so that a contribution dies as soon as there is a second one.
void BackwardPass::contribute(const Op& op, ValueId to, ValueId gradient) {
  const ValueId target = storage(graph_, to);
  const ValueId contribution = as_storage(op, to, gradient);
  if (!gradients_[target].valid()) {
    gradients_[target] = contribution;
    return;
  }
  const std::string name = "grad:" + graph_.values[target].name;
  Op add;
  add.name = unique(name + ":accumulate");
  add.kind = "add";
  add.pass = Pass::backward;
  add.inputs = {gradients_[target], contribution};
  add.outputs = {new_gradient(target, name + ":sum")};
  gradients_[target] = add.outputs.front();
  ops_.push_back(std::move(add));
}

/// `gradient` of the forward value `view`, seen as the gradient of the storage of `view`.
ValueId BackwardPass::as_storage(const Op& op, ValueId view, ValueId gradient) {
  const ValueId target = storage(graph_, view);
  ensure(graph_.values[gradient].shape == graph_.values[view].shape, "a gradient has the shape of its value");
  if (view == target) return gradient;
  const Value& whole = graph_.values[target];
  const std::optional<StridedShape> seen = viewed_back(graph_.values[gradient], graph_.values[view], whole);
  if (!seen) {
    throw InputError(diagnostics::place(op.name),
                     fmt::format("the gradient of view '{}' is no view of the gradient of '{}'",
                                 graph_.values[view].name, whole.name));
  }
  if (*seen == strided_shape(graph_.values[gradient])) return gradient;
  return add_view(graph_, gradient, *seen, unique("grad:" + whole.name));
}

std::string BackwardPass::unique(const std::string& name) {
  const auto [known, is_new] = names_.emplace(name, 2);
  if (is_new) return name;
  for (int& next = known->second;;) {
    std::string candidate = fmt::format("{}:{}", name, next++);
    if (names_.emplace(candidate, 2).second) return candidate;
  }
}

}  // namespace poet
