// Recurrent layers of every kind.

#include "tests/support/gradient_nets.h"

namespace poet::test {

std::vector<RecurrentCase> recurrent_cases() {
  std::vector<RecurrentCase> cases;
  for (const char* kind : {"lstm", "gru", "rnn"}) {
    for (const nn::Direction direction :
         {nn::Direction::forward, nn::Direction::reverse, nn::Direction::bidirectional}) {
      for (const int bits : {0, 1, 2, 3, 4, 5, 6, 7}) {
        const bool variant = (bits & 4) != 0;
        cases.push_back({kind, variant, direction, (bits & 1) != 0, (bits & 2) != 0});
      }
    }
  }
  return cases;
}

Graph recurrent_net(const RecurrentCase& wanted) {
  GraphBuilder g(wanted.name());
  const std::int64_t directions = wanted.direction == nn::Direction::bidirectional ? 2 : 1;
  const ValueId x = nn::linear(g, "embed", g.input("x", {3, 2, 2}), 2);
  nn::RecurrentOptions options;
  options.hidden_size = 3;
  options.direction = wanted.direction;
  options.bias = wanted.bias;
  if (wanted.states) {
    options.initial_h = g.parameter("h0", {directions, 2, 3});
    if (wanted.kind == "lstm")
      options.initial_c = nn::linear(g, "c0", g.input("start", {directions, 2, 1}), 3);
  }
  ValueId y;
  ValueId cells;
  if (wanted.kind == "lstm") {
    const nn::LstmOutputs out = nn::lstm(g, "layer", x, options);
    y = out.y;
    if (wanted.variant) cells = out.cells;
  }
  if (wanted.kind == "gru") y = nn::gru(g, "layer", x, options, wanted.variant);
  if (wanted.kind == "rnn") y = nn::rnn(g, "layer", x, options, wanted.variant);
  const auto with_last = [&](const std::string& name, ValueId states) {
    return nn::mul(g, name + ".both", states, nn::last_step(g, name + ".last", states, wanted.direction));
  };
  ValueId h;
  if (!cells.valid() || wanted.bias) h = with_last("y", y);
  if (cells.valid())
    h = h.valid() ? nn::add(g, "sum", h, with_last("cells", cells)) : with_last("cells", cells);
  nn::softmax_cross_entropy(g, "loss", nn::reshape(g, "rows", h, {6 * directions, 3}),
                            g.input("targets", {6 * directions}, DType::int32));
  return g.finish();
}

}  // namespace poet::test
