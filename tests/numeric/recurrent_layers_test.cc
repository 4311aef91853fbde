// Recurrent layers next to PyTorch and by hand: gradients against differences (autodiff_gradient_test.cc)
// would not notice a forward kernel that computes something else.

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "poet/graph/nn.h"
#include "tests/support/reference_kernels.h"

namespace poet {
namespace {

using reference::Interpreter;

// sin(start), sin(start + 1)... for every element of a value.
void fill(Interpreter& run, const Graph& graph, const std::string& name, double start) {
  for (const ValueId v : ids<ValueId>(graph.values.size())) {
    const Value& value = graph.values[v];
    if (value.name != name) continue;
    std::vector<double> numbers;
    for (std::int64_t i = 0; i < element_count(value.shape); ++i)
      numbers.push_back(std::sin(start + static_cast<double>(i)));
    run.set(v, numbers);
  }
}

void expect_near(const std::vector<double>& actual, const std::vector<double>& wanted) {
  ASSERT_EQ(actual.size(), wanted.size());
  for (std::size_t i = 0; i < wanted.size(); ++i) EXPECT_NEAR(actual[i], wanted[i], 1e-11) << i;
}

// PyTorch 1.13 in float64, three steps, two samples, two inputs, two hidden units, both directions; weights
// are written in ONNX's order of gates, of which `order` lists PyTorch's. For kind, order, more in
// (LSTM, 0 2 3 1), (GRU, 1 0 2), (RNN, 0), (RNN, 0, nonlinearity="relu"):
//
//   S, N, I, H, D, G = 3, 2, 2, 2, 2, len(order)
//   def numbers(shape, start):
//     return torch.tensor([sin(start + i) for i in range(prod(shape))]).reshape(shape)
//   net = getattr(torch.nn, kind)(I, H, bidirectional=True, **more)
//   w, r, b = numbers((D, G*H, I), 1), numbers((D, G*H, H), 2), numbers((D, 2*G*H), 3)
//   x, h, c = numbers((S, N, I), 4), numbers((D, N, H), 5), numbers((D, N, H), 6)
//   turn = lambda rows: torch.cat([rows[g*H:(g+1)*H] for g in order])
//   for d, end in enumerate(("", "_reverse")):
//     getattr(net, "weight_ih_l0" + end).copy_(turn(w[d]))
//     getattr(net, "weight_hh_l0" + end).copy_(turn(r[d]))
//     getattr(net, "bias_ih_l0" + end).copy_(turn(b[d][:G*H]))
//     getattr(net, "bias_hh_l0" + end).copy_(turn(b[d][G*H:]))
//   y, last = net(x, (h, c) if kind == "LSTM" else h)
//   print(y.reshape(S, N, D, H).permute(0, 2, 1, 3).flatten(), last)
struct Computed {
  std::vector<double> y, last_h, last_c;
};

Computed computed(const std::string& kind, bool variant) {
  GraphBuilder g(kind);
  const ValueId x = g.input("x", {3, 2, 2});
  nn::RecurrentOptions options;
  options.hidden_size = 2;
  options.direction = nn::Direction::bidirectional;
  options.initial_h = g.input("h", {2, 2, 2});
  nn::LstmOutputs out;
  if (kind == "lstm") {
    options.initial_c = g.input("c", {2, 2, 2});
    out = nn::lstm(g, "layer", x, options);
  } else {
    out.y =
        kind == "gru" ? nn::gru(g, "layer", x, options, variant) : nn::rnn(g, "layer", x, options, variant);
  }
  const ValueId last_h = nn::last_step(g, "last_h", out.y, options.direction);
  const ValueId last_c =
      out.cells.valid() ? nn::last_step(g, "last_c", out.cells, options.direction) : ValueId();
  const Graph graph = g.finish();
  Interpreter run(graph);
  fill(run, graph, "layer.weight_ih", 1);
  fill(run, graph, "layer.weight_hh", 2);
  fill(run, graph, "layer.bias", 3);
  fill(run, graph, "x", 4);
  fill(run, graph, "h", 5);
  fill(run, graph, "c", 6);
  run.run();
  return {run.get(out.y).data, run.get(last_h).data,
          last_c.valid() ? run.get(last_c).data : std::vector<double>()};
}

TEST(RecurrentLayers, LstmAsPyTorchComputesIt) {
  const Computed lstm = computed("lstm", false);
  expect_near(lstm.y, {-0.178481238487, 0.023658085008,  0.347599764210,  0.211423852078,  0.270225118492,
                       0.351992939359,  0.161585110981,  0.127527987261,  -0.031253024816, -0.051574855080,
                       0.285242870853,  -0.015698706162, -0.054805685997, 0.064221831613,  0.301382668420,
                       0.288629260262,  -0.107146163866, -0.133430781212, 0.103280686155,  -0.098338078260,
                       0.135656533681,  0.063055194085,  0.253127479180,  0.071874880606});
  expect_near(lstm.last_h, {-0.107146163866, -0.133430781212, 0.103280686155, -0.098338078260, 0.270225118492,
                            0.351992939359, 0.161585110981, 0.127527987261});
  expect_near(lstm.last_c, {-0.238140250613, -0.200896114127, 0.874845315456, -0.108812753910, 0.903966058117,
                            0.624793287960, 0.403174879580, 1.105936135055});
}

// PyTorch's GRU is the one that is linear before the reset.
TEST(RecurrentLayers, GruAsPyTorchComputesIt) {
  const Computed gru = computed("gru", true);
  expect_near(gru.y, {0.599993748142, 0.253111382018,  0.551736880253,  0.927281956628, 0.040238688351,
                      0.661659839079, -0.287874942952, 0.489105043173,  0.607200977610, 0.316757946689,
                      0.583678755047, 0.973871756204,  0.336764737153,  0.041415986121, -0.314397727328,
                      0.150587867019, 0.495186401589,  0.886052534598,  0.582972503226, 0.508764187353,
                      0.311383103710, 0.243390519000,  -0.595035767791, -0.481861222033});
  expect_near(gru.last_h, {0.495186401589, 0.886052534598, 0.582972503226, 0.508764187353, 0.040238688351,
                           0.661659839079, -0.287874942952, 0.489105043173});
}

TEST(RecurrentLayers, RnnAsPyTorchComputesIt) {
  expect_near(
      computed("rnn", false).y,
      {-0.996924558085, 0.520009593430,  0.274280209637,  -0.995236683964, 0.990249395200,  -0.389479749106,
       0.406699060783,  0.921182695844,  -0.416679318766, -0.740988022334, -0.969016436634, 0.371864868200,
       0.184759409350,  0.986637980194,  0.976970099988,  -0.683181161347, -0.878854281814, -0.383389575847,
       -0.218021987818, -0.766505128087, 0.758922802783,  0.599293053632,  -0.134795883269, 0.484647191187});
  expect_near(computed("rnn", true).y, {0.0,
                                        0.576352903948,
                                        0.281486390042,
                                        0.0,
                                        3.832585548575,
                                        0.321849002492,
                                        0.533793148851,
                                        3.105924413891,
                                        0.470785196139,
                                        0.0,
                                        0.0,
                                        0.0,
                                        0.182249582382,
                                        2.771364344732,
                                        2.217765318147,
                                        0.0,
                                        0.0,
                                        0.0,
                                        0.607068140302,
                                        0.0,
                                        0.993669827091,
                                        0.692043308017,
                                        0.0,
                                        0.529040354775});
}

// One step, x = 1, state (2, -1), no bias. First unit: z = sigmoid(1 + 0.5 * 2), r = sigmoid(-1 + 0.25 * 2),
// a candidate of 0.5 and (3, 4) times the state; second unit: gates of sigmoid(0), candidate 0. Either each
// element of the state is reset by its own unit before the product, or the first unit's product by its reset.
TEST(RecurrentLayers, GruThatResetsTheStateByHand) {
  const auto sigmoid = [](double x) { return 1.0 / (1.0 + std::exp(-x)); };
  for (const bool linear_before_reset : {false, true}) {
    GraphBuilder g("gru");
    const ValueId x = g.input("x", {1, 1, 1});
    const ValueId h = g.input("h", {1, 1, 2});
    const ValueId y =
        nn::gru(g, "gru", x, {.hidden_size = 2, .bias = false, .initial_h = h}, linear_before_reset);
    const Graph graph = g.finish();
    Interpreter run(graph);
    const Op& op = graph.ops[OpId(graph.ops.size() - 1)];
    run.set(x, {1});
    run.set(h, {2, -1});
    run.set(op.inputs[1], {1, 0, -1, 0, 0.5, 0});                      // of z, r, candidate, by unit
    run.set(op.inputs[2], {0.5, 0, 0, 0, 0.25, 0, 0, 0, 3, 4, 0, 0});  // the same, two columns
    run.run();
    const double z = sigmoid(2);
    const double r = sigmoid(-0.5);
    const double candidate = std::tanh(0.5 + (linear_before_reset ? r * (6 - 4) : 6 * r - 4 * 0.5));
    expect_near(run.get(y).data, {(1 - z) * candidate + z * 2, -0.5});
  }
}

}  // namespace
}  // namespace poet
