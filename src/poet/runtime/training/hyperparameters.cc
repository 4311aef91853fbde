#include "poet/runtime/training/hyperparameters.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <string>

#include "poet/base/error.h"

namespace poet::runtime {
namespace {

bool is_optimizer(const std::string& kind) {
  return kind == "sgd_update" || kind == "momentum_update" || kind == "adam_update" || kind == "adamw_update";
}

void check_positive(const char* field, double value) {
  const auto used = static_cast<float>(value);
  if (!(used > 0) || !std::isfinite(used)) throw InputError(Field{field}, "must be > 0 and finite");
}

void check_decay(const char* field, double value) {
  if (!(value >= 0 && value < 1)) throw InputError(Field{field}, "must be at least 0 and below 1");
}

/// `field` is the name of the update ops' attribute, too.
void set(Graph& training, const char* field, const std::optional<double>& value,
         void (*check)(const char* field, double value)) {
  if (!value) return;
  check(field, *value);
  bool found = false;
  for (Op& op : training.ops) {
    if (!is_optimizer(op.kind) || !op.attributes.contains(field)) continue;
    op.attributes[field] = *value;
    found = true;
  }
  if (!found) throw InputError(Field{field}, "the network's optimiser has none (`optimizer`)");
}

/// An attribute of which the absence is 0.
void set_weight_decay(Graph& training, double value) {
  if (!(value >= 0) || !std::isfinite(value))
    throw InputError(Field{"weight_decay"}, "must be at least 0 and finite");
  for (Op& op : training.ops) {
    if (!is_optimizer(op.kind)) continue;
    if (value > 0 && training.values[op.inputs.at(0)].rows)
      throw InputError(Field{"weight_decay"},
                       fmt::format("changes every row of {}, of which the plan moves those alone that a "
                                   "step names; solve with `split` off",
                                   training.values[op.inputs[0]].name));
    if (value > 0 || op.kind == "adamw_update")
      op.attributes["weight_decay"] = value;
    else
      op.attributes.erase("weight_decay");
  }
}

void set_nesterov(Graph& training, bool value) {
  bool found = false;
  for (Op& op : training.ops) {
    if (op.kind != "momentum_update") continue;
    found = true;
    if (value && std::get<double>(op.attributes.at("momentum")) == 0)
      throw InputError(Field{"nesterov"}, "needs a `momentum` above 0");
    if (value)
      op.attributes["nesterov"] = std::int64_t{1};
    else
      op.attributes.erase("nesterov");
  }
  if (!found) throw InputError(Field{"nesterov"}, "is for `optimizer` momentum");
}

}  // namespace

void set_hyperparameters(Graph& training, const Hyperparameters& chosen) {
  set(training, "learning_rate", chosen.learning_rate, check_positive);
  set(training, "momentum", chosen.momentum, check_decay);
  set(training, "beta1", chosen.beta1, check_decay);
  set(training, "beta2", chosen.beta2, check_decay);
  set(training, "eps", chosen.eps, check_positive);
  if (chosen.weight_decay) set_weight_decay(training, *chosen.weight_decay);
  if (chosen.nesterov) set_nesterov(training, *chosen.nesterov);
}

/// A graph's updates agree: one training made them.
std::int64_t steps_per_update(const Graph& training) {
  for (const Op& op : training.ops) {
    const auto every = op.attributes.find("every");
    if (op.pass == Pass::update && every != op.attributes.end()) return std::get<std::int64_t>(every->second);
  }
  return 1;
}

}  // namespace poet::runtime
