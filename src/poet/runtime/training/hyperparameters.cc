#include "poet/runtime/training/hyperparameters.h"

#include <cmath>
#include <string>

#include "poet/base/error.h"

namespace poet::runtime {
namespace {

bool is_optimizer(const std::string& kind) {
  return kind == "sgd_update" || kind == "momentum_update" || kind == "adam_update";
}

void set(Graph& training, const char* attribute, const char* option, double value) {
  bool found = false;
  for (Op& op : training.ops) {
    if (!is_optimizer(op.kind) || !op.attributes.contains(attribute)) continue;
    op.attributes[attribute] = value;
    found = true;
  }
  if (!found) throw InputError(option, "the network's optimiser has none (--optimizer)");
}

void check_positive(const char* option, double value) {
  if (!(value > 0) || !std::isfinite(value)) throw InputError(option, "must be > 0 and finite");
}

void check_decay(const char* option, double value) {
  if (!(value >= 0 && value < 1)) throw InputError(option, "must be at least 0 and below 1");
}

}  // namespace

void set_hyperparameters(Graph& training, const Hyperparameters& chosen) {
  if (chosen.learning_rate) {
    check_positive("--learning-rate", *chosen.learning_rate);
    set(training, "learning_rate", "--learning-rate", *chosen.learning_rate);
  }
  if (chosen.momentum) {
    check_decay("--momentum", *chosen.momentum);
    set(training, "momentum", "--momentum", *chosen.momentum);
  }
  if (chosen.beta1) {
    check_decay("--beta1", *chosen.beta1);
    set(training, "beta1", "--beta1", *chosen.beta1);
  }
  if (chosen.beta2) {
    check_decay("--beta2", *chosen.beta2);
    set(training, "beta2", "--beta2", *chosen.beta2);
  }
  if (chosen.eps) {
    check_positive("--eps", *chosen.eps);
    set(training, "eps", "--eps", *chosen.eps);
  }
}

}  // namespace poet::runtime
