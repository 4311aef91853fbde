#include "poet/graph/nn/recurrent.h"

#include <fmt/format.h>

#include <utility>

#include "poet/base/error.h"
#include "poet/graph/diagnostics.h"
#include "poet/graph/nn/layout.h"

namespace poet::nn {

using diagnostics::place;
using diagnostics::text;

namespace {

const char* name_of(Direction direction) {
  switch (direction) {
    case Direction::forward:
      return "forward";
    case Direction::reverse:
      return "reverse";
    case Direction::bidirectional:
      return "bidirectional";
  }
  return "";
}

/// What the three kinds have in common, ready for the op.
struct RecurrentLayer {
  Shape states;  // (S, directions, N, hidden_size)
  std::vector<ValueId> inputs;
  Attributes attributes;
};

RecurrentLayer recurrent(GraphBuilder& g, const std::string& name, ValueId x, const RecurrentOptions& options,
                         std::int64_t gates, bool has_cells) {
  g.check_operand(name, x, 3);
  const Shape from = g.shape(x);
  const std::int64_t hidden = options.hidden_size;
  constexpr std::int64_t kMost = std::int64_t{1} << 40;  // so that 8 of them fit
  if (hidden < 1 || hidden > kMost) {
    throw InputError(place(name), fmt::format("hidden_size must be between 1 and {}, not {}", kMost, hidden));
  }
  const std::int64_t directions = options.direction == Direction::bidirectional ? 2 : 1;
  RecurrentLayer layer;
  layer.states = {from[0], directions, from[1], hidden};
  layer.attributes["direction"] = std::string(name_of(options.direction));

  const auto weight = [&](const char* suffix, const Shape& of) {
    const ValueId v = g.persistent(name, name + suffix, of, Persistence::parameter);
    g.check_operand(name, v);  // bound to anything
    return v;
  };
  layer.inputs = {x, weight(".weight_ih", {directions, gates * hidden, from[2]}),
                  weight(".weight_hh", {directions, gates * hidden, hidden})};

  if (options.initial_c.valid() != (has_cells && options.initial_h.valid())) {
    throw InputError(place(name), has_cells ? "has both initial states or none" : "has no cell state");
  }
  for (const ValueId state : {options.initial_h, options.initial_c}) {
    if (!state.valid()) continue;
    g.check_operand(name, state, 3);
    const Shape wanted = {directions, from[1], hidden};
    if (g.shape(state) != wanted) {
      throw InputError(place(name), fmt::format("the initial state '{}' is {}, but must be {}",
                                                g.value(state).name, text(g.shape(state)), text(wanted)));
    }
    layer.inputs.push_back(state);
    layer.attributes["initial_state"] = std::int64_t{1};
  }
  if (options.bias) layer.inputs.push_back(weight(".bias", {directions, 2 * gates * hidden}));
  return layer;
}

}  // namespace

LstmOutputs lstm(GraphBuilder& g, const std::string& name, ValueId x, const RecurrentOptions& options) {
  RecurrentLayer layer = recurrent(g, name, x, options, 4, true);
  Shape four = layer.states;
  four.back() *= 4;
  const ValueId y = g.output(name, name, {layer.states, {}});
  const ValueId cells = g.output(name, name + ".cells", {layer.states, {}});
  const ValueId gates = g.output(name, name + ".gates", {std::move(four), {}});
  g.append(name, "lstm", std::move(layer.attributes), std::move(layer.inputs), {y, cells, gates});
  return {y, cells};
}

ValueId gru(GraphBuilder& g, const std::string& name, ValueId x, const RecurrentOptions& options,
            bool linear_before_reset) {
  RecurrentLayer layer = recurrent(g, name, x, options, 3, false);
  // The product that the reset gate multiplies is what its derivative needs.
  Shape kept = layer.states;
  kept.back() *= linear_before_reset ? 4 : 3;
  const ValueId y = g.output(name, name, {layer.states, {}});
  const ValueId gates = g.output(name, name + ".gates", {std::move(kept), {}});
  layer.attributes["linear_before_reset"] = std::int64_t{linear_before_reset ? 1 : 0};
  g.append(name, "gru", std::move(layer.attributes), std::move(layer.inputs), {y, gates});
  return y;
}

ValueId rnn(GraphBuilder& g, const std::string& name, ValueId x, const RecurrentOptions& options, bool relu) {
  RecurrentLayer layer = recurrent(g, name, x, options, 1, false);
  const ValueId y = g.output(name, name, {layer.states, {}});
  layer.attributes["activation"] = std::string(relu ? "relu" : "tanh");
  g.append(name, "rnn", std::move(layer.attributes), std::move(layer.inputs), {y});
  return y;
}

ValueId last_step(GraphBuilder& g, const std::string& name, ValueId states, Direction direction) {
  g.check_operand(name, states, 4);
  const Shape from = g.shape(states);
  const bool both = direction == Direction::bidirectional;
  if (from[1] != (both ? 2 : 1)) {
    throw InputError(place(name),
                     fmt::format("{} has not the states of a {} layer", text(from), name_of(direction)));
  }
  const Shape to = {from[1], from[2], from[3]};
  if (from[0] == 1) return reshape(g, name, states, to);
  const auto at = [&](const std::string& as, std::int64_t step, std::int64_t d) {
    return slice(g, as, states, {step, d, 0, 0}, {step + 1, d + 1, from[2], from[3]});
  };
  const std::int64_t end = from[0] - 1;
  if (!both) return reshape(g, name, at(name + ".step", direction == Direction::reverse ? 0 : end, 0), to);
  return reshape(g, name,
                 concat(g, name + ".steps", {at(name + ".forward", end, 0), at(name + ".reverse", 0, 1)}, 1),
                 to);
}

}  // namespace poet::nn
