// Recurrent layers: lstm, gru, rnn, and the state that they end with.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

#include "poet/base/error.h"
#include "poet/graph/builder.h"
#include "poet/graph/diagnostics.h"

namespace poet {

using diagnostics::place;
using diagnostics::text;

namespace {

const char* text(Direction direction) {
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

}  // namespace

/// What the three kinds have in common, ready for the op.
struct GraphBuilder::RecurrentLayer {
  Shape states;  // (S, directions, N, hidden_size)
  std::vector<ValueId> inputs;
  Attributes attributes;
};

GraphBuilder::RecurrentLayer GraphBuilder::recurrent(const std::string& name, ValueId x,
                                                     const RecurrentOptions& options, std::int64_t gates,
                                                     bool has_cells) {
  check_operand(name, x, 3);
  const Shape from = shape(x);
  const std::int64_t hidden = options.hidden_size;
  constexpr std::int64_t kMost = std::int64_t{1} << 40;  // so that 8 of them fit
  if (hidden < 1 || hidden > kMost) {
    throw InputError(place(name), fmt::format("hidden_size must be between 1 and {}, not {}", kMost, hidden));
  }
  const std::int64_t directions = options.direction == Direction::bidirectional ? 2 : 1;
  RecurrentLayer layer;
  layer.states = {from[0], directions, from[1], hidden};
  layer.attributes["direction"] = std::string(text(options.direction));

  const auto weight = [&](const char* suffix, const Shape& of) {
    const ValueId v = persistent(name, name + suffix, of, Persistence::parameter);
    check_operand(name, v, -1);  // bound to anything
    return v;
  };
  layer.inputs = {x, weight(".weight_ih", {directions, gates * hidden, from[2]}),
                  weight(".weight_hh", {directions, gates * hidden, hidden})};

  if (options.initial_c.valid() != (has_cells && options.initial_h.valid())) {
    throw InputError(place(name), has_cells ? "has both initial states or none" : "has no cell state");
  }
  for (const ValueId state : {options.initial_h, options.initial_c}) {
    if (!state.valid()) continue;
    check_operand(name, state, 3);
    const Shape wanted = {directions, from[1], hidden};
    if (shape(state) != wanted) {
      throw InputError(place(name), fmt::format("the initial state '{}' is {}, but must be {}",
                                                graph_.values[state].name, text(shape(state)), text(wanted)));
    }
    layer.inputs.push_back(state);
    layer.attributes["initial_state"] = std::int64_t{1};
  }
  if (options.bias) layer.inputs.push_back(weight(".bias", {directions, 2 * gates * hidden}));
  return layer;
}

LstmOutputs GraphBuilder::lstm(const std::string& name, ValueId x, const RecurrentOptions& options) {
  RecurrentLayer layer = recurrent(name, x, options, 4, true);
  Shape four = layer.states;
  four.back() *= 4;
  const ValueId y = output(name, name, {layer.states, {}});
  const ValueId cells = output(name, name + ".cells", {layer.states, {}});
  const ValueId gates = output(name, name + ".gates", {std::move(four), {}});
  append(name, "lstm", std::move(layer.attributes), std::move(layer.inputs), {y, cells, gates});
  return {y, cells};
}

ValueId GraphBuilder::gru(const std::string& name, ValueId x, const RecurrentOptions& options,
                          bool linear_before_reset) {
  RecurrentLayer layer = recurrent(name, x, options, 3, false);
  // The product that the reset gate multiplies is what its derivative needs.
  Shape kept = layer.states;
  kept.back() *= linear_before_reset ? 4 : 3;
  const ValueId y = output(name, name, {layer.states, {}});
  const ValueId gates = output(name, name + ".gates", {std::move(kept), {}});
  layer.attributes["linear_before_reset"] = std::int64_t{linear_before_reset ? 1 : 0};
  append(name, "gru", std::move(layer.attributes), std::move(layer.inputs), {y, gates});
  return y;
}

ValueId GraphBuilder::rnn(const std::string& name, ValueId x, const RecurrentOptions& options, bool relu) {
  RecurrentLayer layer = recurrent(name, x, options, 1, false);
  const ValueId y = output(name, name, {layer.states, {}});
  layer.attributes["activation"] = std::string(relu ? "relu" : "tanh");
  append(name, "rnn", std::move(layer.attributes), std::move(layer.inputs), {y});
  return y;
}

ValueId GraphBuilder::last_step(const std::string& name, ValueId states, Direction direction) {
  check_operand(name, states, 4);
  const Shape from = shape(states);
  const bool both = direction == Direction::bidirectional;
  if (from[1] != (both ? 2 : 1)) {
    throw InputError(place(name),
                     fmt::format("{} has not the states of a {} layer", text(from), text(direction)));
  }
  const Shape to = {from[1], from[2], from[3]};
  if (from[0] == 1) return reshape(name, states, to);
  const auto at = [&](const std::string& as, std::int64_t step, std::int64_t d) {
    return slice(as, states, {step, d, 0, 0}, {step + 1, d + 1, from[2], from[3]});
  };
  const std::int64_t end = from[0] - 1;
  if (!both) return reshape(name, at(name + ".step", direction == Direction::reverse ? 0 : end, 0), to);
  return reshape(
      name, concat(name + ".steps", {at(name + ".forward", end, 0), at(name + ".reverse", 0, 1)}, 1), to);
}

}  // namespace poet
