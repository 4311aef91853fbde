#include "poet/autodiff/updates.h"

#include <algorithm>
#include <cstddef>
#include <string>

#include "poet/base/error.h"

namespace poet {
namespace {

// The defaults that users of the usual frameworks expect.
constexpr double kSgdLearningRate = 0.01;
constexpr double kMomentum = 0.9;
constexpr double kAdamLearningRate = 1e-3;
constexpr double kAdamBeta1 = 0.9;
constexpr double kAdamBeta2 = 0.999;
constexpr double kAdamEps = 1e-8;
constexpr double kAdamWDecay = 0.01;

ValueId add_state(Graph& graph, ValueId parameter, const std::string& name) {
  Value state = graph.values[parameter];
  state.name += "." + name;
  state.persistence = Persistence::optimizer_state;
  return graph.values.push_back(std::move(state));
}

Op update_op(Graph& graph, const TrainedParameter& trained, const TrainingOptions& options) {
  Op op;
  op.name = graph.values[trained.parameter].name + ":update";
  op.pass = Pass::update;
  op.recomputable = false;
  op.inputs = {trained.parameter, trained.gradient};
  op.updates = {trained.parameter};
  const auto with_state = [&](const std::string& name) {
    const ValueId state = add_state(graph, trained.parameter, name);
    op.inputs.push_back(state);
    op.updates.push_back(state);
  };
  const auto add_moments = [&] {
    op.attributes.insert({{"learning_rate", kAdamLearningRate},
                          {"beta1", kAdamBeta1},
                          {"beta2", kAdamBeta2},
                          {"eps", kAdamEps}});
    with_state("exp_avg");
    with_state("exp_avg_sq");
  };
  if (options.accumulate > 1) op.attributes["every"] = options.accumulate;
  switch (options.optimizer) {
    case Optimizer::sgd:
      op.kind = "sgd_update";
      op.attributes["learning_rate"] = kSgdLearningRate;
      return op;
    case Optimizer::momentum:
      op.kind = "momentum_update";
      op.attributes["learning_rate"] = kSgdLearningRate;
      op.attributes["momentum"] = kMomentum;
      with_state("velocity");
      return op;
    case Optimizer::adam:
      op.kind = "adam_update";
      add_moments();
      return op;
    case Optimizer::adamw:
      op.kind = "adamw_update";
      op.attributes["weight_decay"] = kAdamWDecay;
      add_moments();
      return op;
  }
  throw InternalError("every optimizer has an update op");
}

}  // namespace

std::vector<Op> with_updates(Graph& graph, const std::vector<Op>& ops,
                             const std::vector<TrainedParameter>& trained, const TrainingOptions& options) {
  constexpr std::size_t kNever = static_cast<std::size_t>(-1);
  IdVector<ValueId, std::size_t> last_read(graph.values.size(), kNever);
  IdVector<ValueId, std::size_t> written(graph.values.size(), kNever);
  for (std::size_t i = 0; i < ops.size(); ++i) {
    for (const ValueId v : ops[i].inputs) last_read[storage(graph, v)] = i;
    for (const ValueId v : ops[i].outputs) written[v] = i;
  }

  std::vector<std::vector<Op>> updates_after(ops.size());
  for (const TrainedParameter& t : trained) {
    const std::size_t read = last_read[t.parameter];
    const std::size_t born = written[storage(graph, t.gradient)];
    ensure(read != kNever && born != kNever, "a trained parameter has a reader and its gradient a producer");
    updates_after[std::max(read, born)].push_back(update_op(graph, t, options));
  }

  std::vector<Op> result;
  result.reserve(ops.size() + trained.size());
  for (std::size_t i = 0; i < ops.size(); ++i) {
    result.push_back(ops[i]);
    for (Op& update : updates_after[i]) result.push_back(std::move(update));
  }
  return result;
}

}  // namespace poet
