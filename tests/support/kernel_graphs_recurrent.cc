// lstm, gru and rnn, with parts of them frozen: operands that only the frozen parts' gradients need are gone.

#include "poet/graph/nn.h"
#include "tests/support/kernel_graphs.h"

namespace poet::test {
namespace {

Graph recurrent(std::uint64_t seed) {
  Draws draw(seed);
  GraphBuilder g("recurrent");
  const auto direction = static_cast<nn::Direction>(draw(0, 2));
  const std::int64_t directions = direction == nn::Direction::bidirectional ? 2 : 1;
  const std::int64_t batch = draw(1, 5);
  const ValueId x = nn::linear(g, "embed", g.input("x", {draw(1, 4), batch, 2}), draw(1, 9));
  nn::RecurrentOptions options;
  options.hidden_size = draw(1, 9);
  options.direction = direction;
  options.bias = draw.half();
  const std::int64_t kind = draw(0, 2);
  const Shape states = {directions, batch, options.hidden_size};
  if (draw.half()) {
    options.initial_h = g.parameter("h0", states);
    if (kind == 0) options.initial_c = g.parameter("c0", states);
  }
  ValueId y;
  if (kind == 0) {
    const nn::LstmOutputs out = nn::lstm(g, "layer", x, options);
    const std::int64_t read = draw(0, 2);
    if (read == 0) y = out.y;
    if (read == 1) y = out.cells;
    if (read == 2) y = nn::mul(g, "both", out.y, out.cells);
  }
  if (kind == 1) y = nn::gru(g, "layer", x, options, draw.half());
  if (kind == 2) y = nn::rnn(g, "layer", x, options, draw.half());
  // One of the weights, or all that there is.
  const std::vector<std::string> names = {"embed.weight", "layer.weight_ih", "layer.weight_hh"};
  const auto one = static_cast<std::size_t>(draw(0, 5));
  return training_step(
      g, y, [names, one](const std::string& name) { return one >= names.size() || name == names[one]; });
}

}  // namespace

void add_recurrent_families(std::vector<KernelGraphFamily>& families) {
  families.push_back({"recurrent", 200, recurrent});
}

}  // namespace poet::test
