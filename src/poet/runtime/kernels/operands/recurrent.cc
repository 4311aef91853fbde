// lstm, gru, rnn. Which operands a backward op has follows from the gradients that it writes.

#include "poet/base/amounts.h"
#include "poet/runtime/kernels/operands/rules.h"

namespace poet::runtime::operands {
namespace {

enum class Layer { lstm, gru, rnn };

/// A layer's sizes and the shapes that follow from them.
struct Shapes {
  Index steps, directions, batch, hidden;
  Index inputs = 0;  // width of x; 0: not known yet
  Index gates;       // rows of the weights, in multiples of hidden
  Index kept;        // gates that are kept; an rnn has none

  [[nodiscard]] Shape states() const { return {steps, directions, batch, hidden}; }
  [[nodiscard]] Shape initial() const { return {directions, batch, hidden}; }
  [[nodiscard]] Shape kept_gates() const { return {steps, directions, batch, kept * hidden}; }
  [[nodiscard]] Shape x() const { return {steps, batch, inputs}; }
  [[nodiscard]] Shape weight_ih() const { return {directions, gates * hidden, inputs}; }
  [[nodiscard]] Shape weight_hh() const { return {directions, gates * hidden, hidden}; }
  [[nodiscard]] Shape bias() const { return {directions, 2 * gates * hidden}; }
};

/// From the shape of y, and the attributes.
Shapes shapes_of(const OperandReader& op, Layer layer, const Shape& y) {
  op.need(y.size() == 4, "states of four axes, not {}", text_of(y));
  Shapes s{y[0], y[1], y[2], y[3], 0, 1, 0};
  const std::string& direction = op.text("direction", {"forward", "reverse", "bidirectional"});
  const Index directions = direction == "bidirectional" ? 2 : 1;
  op.need(s.directions == directions, "{}, not {}", counted(directions, "direction"), s.directions);
  if (layer == Layer::lstm) s.gates = s.kept = 4;
  if (layer == Layer::gru) {
    s.gates = 3;
    s.kept = op.integer("linear_before_reset", 0, 1) != 0 ? 4 : 3;
  }
  if (layer == Layer::rnn) (void)op.text("activation", {"tanh", "relu"});
  if (op.has("initial_state")) (void)op.integer("initial_state", 1, 1);
  return s;
}

/// Initial states among a layer's inputs.
Index state_count(const OperandReader& op, Layer layer) {
  return !op.has("initial_state") ? 0 : layer == Layer::lstm ? 2 : 1;
}

template <Layer layer>
void forward(const OperandReader& op) {
  Shapes s = shapes_of(op, layer, op.out(0));
  op.need_in_rank(0, 3, 3);
  s.inputs = op.in(0)[2];
  op.need_in(0, s.x());
  op.need_in(1, s.weight_ih());
  op.need_in(2, s.weight_hh());
  const auto states = static_cast<std::size_t>(state_count(op, layer));
  op.need(op.inputs() == 3 + states || op.inputs() == 4 + states, "{} and at most a bias",
          counted(static_cast<Index>(states), "initial state"));
  for (std::size_t i = 3; i < 3 + states; ++i) op.need_in(i, s.initial());
  if (op.inputs() == 4 + states) op.need_in(3 + states, s.bias());
  if (layer == Layer::lstm) op.need_out(1, s.states());
  if (layer != Layer::rnn) op.need_out(layer == Layer::lstm ? 2 : 1, s.kept_gates());
}

/// How many of an lstm's y and cells a gradient has arrived at; of another layer's y it has.
std::size_t arrived(const OperandReader& op, Layer layer) {
  const Index most = layer == Layer::lstm ? 2 : 1;
  if (!op.has("output_gradients")) return static_cast<std::size_t>(most);
  const std::size_t count = op.list("output_gradients").size();
  op.need(count >= 1, "at least one number in output_gradients");
  (void)op.positions("output_gradients", most, count, "gradients that arrive");
  return count;
}

template <Layer layer>
void backward(const OperandReader& op) {
  Shapes s = shapes_of(op, layer, op.in(0));
  const Index states = state_count(op, layer);
  const std::vector<Index> written = op.gradients(0, 3 + states, true);
  const auto writes = [&written](Index position) {
    for (const Index w : written)
      if (w == position) return true;
    return false;
  };

  // The operands in order; those that are not there are left out.
  std::vector<Shape> wanted(arrived(op, layer), s.states());
  const auto add = [&wanted](bool there, const Shape& shape) {
    if (there) wanted.push_back(shape);
  };
  const bool needs_x = writes(1);
  const bool needs_weight = writes(0);
  if (needs_x || needs_weight) {
    op.need(op.inputs() > wanted.size(), "x or weight_ih");
    op.need_in_rank(wanted.size(), 3, 3);
    s.inputs = op.in(wanted.size())[2];  // of x, else of weight_ih
  }
  add(needs_x, s.x());
  add(needs_weight, s.weight_ih());
  add(true, s.weight_hh());
  add(states > 0 && (layer == Layer::gru || writes(2)), s.initial());
  add(states > 0 && layer == Layer::lstm, s.initial());
  add(layer != Layer::lstm || writes(2), s.states());
  add(layer == Layer::lstm, s.states());
  add(layer != Layer::rnn, s.kept_gates());
  op.need(op.inputs() == wanted.size(), "{} inputs for the gradients that it reads and writes, not {}",
          wanted.size(), op.inputs());
  for (std::size_t i = 0; i < wanted.size(); ++i) op.need_in(i, wanted[i]);

  for (std::size_t i = 0; i < written.size(); ++i) {
    const Index position = written[i];
    op.need_out(i, position == 0           ? s.x()
                   : position == 1         ? s.weight_ih()
                   : position == 2         ? s.weight_hh()
                   : position < 3 + states ? s.initial()
                                           : s.bias());
  }
}

}  // namespace

void add_recurrent_rules(RuleTable& table) {
  table["lstm"] = {"f f f f? f? f? : f f f", forward<Layer::lstm>};
  table["gru"] = {"f f f f? f? : f f", forward<Layer::gru>};
  table["rnn"] = {"f f f f? f? : f", forward<Layer::rnn>};
  table["lstm_backward"] = {"f+ : f+", backward<Layer::lstm>};
  table["gru_backward"] = {"f+ : f+", backward<Layer::gru>};
  table["rnn_backward"] = {"f+ : f+", backward<Layer::rnn>};
}

}  // namespace poet::runtime::operands
