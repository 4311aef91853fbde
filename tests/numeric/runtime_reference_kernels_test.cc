// The reference kernels of layers with weights against float64: training steps of small networks, every op on
// the operands that it meets there.

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "poet/autodiff/differentiate.h"
#include "poet/graph/builder.h"
#include "tests/support/random_network.h"
#include "tests/support/runtime_kernel_check.h"

namespace poet {
namespace {

using test::check_kernels;

/// Numbers of a generator that gives the same ones everywhere.
class Draws {
 public:
  explicit Draws(std::uint64_t seed) : random_(seed) {}
  /// In [low, high].
  std::int64_t operator()(std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(high - low + 1));
  }
  Extent list(std::size_t n, std::int64_t low, std::int64_t high) {
    Extent numbers(n);
    for (std::int64_t& number : numbers) number = (*this)(low, high);
    return numbers;
  }
  bool half() { return (*this)(0, 1) == 1; }

 private:
  std::mt19937_64 random_;
};

/// The training step whose loss is the mean square of y, every parameter training.
Graph training(GraphBuilder& g, ValueId y, Optimizer optimizer = Optimizer::sgd) {
  const Shape shape = g.shape(y);
  g.mse_loss("loss", y, g.input("targets", shape));
  return differentiate(g.finish(), {optimizer, nullptr});
}

/// x, its gradient wanted.
ValueId trained(GraphBuilder& g, const Shape& shape) { return g.parameter("x.weight", shape); }

/// Sizes of an image that leave at least one window.
Extent image_of(Draws& draw, const ConvOptions& o) {
  Extent image;
  for (std::size_t a = 0; a < o.kernel.size(); ++a) {
    const std::int64_t reach = (o.kernel[a] - 1) * o.dilation[a] + 1 - o.padding[a] - o.padding_end[a];
    image.push_back(std::max<std::int64_t>(1, reach) + draw(0, 6));
  }
  return image;
}

void check_convolution(std::uint64_t seed, std::size_t axes, bool transposed) {
  Draws draw(seed);
  ConvOptions o;
  o.groups = draw(0, 2) == 0 ? draw(1, 4) : 1;
  o.out_channels = o.groups * draw(1, draw.half() ? 3 : 9);
  o.kernel = draw.list(axes, 1, axes == 3 ? 2 : 4);
  o.stride = draw.list(axes, 1, 3);
  o.padding = draw.list(axes, 0, 2);
  o.padding_end = draw.list(axes, 0, 2);
  o.dilation = draw.list(axes, 1, 2);
  o.bias = draw.half();
  Shape x = {draw(1, 3), o.groups * draw(1, draw.half() ? 2 : 6)};
  const Extent image = image_of(draw, o);
  x.insert(x.end(), image.begin(), image.end());
  if (transposed) {
    // Such that something is left when the padding is taken off.
    for (std::size_t a = 0; a < axes; ++a) {
      x[a + 2] += 4;
      o.output_padding.push_back(draw(0, std::max(o.stride[a], o.dilation[a]) - 1));
    }
  }
  GraphBuilder g("convolution");
  const ValueId in = draw(0, 3) == 0 ? g.input("x", x) : trained(g, x);
  const ValueId y = transposed
                        ? axes == 2 ? g.conv_transpose2d("conv", in, o) : g.conv_transpose3d("conv", in, o)
                    : axes == 2 ? g.conv2d("conv", in, o)
                                : g.conv3d("conv", in, o);
  const Shape targets = g.shape(y);
  g.mse_loss("loss", y, g.input("targets", targets));
  const bool bias_only = o.bias && draw(0, 3) == 0;
  check_kernels(differentiate(g.finish(), {Optimizer::sgd,
                                           [bias_only](const std::string& name) {
                                             return !bias_only || name == "conv.bias";
                                           }}),
                seed);
}

TEST(ReferenceConvolutions, Conv2d) {
  for (std::uint64_t seed = 0; seed < 120 && !HasFailure(); ++seed) check_convolution(seed, 2, false);
}
TEST(ReferenceConvolutions, Conv3d) {
  for (std::uint64_t seed = 0; seed < 60 && !HasFailure(); ++seed) check_convolution(seed, 3, false);
}
TEST(ReferenceConvolutions, Transposed) {
  for (std::uint64_t seed = 0; seed < 60 && !HasFailure(); ++seed) check_convolution(seed, 2, true);
  for (std::uint64_t seed = 0; seed < 30 && !HasFailure(); ++seed) check_convolution(seed, 3, true);
}

// More products than one block of the multiplication holds, along every axis: 256 deep, 128 wide.
TEST(ReferenceConvolutions, ManyBlocks) {
  for (const std::int64_t stride : {1, 2}) {
    GraphBuilder g("blocks");
    const ValueId y = g.conv2d(
        "conv", trained(g, {2, 35, 13, 11}),
        {.out_channels = 37, .kernel = {3, 3}, .stride = {stride, stride}, .padding = {1, 1}, .bias = true});
    check_kernels(training(g, y), 1);
  }
}

TEST(ReferenceProducts, Linear) {
  for (std::uint64_t seed = 0; seed < 40 && !HasFailure(); ++seed) {
    Draws draw(seed);
    GraphBuilder g("linear");
    Shape x = draw.list(static_cast<std::size_t>(draw(0, 2)), 1, 5);
    x.push_back(draw(1, draw.half() ? 300 : 20));
    const ValueId y = g.linear("fc", trained(g, x), draw(1, draw.half() ? 150 : 12), draw.half());
    check_kernels(training(g, y), seed);
  }
}

TEST(ReferenceProducts, MatmulOfAnyLayout) {
  for (std::uint64_t seed = 0; seed < 80 && !HasFailure(); ++seed) {
    Draws draw(seed);
    const std::int64_t m = draw(1, 9);
    const std::int64_t k = draw(1, draw.half() ? 270 : 9);
    const std::int64_t n = draw(1, draw.half() ? 140 : 9);
    const std::int64_t p = draw(1, 3);
    const std::int64_t q = draw(1, 3);
    GraphBuilder g("matmul");
    // Heads next to the features in storage, as attention has them, or before the rows.
    const auto operand = [&](const std::string& name, std::int64_t rows, std::int64_t columns) {
      switch (draw(0, 3)) {
        case 0:
          return g.parameter(name + ".weight", {draw.half() ? p : 1, q, rows, columns});
        case 1:
          return g.permute(name, g.parameter(name + ".weight", {p, rows, q, columns}), {0, 2, 1, 3});
        case 2:
          return g.permute(name, g.parameter(name + ".weight", {p, columns, q, rows}), {0, 2, 3, 1});
        default:
          return g.permute(name, g.parameter(name + ".weight", {columns, rows}), {1, 0});
      }
    };
    const ValueId a = operand("a", m, k);
    const ValueId b = operand("b", k, n);
    std::vector<std::int64_t> order;
    const ValueId y = g.matmul("c", a, b, {.alpha = 0.5, .storage_order = order});
    check_kernels(training(g, y), seed);
  }
}

TEST(ReferenceNorms, BatchAndLayerAndGroup) {
  for (std::uint64_t seed = 0; seed < 40 && !HasFailure(); ++seed) {
    Draws draw(seed);
    const std::int64_t groups = draw(1, 3);
    Shape x = {draw(2, 4), groups * draw(1, 3)};
    for (std::int64_t axes = draw(0, 3); axes > 0; --axes) x.push_back(draw(1, 7));
    for (int kind = 0; kind < 3; ++kind) {
      if (kind == 2 && element_count(x) == x[0] * groups) continue;  // groups of one element
      GraphBuilder g("norm");
      const ValueId in = trained(g, x);
      const ValueId y = kind == 0   ? g.batch_norm("norm", in)
                        : kind == 1 ? g.layer_norm("norm", in, 1e-2)
                                    : g.group_norm("norm", in, groups, 1e-2);
      const ValueId same = g.tanh("tanh", y);
      const Shape targets = g.shape(same);
      g.mse_loss("loss", same, g.input("targets", targets));
      const std::int64_t part = draw(0, 2);
      check_kernels(differentiate(g.finish(), {Optimizer::sgd,
                                               [part](const std::string& name) {
                                                 return part == 0 || (name == "x.weight") == (part == 1);
                                               }}),
                    seed);
    }
  }
}

TEST(ReferenceUpdates, EveryOptimiser) {
  for (const Optimizer optimizer : {Optimizer::sgd, Optimizer::momentum, Optimizer::adam}) {
    for (const std::int64_t step : {1, 2, 1000}) {
      GraphBuilder g("updates");
      // The second weight's gradient is a strided view.
      const ValueId w = g.permute("turned", g.parameter("w.weight", {5, 37}), {1, 0});
      const ValueId y = g.matmul("y", g.linear("fc", g.input("x", {3, 11}), 37), w);
      test::KernelCheckOptions options;
      options.step = step;
      check_kernels(training(g, y, optimizer), 5, nullptr, options);
    }
  }
}

TEST(ReferenceNetworks, Random) {
  for (std::uint64_t seed = 0; seed < 150 && !HasFailure(); ++seed) {
    const TrainingOptions some{Optimizer::adam, test::RandomNetwork::some_trainable(seed)};
    check_kernels(differentiate(test::RandomNetwork(seed).build(), seed % 2 == 0 ? TrainingOptions{} : some),
                  seed);
  }
}

}  // namespace
}  // namespace poet
