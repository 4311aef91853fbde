#include "tests/support/random_model.h"

#include <fmt/format.h>

#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "poet/graph/nn.h"

namespace poet::test {
namespace {

class Model {
 public:
  explicit Model(Rng& rng) : rng_(rng), g_("random_model"), batch_(1 << pick(rng, 0, 3)) {}

  Graph build(ModelShape shape) {
    switch (shape) {
      case ModelShape::siamese:
        return siamese();
      case ModelShape::chain:
        return classified(chain(image(), pick(rng_, 3, 12)));
      case ModelShape::residual:
        return classified(residual(image(), pick(rng_, 2, 8)));
      case ModelShape::attention:
        return attention();
      case ModelShape::branches:
        return classified(branches(image(), pick(rng_, 1, 4)));
    }
    return {};
  }

 private:
  ValueId image() {
    const std::int64_t side = 8 << pick(rng_, 0, 2);
    return g_.input("x", {batch_, 3, side, side});
  }

  // Of 3 by 3, or 1 by 1; the weights of a name are made once.
  ValueId conv(const std::string& name, ValueId x, std::int64_t channels, std::int64_t kernel = 3) {
    return nn::conv2d(
        g_, name, x,
        {.out_channels = channels, .kernel = {kernel, kernel}, .padding = {kernel / 2, kernel / 2}});
  }

  ValueId activated(const std::string& name, ValueId x) {
    switch (pick(rng_, 0, 3)) {
      case 0:
        return nn::gelu(g_, name, x);
      case 1:
        return nn::tanh(g_, name, x);
      default:
        return nn::relu(g_, name, x);
    }
  }

  ValueId chain(ValueId x, int layers) {
    std::int64_t channels = 4 << pick(rng_, 0, 2);
    for (int i = 0; i < layers; ++i) {
      x = conv(fmt::format("conv{}", i), x, channels);
      if (chance(rng_, 0.5)) x = nn::batch_norm(g_, fmt::format("norm{}", i), x);
      x = activated(fmt::format("act{}", i), x);
      if (chance(rng_, 0.25) && g_.shape(x)[2] >= 8) {
        x = nn::max_pool2d(g_, fmt::format("pool{}", i), x, {.kernel = {2, 2}});
        channels *= 2;
      }
    }
    return x;
  }

  ValueId residual(ValueId x, int blocks) {
    const std::int64_t channels = 4 << pick(rng_, 0, 2);
    x = conv("stem", x, channels);
    std::vector<ValueId> joined = {x};
    for (int i = 0; i < blocks; ++i) {
      ValueId y = conv(fmt::format("b{}.conv1", i), x, channels);
      y = activated(fmt::format("b{}.act1", i), nn::batch_norm(g_, fmt::format("b{}.norm1", i), y));
      y = conv(fmt::format("b{}.conv2", i), y, channels);
      const int from = chance(rng_, 0.7) ? i : pick(rng_, 0, i);
      y = nn::add(g_, fmt::format("b{}.add", i), y, joined[static_cast<std::size_t>(from)]);
      x = activated(fmt::format("b{}.act2", i), y);
      joined.push_back(x);
    }
    return x;
  }

  ValueId branches(ValueId x, int blocks) {
    const std::int64_t channels = 4 << pick(rng_, 0, 1);
    for (int i = 0; i < blocks; ++i) {
      std::vector<ValueId> paths;
      const int count = pick(rng_, 2, 4);
      for (int path = 0; path < count; ++path) {
        const std::string name = fmt::format("b{}.p{}", i, path);
        ValueId y = conv(name + ".conv0", x, channels, 1);
        for (int layer = 1; layer <= path; ++layer)
          y = activated(fmt::format("{}.act{}", name, layer),
                        conv(fmt::format("{}.conv{}", name, layer), y, channels));
        paths.push_back(y);
      }
      x = nn::concat(g_, fmt::format("b{}.concat", i), paths, 1);
    }
    return x;
  }

  // Uses the weights of the layer again if there are some.
  ValueId shared_linear(const std::string& layer, const std::string& name, ValueId x, std::int64_t out) {
    const auto known = weights_.find(layer);
    if (known == weights_.end()) {
      const ValueId weight = g_.parameter(layer + ".weight", {out, g_.shape(x).back()});
      weights_.emplace(layer, weight);
    }
    g_.bind(name + ".weight", weights_.at(layer));
    return nn::linear(g_, name, x, out, false);
  }

  ValueId shared_conv(const std::string& layer, const std::string& name, ValueId x, std::int64_t channels) {
    const auto known = weights_.find(layer);
    if (known == weights_.end())
      weights_.emplace(layer, g_.parameter(layer + ".weight", {channels, g_.shape(x)[1], 3, 3}));
    g_.bind(name + ".weight", weights_.at(layer));
    return conv(name, x, channels);
  }

  // Two or three branches of one network, whose outputs are compared.
  Graph siamese() {
    const bool images = chance(rng_, 0.5);
    const std::int64_t side = 8 << pick(rng_, 0, 2);
    const std::int64_t width = 32 << pick(rng_, 0, 4);
    const int layers = pick(rng_, 2, 6);
    const int count = pick(rng_, 2, 3);
    std::vector<ValueId> ends;
    for (int branch = 0; branch < count; ++branch) {
      const std::string of = fmt::format("branch{}.", branch);
      ValueId x =
          images ? g_.input(of + "x", {batch_, 3, side, side}) : g_.input(of + "x", {8 * batch_, width});
      for (int i = 0; i < layers; ++i) {
        const std::string layer = fmt::format("l{}", i);
        x = images ? shared_conv(layer, of + layer, x, 8) : shared_linear(layer, of + layer, x, width);
        x = nn::relu(g_, of + layer + ".relu", x);
      }
      if (images) x = nn::flatten(g_, of + "flat", nn::global_avg_pool(g_, of + "pool", x));
      ends.push_back(shared_linear("embed", of + "embed", x, 16));
    }
    ValueId apart = nn::sub(g_, "apart", ends[0], ends[1]);
    if (count == 3) apart = nn::mul(g_, "product", apart, ends[2]);
    nn::mean_loss(g_, "loss", nn::mul(g_, "square", apart, apart));
    return g_.finish();
  }

  ValueId attend(const std::string& name, ValueId x, std::int64_t width) {
    const ValueId q = nn::linear(g_, name + ".q", x, width);
    const ValueId k = nn::linear(g_, name + ".k", x, width);
    const ValueId v = nn::linear(g_, name + ".v", x, width);
    const ValueId turned = nn::permute(g_, name + ".turned", k, {0, 2, 1});
    const double scale = 1 / std::sqrt(static_cast<double>(width));
    const ValueId scores = nn::matmul(g_, name + ".scores", q, turned, {.alpha = scale, .storage_order = {}});
    const ValueId context = nn::matmul(g_, name + ".context", nn::softmax(g_, name + ".softmax", scores), v);
    return nn::linear(g_, name + ".out", context, width);
  }

  Graph attention() {
    const std::int64_t width = 16 << pick(rng_, 0, 3);
    const std::int64_t tokens = 16 << pick(rng_, 0, 3);
    ValueId x = g_.input("x", {batch_, tokens, width});
    const int blocks = pick(rng_, 1, 4);
    for (int i = 0; i < blocks; ++i) {
      const std::string name = fmt::format("b{}", i);
      x = nn::add(g_, name + ".add", x, attend(name, nn::layer_norm(g_, name + ".norm", x, 1e-5), width));
      ValueId y = nn::linear(g_, name + ".up", nn::layer_norm(g_, name + ".norm2", x, 1e-5), 4 * width);
      y = nn::linear(g_, name + ".down", nn::gelu(g_, name + ".gelu", y), width);
      x = nn::add(g_, name + ".add2", x, y);
    }
    nn::mean_loss(g_, "loss", nn::mul(g_, "square", x, x));
    return g_.finish();
  }

  Graph classified(ValueId x) {
    x = nn::flatten(g_, "flat", nn::global_avg_pool(g_, "pool", x));
    const ValueId logits = nn::linear(g_, "head", x, 10);
    nn::softmax_cross_entropy(g_, "loss", logits, g_.input("targets", {batch_}, DType::int32));
    return g_.finish();
  }

  Rng& rng_;
  GraphBuilder g_;
  std::int64_t batch_;
  std::map<std::string, ValueId> weights_;  // of layers that branches share
};

}  // namespace

Graph random_model(Rng& rng, ModelShape shape) { return Model(rng).build(shape); }

}  // namespace poet::test
