// lstm, gru, rnn. Which operands a backward op has follows from the gradients that it writes.

#include "poet/base/amounts.h"
#include "poet/graph/operators/families.h"

namespace poet::operators {
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
Shapes shapes_of(const Checker& op, Layer layer, const Shape& y) {
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
Index state_count(const Checker& op, Layer layer) {
  return !op.has("initial_state") ? 0 : layer == Layer::lstm ? 2 : 1;
}

template <Layer layer>
void forward(const Checker& op) {
  Shapes s = shapes_of(op, layer, op.out(0));
  op.need(op.in(0).size() == 3, "input 0 of 3 axes, not {}", text_of(op.in(0)));
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
std::size_t arrived(const Checker& op, Layer layer) {
  const Index most = layer == Layer::lstm ? 2 : 1;
  if (!op.has("output_gradients")) return static_cast<std::size_t>(most);
  const std::size_t count = op.list("output_gradients").size();
  op.need(count >= 1, "at least one number in output_gradients");
  (void)op.positions("output_gradients", most, count, "gradients that arrive");
  return count;
}

template <Layer layer>
void backward(const Checker& op) {
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
    op.need(op.in(wanted.size()).size() == 3, "input {} of 3 axes, not {}", wanted.size(),
            text_of(op.in(wanted.size())));
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

// ---- work, per element of the hidden states of all steps. A gate is a product with a row of the input and
// one with the state before, whose sum is one accumulation; the two biases are added up beforehand.

/// Multiply-accumulates behind an element of y: gates share weight_ih (D, gates * H, I), H being the rows of
/// weight_hh (D, gates * H, H).
Count recurrent_macs(const WorkReader& w) {
  const Shape& ih = w.in(1);
  const Count hidden = w.last(w.in(2));
  return w.times(ih[1] / hidden, w.plus(w.last(ih), hidden));
}
Count all_recurrent_macs(const WorkReader& w) { return w.each(w.out(0), recurrent_macs(w)); }

bool has_initial_state(const WorkReader& w) { return w.has("initial_state"); }

Count recurrent(const WorkReader& w, std::size_t states, Count biases, Count elementwise) {
  const Count bias = w.inputs() > 3 + (has_initial_state(w) ? states : 0) ? biases : 0;
  const Count products = w.times(2, recurrent_macs(w));
  return w.each(w.out(0), w.plus(products, bias + elementwise));
}
// Three sigmoids (3 + kSpecial each), two tanh, f c + i g and o tanh(c).
Count lstm(const WorkReader& w) { return recurrent(w, 2, 4, 3 * (3 + kSpecial) + 2 * kSpecial + 3 + 1); }
// Two sigmoids, tanh, (1 - z) n + z h and the reset product; before the reset also the sum with the product.
Count gru(const WorkReader& w) {
  const Count before = w.integer("linear_before_reset") != 0 ? 1 : 0;
  return recurrent(w, 1, 3 + before, 2 * (3 + kSpecial) + kSpecial + 4 + 1 + before);
}
bool is_relu(const WorkReader& w) { return w.text("activation") == "relu"; }
Count rnn(const WorkReader& w) { return recurrent(w, 1, 1, is_relu(w) ? 1 : kSpecial); }

/// The shape of the gradient of forward input `position`, if it is written.
const Shape* written_gradient(const WorkReader& w, Index position) {
  const int at = w.gradient(position, {0, 1, 2, 3, 4, 5});
  return at < 0 ? nullptr : &w.out(static_cast<std::size_t>(at));
}

/// The state's gradient goes back through weight_hh in every step; the others are there if they are written.
Count recurrent_backward(const WorkReader& w, Index states, Count gates, Count biases, Count elementwise) {
  const Shape& dy = w.in(0);
  const Count hidden = w.last(dy);
  const Shape* dx = written_gradient(w, 0);
  const Shape* dweight = written_gradient(w, 1);
  Count macs = hidden;
  if (dx != nullptr) macs = w.plus(macs, w.last(*dx));
  if (dweight != nullptr) macs = w.plus(macs, w.last(*dweight));
  if (written_gradient(w, 2) != nullptr) macs = w.plus(macs, hidden);
  const bool bias = written_gradient(w, 3 + (has_initial_state(w) ? states : 0)) != nullptr;
  return w.each(dy, w.plus(w.times(2 * gates, macs), elementwise + (bias ? biases : 0)));
}
// dh: the step's own plus what comes back 1; tanh(c) again kSpecial; do 1; dc += dh o (1 - tanh²) 5; di, df,
// dg 3, dc of the step before 1; the slopes of three sigmoids and a tanh, 3 each. Where the cell states have
// a gradient of their own besides y's, it is added.
Count lstm_backward(const WorkReader& w) {
  const Count both = w.has("output_gradients") ? 0 : 1;
  return recurrent_backward(w, 2, 4, 4, 1 + kSpecial + 1 + 5 + 3 + 1 + Count{4} * 3 + both);
}
// dh 1; dz = dh (h - n) 2; dn = dh (1 - z) 2; dh z 1; three slopes, 3 each. Linear before reset: the gate's
// own and the product's gradient 2. Otherwise: the gate's 1, the state's 2, and the state reset again 1 where
// weight_hh's gradient needs it.
Count gru_backward(const WorkReader& w) {
  const bool before = w.integer("linear_before_reset") != 0;
  const Count reset = before ? 2 : 3 + (written_gradient(w, 2) != nullptr ? 1 : 0);
  return recurrent_backward(w, 1, 3, before ? 4 : 3, 1 + 2 + 2 + 1 + 3 * 3 + reset);
}
// dh 1, the slope.
Count rnn_backward(const WorkReader& w) { return recurrent_backward(w, 1, 1, 1, 1 + (is_relu(w) ? 1 : 3)); }

}  // namespace

// Going back through the steps takes weight_hh and the slopes of the gates; of the products x only the
// weights' gradient needs, weight_ih only x's, the states before each step only weight_hh's. So what a
// gradient reads depends on what it writes, and rules know it.
Schemas recurrent_operators() {
  constexpr const char* kBackward = "reads+ -> gradients+";
  return {
      {.kind = "lstm",
       .operands = "x weight_ih weight_hh initial_h? initial_c? bias? -> y cells gates",
       .rule = forward<Layer::lstm>,
       .flops = lstm,
       .macs = all_recurrent_macs},
      {.kind = "lstm_backward", .operands = kBackward, .rule = backward<Layer::lstm>, .flops = lstm_backward},
      {.kind = "gru",
       .operands = "x weight_ih weight_hh initial_h? bias? -> y gates",
       .rule = forward<Layer::gru>,
       .flops = gru,
       .macs = all_recurrent_macs},
      {.kind = "gru_backward", .operands = kBackward, .rule = backward<Layer::gru>, .flops = gru_backward},
      {.kind = "rnn",
       .operands = "x weight_ih weight_hh initial_h? bias? -> y",
       .rule = forward<Layer::rnn>,
       .flops = rnn,
       .macs = all_recurrent_macs},
      {.kind = "rnn_backward", .operands = kBackward, .rule = backward<Layer::rnn>, .flops = rnn_backward}};
}

}  // namespace poet::operators
