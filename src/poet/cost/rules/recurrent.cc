// Recurrent layers.

#include "poet/cost/rules.h"

namespace poet::cost {

/// How many gates share weight_ih (D, gates * H, I), H being the rows of weight_hh (D, gates * H, H).
Count recurrent_macs(const Subject& s) {
  const Shape& ih = s.input(1);
  const Count hidden = s.last(s.input(2));
  if (ih.size() != 3 || hidden < 1) s.fail("needs weights of shapes (D, gates * H, I) and (D, gates * H, H)");
  return s.times(ih[1] / hidden, s.plus(s.last(ih), hidden));
}

namespace {

bool has_initial_state(const Subject& s) { return s.op().attributes.count("initial_state") != 0; }

Count recurrent(const Subject& s, std::size_t states, Count biases, Count elementwise) {
  const Count bias = s.has_input(3 + (has_initial_state(s) ? states : 0)) ? biases : 0;
  const Count products = s.times(2, recurrent_macs(s));
  return s.each(s.output(0), s.plus(products, bias + elementwise));
}
// Three sigmoids (3 + kSpecial each), two tanh, f c + i g and o tanh(c).
Count lstm(const Subject& s) { return recurrent(s, 2, 4, 3 * (3 + kSpecial) + 2 * kSpecial + 3 + 1); }
// Two sigmoids, tanh, (1 - z) n + z h and the reset product; before the reset also the sum with the product.
Count gru(const Subject& s) {
  const Count before = s.integer("linear_before_reset") != 0 ? 1 : 0;
  return recurrent(s, 1, 3 + before, 2 * (3 + kSpecial) + kSpecial + 4 + 1 + before);
}
bool is_relu(const Subject& s) {
  const auto found = s.op().attributes.find("activation");
  if (found == s.op().attributes.end()) s.fail("needs the attribute activation");
  return found->second == Attribute(std::string("relu"));
}
Count rnn(const Subject& s) { return recurrent(s, 1, 1, is_relu(s) ? 1 : kSpecial); }

/// The shape of the gradient of forward input `position`, if it is written.
const Shape* written_gradient(const Subject& s, std::size_t position) {
  std::size_t at = position;
  if (const auto found = s.op().attributes.find("gradients"); found != s.op().attributes.end()) {
    const auto* list = std::get_if<std::vector<Count>>(&found->second);
    if (list == nullptr) s.fail("needs a list of integers as its attribute gradients");
    at = static_cast<std::size_t>(std::find(list->begin(), list->end(), static_cast<Count>(position)) -
                                  list->begin());
  }
  return s.has_output(at) ? &s.output(at) : nullptr;
}

/// The state's gradient goes back through weight_hh in every step; the others are there if they are written.
Count recurrent_backward(const Subject& s, std::size_t states, Count gates, Count biases, Count elementwise) {
  const Shape& dy = s.input(0);
  const Count hidden = s.last(dy);
  const Shape* dx = written_gradient(s, 0);
  const Shape* dweight = written_gradient(s, 1);
  Count macs = hidden;
  if (dx != nullptr) macs = s.plus(macs, s.last(*dx));
  if (dweight != nullptr) macs = s.plus(macs, s.last(*dweight));
  if (written_gradient(s, 2) != nullptr) macs = s.plus(macs, hidden);
  const bool bias = written_gradient(s, 3 + (has_initial_state(s) ? states : 0)) != nullptr;
  return s.each(dy, s.plus(s.times(2 * gates, macs), elementwise + (bias ? biases : 0)));
}
// dh: the step's own plus what comes back 1; tanh(c) again kSpecial; do 1; dc += dh o (1 - tanh²) 5; di, df,
// dg 3, dc of the step before 1; the slopes of three sigmoids and a tanh, 3 each. Where the cell states have
// a gradient of their own besides y's, it is added.
Count lstm_backward(const Subject& s) {
  const Count both = s.op().attributes.count("output_gradients") == 0 ? 1 : 0;
  return recurrent_backward(s, 2, 4, 4, 1 + kSpecial + 1 + 5 + 3 + 1 + 4 * 3 + both);
}
// dh 1; dz = dh (h - n) 2; dn = dh (1 - z) 2; dh z 1; three slopes, 3 each. Linear before reset: the gate's
// own and the product's gradient 2. Otherwise: the gate's 1, the state's 2, and the state reset again 1 where
// weight_hh's gradient needs it.
Count gru_backward(const Subject& s) {
  const bool before = s.integer("linear_before_reset") != 0;
  const Count reset = before ? 2 : 3 + (written_gradient(s, 2) != nullptr ? 1 : 0);
  return recurrent_backward(s, 1, 3, before ? 4 : 3, 1 + 2 + 2 + 1 + 3 * 3 + reset);
}
// dh 1, the slope.
Count rnn_backward(const Subject& s) { return recurrent_backward(s, 1, 1, 1, 1 + (is_relu(s) ? 1 : 3)); }

}  // namespace

const std::vector<Rule>& recurrent_rules() {
  static const std::vector<Rule> rules = {
      {"lstm", lstm}, {"lstm_backward", lstm_backward}, {"gru", gru}, {"gru_backward", gru_backward},
      {"rnn", rnn},   {"rnn_backward", rnn_backward},
  };
  return rules;
}

}  // namespace poet::cost
