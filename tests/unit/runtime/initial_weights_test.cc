#include "poet/runtime/weights/initial_weights.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "poet/autodiff/differentiate.h"
#include "poet/frontend/zoo.h"
#include "poet/graph/nn.h"
#include "tests/support/data_networks.h"
#include "tests/support/graph_text.h"
#include "tests/support/input_error.h"

namespace poet::runtime {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::HasSubstr;

constexpr std::uint64_t kSeed = 42;

std::vector<float> initial(const Graph& graph, const std::string& name, std::uint64_t seed = kSeed) {
  const ValueId v = test::find_value(graph, name);
  std::vector<float> out(static_cast<std::size_t>(element_count(graph.values[v].shape)));
  InitialWeights(graph).write(v, seed, reinterpret_cast<std::byte*>(out.data()));
  return out;
}

double mean(const std::vector<float>& x) {
  double sum = 0;
  for (const float element : x) sum += element;
  return sum / static_cast<double>(x.size());
}

double deviation(const std::vector<float>& x) {
  const double centre = mean(x);
  double sum = 0;
  for (const float element : x) sum += (element - centre) * (element - centre);
  return std::sqrt(sum / static_cast<double>(x.size()));
}

/// Uniform within `bound`: its deviation is bound / sqrt(3). Five standard errors: of the mean that over
/// sqrt(n), of the deviation about a third of that.
void expect_uniform(const std::vector<float>& x, double bound) {
  const double expected = bound / std::sqrt(3.0);
  const double error = 5 * expected / std::sqrt(static_cast<double>(x.size()));
  EXPECT_LE(std::fabs(*std::max_element(x.begin(), x.end())), bound * (1 + 1e-7));
  EXPECT_LE(std::fabs(*std::min_element(x.begin(), x.end())), bound * (1 + 1e-7));
  EXPECT_NEAR(mean(x), 0, error);
  EXPECT_NEAR(deviation(x), expected, error);
}

void expect_normal(const std::vector<float>& x, double expected) {
  const double error = 5 * expected / std::sqrt(static_cast<double>(x.size()));
  EXPECT_NEAR(mean(x), 0, error);
  EXPECT_NEAR(deviation(x), expected, error);
  // 0.27% lie beyond three deviations: of 10,000 and more some do.
  EXPECT_GT(*std::max_element(x.begin(), x.end()), 3 * expected);
}

TEST(InitialWeights, ConvolutionsAndNorms) {
  const Graph graph = differentiate(build_network("resnet14_cifar"), {});
  expect_uniform(initial(graph, "layer3.0.conv2.weight"), 1 / std::sqrt(64.0 * 9));
  expect_uniform(initial(graph, "fc.weight"), 1 / std::sqrt(64.0));
  // The bias has the bound of its weight's fan in.
  EXPECT_THAT(initial(graph, "fc.bias"), Each(AllOf(::testing::Ge(-0.125F), ::testing::Le(0.125F))));
  EXPECT_NE(deviation(initial(graph, "fc.bias")), 0);
  EXPECT_THAT(initial(graph, "bn1.weight"), Each(1.0F));
  EXPECT_THAT(initial(graph, "bn1.bias"), Each(0.0F));
  EXPECT_THAT(initial(graph, "bn1.running_mean"), Each(0.0F));
  EXPECT_THAT(initial(graph, "bn1.running_var"), Each(1.0F));
}

TEST(InitialWeights, EmbeddingsAreNormal) {
  const Graph graph = build_network("bert", {.batch_size = 1, .sequence_length = 2});
  expect_normal(initial(graph, "bert.embeddings.position_embeddings.weight"), 1);
}

TEST(InitialWeights, OptimiserStateIsZero) {
  for (const Optimizer optimizer : {Optimizer::momentum, Optimizer::adam}) {
    TrainingOptions options;
    options.optimizer = optimizer;
    const Graph graph = differentiate(build_network("linear"), options);
    if (optimizer == Optimizer::momentum) {
      EXPECT_THAT(initial(graph, "fc3.weight.velocity"), Each(0.0F));
    } else {
      EXPECT_THAT(initial(graph, "fc3.weight.exp_avg"), Each(0.0F));
      EXPECT_THAT(initial(graph, "fc3.weight.exp_avg_sq"), Each(0.0F));
    }
    expect_uniform(initial(graph, "fc3.weight"), 1 / std::sqrt(120.0));
  }
}

// Units, not inputs, bound a recurrent layer.
TEST(InitialWeights, RecurrentLayers) {
  GraphBuilder g("lstm");
  const ValueId x = g.input("x", {3, 2, 100});
  nn::RecurrentOptions options;
  options.hidden_size = 25;
  options.initial_h = g.parameter("h0", {1, 2, 25});
  options.initial_c = g.parameter("c0", {1, 2, 25});
  const nn::LstmOutputs out = nn::lstm(g, "lstm", x, options);
  nn::mse_loss(g, "loss", out.y, g.input("targets", {3, 1, 2, 25}));
  const Graph graph = g.finish();
  for (const char* name : {"lstm.weight_ih", "lstm.weight_hh", "lstm.bias"})
    expect_uniform(initial(graph, name), 0.2);
  EXPECT_THAT(initial(graph, "h0"), Each(0.0F));
  EXPECT_THAT(initial(graph, "c0"), Each(0.0F));
}

TEST(InitialWeights, ParametersOfNoLayer) {
  GraphBuilder g("loose");
  const ValueId x = g.input("x", {1, 100, 50});
  ValueId y = nn::matmul(g, "product", x, g.parameter("matrix", {50, 100}));
  y = nn::add(g, "shifted", y, g.parameter("position", {1, 100, 100}));
  y = nn::mul(g, "scaled", y, g.parameter("factor", {100}));
  y = nn::prelu(g, "prelu", y, g.parameter("slope", {100}));
  // Looked through: a part of a transposed matrix, read by a linear layer.
  const ValueId transposed = nn::transpose(g, "transposed", g.parameter("stored", {100, 80}), {1, 0});
  g.bind("fc.weight", nn::slice(g, "part", transposed, {0, 0}, {40, 100}));
  y = nn::linear(g, "fc", y, 40, false);
  nn::mse_loss(g, "loss", y, g.input("targets", {1, 100, 40}));
  const Graph graph = g.finish();
  expect_uniform(initial(graph, "matrix"), 1 / std::sqrt(50.0));
  expect_normal(initial(graph, "position"), 0.02);
  EXPECT_THAT(initial(graph, "factor"), Each(1.0F));
  EXPECT_THAT(initial(graph, "slope"), Each(0.25F));
  expect_uniform(initial(graph, "stored"), 0.1);
}

// The same layer in another network, at another place: the name decides, and the seed.
TEST(InitialWeights, NeitherOrderNorOthersMatter) {
  const auto network = [](bool other_first) {
    GraphBuilder g("two");
    ValueId x = g.input("x", {1, 30});
    if (other_first) x = nn::linear(g, "other", x, 30);
    x = nn::linear(g, "fc", x, 30);
    if (!other_first) x = nn::linear(g, "later", x, 30);
    nn::mse_loss(g, "loss", x, g.input("targets", {1, 30}));
    return g.finish();
  };
  const std::vector<float> weight = initial(network(true), "fc.weight");
  EXPECT_EQ(weight, initial(network(false), "fc.weight"));
  EXPECT_EQ(weight, initial(differentiate(network(false), {}), "fc.weight"));
  EXPECT_NE(weight, initial(network(true), "other.weight"));
  EXPECT_NE(weight, initial(network(true), "fc.weight", kSeed + 1));
}

TEST(InitialWeights, ConstantsAreNotMadeUp) {
  GraphBuilder g("constant");
  const ValueId x = nn::linear(g, "fc", g.input("x", {1, 3}), 3);
  nn::mse_loss(g, "loss", nn::add(g, "masked", x, g.constant("mask", {3})), g.input("targets", {1, 3}));
  const Graph graph = g.finish();
  EXPECT_THAT(test::input_error([&] { (void)initial(graph, "mask"); }),
              AllOf(HasSubstr("constant 'mask'"), HasSubstr("`weights`")));
}

}  // namespace
}  // namespace poet::runtime
