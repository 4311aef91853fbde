#include "poet/autodiff/differentiate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "poet/autodiff/backward_pass.h"
#include "poet/autodiff/gradient_rules.h"
#include "poet/autodiff/prepared_gradients.h"
#include "poet/autodiff/updates.h"
#include "poet/base/error.h"
#include "poet/graph/diagnostics.h"
#include "poet/graph/operators/schema.h"

namespace poet {
namespace {

std::string place(const Graph& graph) { return fmt::format("graph '{}'", graph.name); }

/// The one op whose first output is the loss. Also refuses what is not a forward graph.
OpId find_loss(const Graph& forward) {
  OpId loss;
  for (const OpId id : ids<OpId>(forward.ops.size())) {
    const Op& op = forward.ops[id];
    if (op.pass == Pass::backward)
      throw InputError(diagnostics::place(op.name), "a forward graph has no backward ops");
    for (const ValueId v : op.updates) {
      if (forward.values[v].persistence == Persistence::parameter) {
        throw InputError(diagnostics::place(op.name), "a forward graph does not update parameters");
      }
    }
    if (!is_loss(op)) continue;
    if (loss.valid()) {
      throw InputError(
          diagnostics::place(op.name),
          fmt::format("there must be one loss, and '{}' is one already", forward.ops[loss].name));
    }
    loss = id;
  }
  if (!loss.valid())
    throw InputError(place(forward), "no loss: a softmax_cross_entropy, mse_loss or other loss op is needed");
  return loss;
}

/// Per storage: does anything trained lie upstream, so that a gradient would be of use?
IdVector<ValueId, std::uint8_t> find_needed(const Graph& forward, const TrainingOptions& options) {
  IdVector<ValueId, std::uint8_t> needed(forward.values.size(), 0);
  for (const ValueId v : ids<ValueId>(forward.values.size())) {
    const Value& value = forward.values[v];
    if (value.persistence != Persistence::parameter || value.dtype != DType::float32 ||
        value.alias_of.valid())
      continue;
    needed[v] = !options.trainable || options.trainable(value.name) ? 1 : 0;
  }
  for (const Op& op : forward.ops) {
    const bool carries = std::any_of(op.inputs.begin(), op.inputs.end(),
                                     [&](ValueId v) { return needed[storage(forward, v)] != 0; });
    if (!carries) continue;
    const GradientRule* rule = find_gradient_rule(op.kind);
    if (rule != nullptr && rule->ops.empty()) continue;  // constant but for jumps
    for (const ValueId v : op.outputs) needed[v] = forward.values[v].dtype == DType::float32 ? 1 : 0;
  }
  return needed;
}

void check(const TrainingOptions& options) {
  constexpr std::int64_t kMostSteps = 1'000'000;
  if (options.accumulate < 1 || options.accumulate > kMostSteps)
    throw InputError(Field{"accumulate"}, "must be from 1 to 1,000,000 steps per update");
  if (options.clip_norm && !(*options.clip_norm > 0 && std::isfinite(*options.clip_norm)))
    throw InputError(Field{"clip_norm"}, "must be > 0 and finite");
}

}  // namespace

Graph differentiate(const Graph& forward, const TrainingOptions& options) {
  verify(forward);
  check(options);
  const OpId loss = find_loss(forward);
  BackwardPass backward(forward, find_needed(forward, options));
  for (std::size_t i = forward.ops.size(); i-- > 0;)
    backward.differentiate(forward.ops[OpId(i)], OpId(i) == loss);

  std::vector<TrainedParameter> trained;
  for (const ValueId v : ids<ValueId>(forward.values.size())) {
    if (forward.values[v].persistence != Persistence::parameter || !backward.gradient(v).valid()) continue;
    trained.push_back({v, backward.gradient(v)});
  }
  if (trained.empty())
    throw InputError(place(forward), "nothing trains: the loss depends on no trainable parameter");

  std::vector<Op> ops(forward.ops.begin(), forward.ops.end());
  ops.insert(ops.end(), backward.ops().begin(), backward.ops().end());
  Graph training = std::move(backward.graph());
  ops = with_prepared_gradients(training, ops, trained, options);
  ops = with_updates(training, ops, trained, options);
  for (Op& op : ops) {
    const OpId id = training.ops.push_back(std::move(op));
    for (const ValueId v : training.ops[id].outputs) training.values[v].producer = id;
  }
  return verified(std::move(training));
}

}  // namespace poet
