#include "poet/runtime/training/hyperparameters.h"

#include <cmath>
#include <string>

#include "poet/base/error.h"

namespace poet::runtime {
namespace {

bool is_optimizer(const std::string& kind) {
  return kind == "sgd_update" || kind == "momentum_update" || kind == "adam_update";
}

void check_positive(const char* field, double value) {
  if (!(value > 0) || !std::isfinite(value)) throw InputError(Field{field}, "must be > 0 and finite");
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

}  // namespace

void set_hyperparameters(Graph& training, const Hyperparameters& chosen) {
  set(training, "learning_rate", chosen.learning_rate, check_positive);
  set(training, "momentum", chosen.momentum, check_decay);
  set(training, "beta1", chosen.beta1, check_decay);
  set(training, "beta2", chosen.beta2, check_decay);
  set(training, "eps", chosen.eps, check_positive);
}

}  // namespace poet::runtime
