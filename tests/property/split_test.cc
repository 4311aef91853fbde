// Graphs in parts compute the bits of the graphs that they were made from: losses, parameters and optimiser
// state after some steps, with plain loops.

#include "poet/split/split.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <cstring>
#include <map>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "poet/autodiff/differentiate.h"
#include "poet/frontend/zoo.h"
#include "poet/graph/nn.h"
#include "poet/graph/operators/schema.h"
#include "poet/runtime/kernels/kernel.h"
#include "tests/support/effort.h"
#include "tests/support/parts.h"
#include "tests/support/random_network.h"
#include "tests/support/runtime_interpreter.h"

namespace poet::test {
namespace {

using Numbers = std::vector<double>;

/// Numbers for every tensor that nothing computes, by name. Integers are small enough for any table.
std::map<std::string, Numbers> starts(const Graph& graph, std::uint64_t seed) {
  std::map<std::string, Numbers> all;
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal(0.0, 0.3);
  for (const Value& value : graph.values) {
    if (value.alias_of.valid()) continue;
    const bool input = value.producer.valid() && graph.ops[value.producer].kind == "input";
    if (!input && !is_persistent(value.persistence)) continue;
    const bool magnitude = value.name.ends_with("exp_avg_sq") || value.name.ends_with("var");
    Numbers& numbers = all[value.name];
    for (std::int64_t i = 0; i < element_count(value.shape); ++i) {
      const double number =
          value.dtype == DType::float32 ? normal(random) : static_cast<double>(random() % 2);
      numbers.push_back(magnitude ? std::abs(number) : number);
    }
  }
  return all;
}

class Steps {
 public:
  Steps(const Graph& graph, const std::map<std::string, Numbers>& numbers,
        const MakeKernel& make = reference_kernel)
      : run_(graph, make) {
    for (const ValueId v : ids<ValueId>(graph.values.size())) {
      const Value& value = graph.values[v];
      const auto found = numbers.find(tensor_name(value));
      if (!value.alias_of.valid() && found != numbers.end()) run_.set(v, part_of(value, found->second));
    }
    for (const Op& op : graph.ops)
      if (is_loss(op)) loss_ = op.outputs.front();
  }
  void step(std::int64_t number) { run_.run(number, 3); }
  double loss() const { return run_.get(loss_).front(); }
  bool intact() const { return run_.intact(); }
  const RuntimeInterpreter& values() const { return run_; }

 private:
  RuntimeInterpreter run_;
  ValueId loss_;
};

bool same_bits(const Numbers& a, const Numbers& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0;
}

/// Whether anything was cut.
bool expect_same_bits(const Graph& whole, Bytes limit, std::uint64_t seed) {
  SplitReport report;
  const Graph parts = split(whole, {limit}, &report);
  if (report.tensors == 0) return false;
  const auto numbers = starts(whole, seed);
  Steps of_whole(whole, numbers), of_parts(parts, numbers);
  std::map<std::string, ValueId> tensors;
  for (const ValueId v : ids<ValueId>(whole.values.size()))
    if (!whole.values[v].alias_of.valid()) tensors[whole.values[v].name] = v;
  for (std::int64_t step = 1; step <= 2; ++step) {
    of_whole.step(step);
    of_parts.step(step);
    const double expected = of_whole.loss(), actual = of_parts.loss();
    EXPECT_EQ(std::bit_cast<std::uint64_t>(expected), std::bit_cast<std::uint64_t>(actual))
        << expected << " and " << actual;
    for (const ValueId v : ids<ValueId>(parts.values.size())) {
      const Value& value = parts.values[v];
      const auto tensor = tensors.find(tensor_name(value));
      if (value.alias_of.valid() || tensor == tensors.end()) continue;  // sums under way
      const Numbers wanted = part_of(value, of_whole.values().get(tensor->second));
      EXPECT_TRUE(same_bits(of_parts.values().get(v), wanted)) << value.name << " after step " << step;
      if (testing::Test::HasFailure()) return true;
    }
  }
  EXPECT_TRUE(of_parts.intact());
  return true;
}

TEST(Split, OfNetworksOfTheZooTrainsToTheSameBits) {
  const std::vector<std::pair<std::string, std::vector<std::int64_t>>> cases = {
      {"linear", {8 << 10, 1 << 10}}, {"resnet14_cifar", {64 << 10, 8 << 10}}};
  constexpr std::size_t kLimits = test::kSanitized ? 1 : 2;
  for (const auto& [name, limits] : cases) {
    for (const Optimizer optimizer : {Optimizer::sgd, Optimizer::adam}) {
      if (test::kSanitized && optimizer != Optimizer::sgd) continue;
      const Graph whole = differentiate(build_network(name, {2, {}}), {optimizer, {}});
      for (const std::int64_t limit : std::span(limits).first(kLimits)) {
        SCOPED_TRACE(fmt::format("{} in parts of {} bytes", name, limit));
        EXPECT_TRUE(expect_same_bits(whole, Bytes(limit), 1));
        ASSERT_FALSE(HasFailure());
      }
    }
  }
}

ValueId loss_of(GraphBuilder& g, ValueId x) {
  x = nn::linear(g, "head", nn::flatten(g, "flat", x), 3);
  return nn::softmax_cross_entropy(g, "loss", x, g.input("targets", {g.shape(x)[0]}, DType::int32));
}

/// An encoder: tables, attention by heads, dropouts, layer norms; heads are strided views.
Graph encoder(std::int64_t batch) {
  constexpr std::int64_t kTokens = 6, kWidth = 8, kHeads = 2;
  GraphBuilder g("encoder");
  ValueId x = nn::embedding(g, "words", g.input("ids", {batch, kTokens}, DType::int32), 20, kWidth);
  x = nn::dropout(g, "drop0", nn::layer_norm(g, "norm0", x, 1e-5), 0.2);
  const auto heads = [&](const std::string& name, std::vector<std::int64_t> axes) {
    const ValueId y = nn::linear(g, name, x, kWidth);
    return g.view(name + ".heads", y,
                  permuted(reshaped(g.layout(y), {batch, kTokens, kHeads, kWidth / kHeads}), axes));
  };
  const ValueId q = heads("q", {0, 2, 1, 3}), k = heads("k", {0, 2, 3, 1}), v = heads("v", {0, 2, 1, 3});
  ValueId p = nn::softmax(g, "softmax", nn::matmul(g, "scores", q, k, {.alpha = 0.3, .storage_order = {}}));
  p = nn::matmul(g, "context", nn::dropout(g, "drop1", p, 0.3), v,
                 {.alpha = 1.0, .storage_order = {0, 2, 1, 3}});
  p = g.view("merged", p, reshaped(permuted(g.layout(p), {0, 2, 1, 3}), {batch, kTokens, kWidth}));
  x = nn::layer_norm(g, "norm1", nn::add(g, "add1", nn::linear(g, "out", p, kWidth), x), 1e-5);
  ValueId f = nn::linear(g, "wide", x, 4 * kWidth);
  f = nn::linear(g, "narrow", nn::gelu(g, "gelu", f), kWidth);
  x = nn::layer_norm(g, "norm2", nn::add(g, "add2", f, x), 1e-5);
  loss_of(g, nn::tanh(g, "tanh", nn::select(g, "first", x, 0)));
  return g.finish();
}

/// Convolutions of all sorts, with groups, biases, strides; pools, branches that are joined.
Graph images(std::int64_t batch) {
  GraphBuilder g("images");
  ValueId x = g.input("x", {batch, 3, 8, 8});
  x = nn::conv2d(g, "stem", x, {.out_channels = 8, .kernel = {3, 3}, .padding = {1, 1}, .bias = true});
  x = nn::relu(g, "relu", nn::batch_norm(g, "norm", x));
  const ValueId a = nn::conv2d(
      g, "depthwise", x, {.out_channels = 8, .kernel = {3, 3}, .padding = {1, 1}, .groups = 8, .bias = true});
  const ValueId b = nn::conv2d(g, "grouped", x, {.out_channels = 16, .kernel = {1, 1}, .groups = 4});
  x = nn::concat(g, "join", {nn::clip(g, "clip", a, 0.0, 0.5), b, x}, 1);
  x = nn::max_pool2d(g, "max", nn::group_norm(g, "groups", x, 8, 1e-5), {.kernel = {2, 2}});
  x = nn::conv2d(g, "strided", x, {.out_channels = 6, .kernel = {3, 3}, .stride = {2, 2}, .padding = {1, 1}});
  x = nn::conv_transpose2d(g, "up", x, {.out_channels = 5, .kernel = {2, 2}, .stride = {2, 2}, .bias = true});
  loss_of(g, nn::avg_pool2d(g, "avg", nn::unary(g, "sigmoid", "sigmoid", x), {.kernel = {2, 2}}));
  return g.finish();
}

/// Operands that broadcast, elements that are moved, sums along axes, windows in three dimensions.
Graph mixture(std::int64_t batch) {
  GraphBuilder g("mixture");
  ValueId x = g.input("x", {batch, 4, 4, 6});
  x = nn::conv2d(g, "conv", x, {.out_channels = 8, .kernel = {1, 1}});
  x = nn::mul(g, "scaled", x, g.parameter("scale", {1, 8, 1, 1}));
  x = nn::lrn(g, "lrn", nn::prelu(g, "prelu", x, g.parameter("slope", {8, 1, 1})), {});
  const std::vector<ValueId> taken = nn::split(g, "taken", x, 1, {3, 5});
  x = nn::concat(g, "again", {taken[1], nn::unary(g, "exp", "exp", taken[0]), taken[0]}, 1);
  x = nn::pad(g, "padded", x, {0, 0, 1, 0}, {0, 0, 0, 2});
  x = nn::slice(g, "sliced", x, {0, 2, 0, 1}, {batch, 10, 5, 8}, {1, 1, 1, 2});
  x = nn::transpose(g, "turned", x, {0, 2, 1, 3});
  const ValueId volume = nn::reshape(g, "volume", x, {batch, 5, 2, 4, 4});
  const ValueId deep = nn::conv3d(
      g, "deep", volume, {.out_channels = 6, .kernel = {2, 2, 2}, .padding = {1, 0, 0}, .bias = true});
  const ValueId most = nn::reduce(g, "reduce_max", "most", x, {3}, false);
  const ValueId mean = nn::reduce(g, "reduce_mean", "mean", deep, {3, 4}, true);
  x = nn::add(
      g, "sum", nn::reshape(g, "flatter", nn::global_max_pool(g, "top", deep), {batch, 6}),
      nn::reduce(g, "reduce_sum", "all", nn::reshape(g, "squeezed", mean, {batch, 6, 3}), {2}, false));
  loss_of(g, nn::concat(g, "both", {x, nn::flatten(g, "flat2", most)}, 1));
  return g.finish();
}

/// What reverses or adds up along an axis, along every axis.
Graph along_axes(std::int64_t batch) {
  GraphBuilder g("along axes");
  ValueId x = nn::conv2d(g, "conv", g.input("x", {batch, 3, 6, 4}), {.out_channels = 8, .kernel = {1, 1}});
  const std::vector<std::vector<std::int64_t>> reversed = {{1}, {2}, {3}, {1, 3}};
  for (const std::vector<std::int64_t>& axes : reversed)
    x = nn::tanh(g, fmt::format("tanh{}", fmt::join(axes, "_")),
                 nn::flip(g, fmt::format("flip{}", fmt::join(axes, "_")), x, axes));
  for (const std::int64_t axis : {1, 2, 3})
    x = nn::tanh(g, fmt::format("bounded{}", axis),
                 nn::cumsum(g, fmt::format("sums{}", axis), x, axis, axis == 2, axis == 3));
  loss_of(g, x);
  return g.finish();
}

TEST(Split, OfLayersOfAllSortsTrainsToTheSameBits) {
  int cut = 0;
  for (std::int64_t batch = 1; batch <= (test::kSanitized ? 1 : 2); ++batch) {
    for (Graph (*make)(std::int64_t) : {encoder, images, mixture, along_axes}) {
      const Graph whole = differentiate(make(batch), {Optimizer::adam, {}});
      for (const std::int64_t limit : {2048, 1024, 512, 256, 200, 128, 100, 64, 32, 16, 4}) {
        SCOPED_TRACE(fmt::format("{}, batch of {}, parts of {} bytes", whole.name, batch, limit));
        cut += expect_same_bits(whole, Bytes(limit), 7) ? 1 : 0;
        ASSERT_FALSE(HasFailure());
      }
    }
  }
  EXPECT_GT(cut, test::kSanitized ? 25 : 50);
}

TEST(Split, OfLayersOfAllSortsWithTheLibrarysKernels) {
  const runtime::KernelOptions fast{runtime::KernelLibrary::fast, 1, ""};
  runtime::set_up_kernels(fast);
  const auto fastest = [&](const Graph& graph, OpId op) { return runtime::make_kernel(graph, op, fast); };
  for (Graph (*make)(std::int64_t) : {encoder, images}) {
    const Graph whole = differentiate(make(1), {Optimizer::sgd, {}});
    const auto numbers = starts(whole, 3);
    for (const std::int64_t limit : {512, 200}) {
      const Graph parts = split(whole, {Bytes(limit)});
      Steps expected(whole, numbers), actual(parts, numbers, fastest);
      for (std::int64_t step = 1; step <= 3; ++step) {
        expected.step(step);
        actual.step(step);
        EXPECT_NEAR(actual.loss(), expected.loss(), 1e-3) << whole.name << ", step " << step;
      }
      EXPECT_TRUE(actual.intact());
    }
  }
}

TEST(Split, OfRandomNetworksTrainsToTheSameBits) {
  int cut = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    const Graph whole = differentiate(RandomNetwork(seed).build(),
                                      {Optimizer::momentum, RandomNetwork::some_trainable(seed)});
    for (const std::int64_t limit : {48, 16, 4}) {
      SCOPED_TRACE(fmt::format("seed {}, parts of {} bytes", seed, limit));
      cut += expect_same_bits(whole, Bytes(limit), seed) ? 1 : 0;
      ASSERT_FALSE(HasFailure());
    }
  }
  EXPECT_GT(cut, 60);
}

}  // namespace
}  // namespace poet::test
