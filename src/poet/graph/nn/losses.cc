#include "poet/graph/nn/losses.h"

#include <fmt/format.h>

#include <utility>

#include "poet/base/error.h"
#include "poet/graph/diagnostics.h"

namespace poet::nn {

using diagnostics::place;
using diagnostics::text;

ValueId softmax_cross_entropy(GraphBuilder& g, const std::string& name, ValueId logits, ValueId targets) {
  g.check_operand(name, logits, 2);
  g.check_operand(name, targets, 1, DType::int32);
  if (g.shape(logits)[0] != g.shape(targets)[0]) {
    throw InputError(place(name), fmt::format("{} rows of logits but {} targets", g.shape(logits)[0],
                                              g.shape(targets)[0]));
  }
  const ValueId loss = g.output(name, name, {{1}, {}});
  const ValueId probabilities = g.output(name, name + ".probabilities", {g.shape(logits), {}});
  g.append(name, "softmax_cross_entropy", {}, {logits, targets}, {loss, probabilities});
  return loss;
}

namespace {

/// Of numbers with targets of their shape.
ValueId loss_of_numbers(GraphBuilder& g, const std::string& name, const char* kind, ValueId x,
                        ValueId targets, Attributes attributes = {}) {
  g.check_operand(name, x);
  g.check_operand(name, targets);
  if (g.shape(x) != g.shape(targets)) {
    throw InputError(place(name), fmt::format("compares {} with targets of shape {}", text(g.shape(x)),
                                              text(g.shape(targets))));
  }
  const ValueId loss = g.output(name, name, {{1}, {}});
  g.append(name, kind, std::move(attributes), {x, targets}, {loss});
  return loss;
}

}  // namespace

ValueId mean_loss(GraphBuilder& g, const std::string& name, ValueId x) {
  g.check_operand(name, x);
  const ValueId loss = g.output(name, name, {{1}, {}});
  g.append(name, "mean_loss", {}, {x}, {loss});
  return loss;
}

ValueId mse_loss(GraphBuilder& g, const std::string& name, ValueId x, ValueId targets) {
  return loss_of_numbers(g, name, "mse_loss", x, targets);
}

ValueId l1_loss(GraphBuilder& g, const std::string& name, ValueId x, ValueId targets) {
  return loss_of_numbers(g, name, "l1_loss", x, targets);
}

ValueId huber_loss(GraphBuilder& g, const std::string& name, ValueId x, ValueId targets, double delta) {
  return loss_of_numbers(g, name, "huber_loss", x, targets, {{"delta", delta}});
}

ValueId bce_with_logits_loss(GraphBuilder& g, const std::string& name, ValueId x, ValueId targets) {
  return loss_of_numbers(g, name, "bce_with_logits_loss", x, targets);
}

ValueId bce_loss(GraphBuilder& g, const std::string& name, ValueId x, ValueId targets) {
  return loss_of_numbers(g, name, "bce_loss", x, targets);
}

}  // namespace poet::nn
