#pragma once

// Small random forward graphs with a loss: layered, with skips, views of views, tied parameters, and at times
// a frozen part. The same seed gives the same network.

#include <fmt/format.h>

#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "poet/autodiff/differentiate.h"
#include "poet/graph/nn.h"
#include "tests/support/graph_text.h"

namespace poet::test {

/// Draws below are the only source of randomness.
class RandomNetwork {
 public:
  explicit RandomNetwork(std::uint64_t seed) : random_(seed), builder_("random") {}

  [[nodiscard]] Graph build() {
    batch_ = 1 + draw(3);
    const ValueId x = builder_.input("x", {batch_, kWidth});
    values_.push_back(chance(50) ? x : nn::linear(builder_, "stem", x, kWidth));
    if (values_.back() != x) values_.push_back(x);
    const std::int64_t layers = 1 + draw(10);
    for (std::int64_t i = 0; i < layers; ++i) values_.push_back(layer(fmt::format("l{}", i)));
    const ValueId logits = nn::linear(builder_, "head", values_.back(), 3);
    nn::softmax_cross_entropy(builder_, "loss", logits, builder_.input("targets", {batch_}, DType::int32));
    Graph graph = builder_.finish();
    tie_parameters(graph);
    return graph;
  }

  /// Freezes each parameter with a chance of 1 in 3, but never "head.weight", so that something always
  /// trains.
  [[nodiscard]] static std::function<bool(const std::string&)> some_trainable(std::uint64_t seed) {
    return [seed](const std::string& name) {
      return name == "head.weight" || (std::hash<std::string>{}(name) ^ seed) % 3 != 0;
    };
  }

 private:
  static constexpr std::int64_t kWidth = 4;

  std::int64_t draw(std::int64_t below) {
    return static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(below));
  }
  bool chance(std::int64_t percent) { return draw(100) < percent; }

  /// A value made before, the last one more often than not.
  ValueId earlier() {
    if (chance(60)) return values_.back();
    return values_[static_cast<std::size_t>(draw(static_cast<std::int64_t>(values_.size())))];
  }

  /// All values are (batch, 4), at times seen through views.
  ValueId layer(const std::string& name) {
    switch (draw(16)) {
      case 0:
        return nn::relu(builder_, name, earlier());
      case 1:
        return nn::gelu(builder_, name, earlier());
      case 2:
        return nn::tanh(builder_, name, earlier());
      case 3:
        return nn::softmax(builder_, name, earlier());
      case 4:
        return nn::dropout(builder_, name, earlier(), 0.25);
      case 5:
        return nn::layer_norm(builder_, name, earlier(), 0.1);
      case 6:
        return nn::add(builder_, name, earlier(), earlier());
      case 7:
        return product(name);
      case 8: {
        const ValueId once = nn::reshape(builder_, name + ".view", earlier(), {batch_ * 2, 2});
        return nn::reshape(builder_, name, nn::relu(builder_, name + ".relu", once), {batch_, kWidth});
      }
      case 9: {
        const std::vector<ValueId> parts = nn::split(builder_, name + ".part", earlier(), 1, {2, 1, 1});
        return chance(50) ? nn::concat(builder_, name, {parts[1], parts[0], parts[2]}, 1)
                          : nn::concat(builder_, name, {parts[2], parts[0], parts[2]}, 1);
      }
      case 10: {
        const ValueId transposed = nn::permute(builder_, name + ".view", earlier(), {1, 0});
        return nn::transpose(builder_, name, nn::transpose(builder_, name + ".copy", transposed, {0, 1}),
                             {1, 0});
      }
      case 11: {
        const ValueId wide = nn::pad(builder_, name + ".pad", earlier(), {0, 1}, {0, 3}, 0.5);
        return nn::slice(builder_, name, wide, {0, 0}, {batch_, 2 * kWidth}, {1, 2});
      }
      case 12:
        return arithmetic(name, earlier(), earlier());
      case 13: {
        const std::vector<Shape> shapes = {{}, {kWidth}, {1, kWidth}, {batch_, 1}, {1, 1}, {batch_, kWidth}};
        const auto& shape = shapes[static_cast<std::size_t>(draw(static_cast<std::int64_t>(shapes.size())))];
        const ValueId operand = chance(80) ? builder_.parameter(name + ".operand", shape)
                                           : builder_.constant(name + ".operand", shape);
        return chance(50) ? arithmetic(name, earlier(), operand) : arithmetic(name, operand, earlier());
      }
      case 14: {
        const ValueId x = earlier();
        return nn::sub(builder_, name, x, nn::reduce(builder_, "reduce_mean", name + ".mean", x, {draw(2)}));
      }
      default:
        linears_.push_back(name);
        return nn::linear(builder_, name, earlier(), kWidth, chance(70));
    }
  }

  /// One of the four operations, within bounds. `b`'s divisor is positive: a sigmoid above 1/2.
  ValueId arithmetic(const std::string& name, ValueId a, ValueId b) {
    switch (draw(4)) {
      case 0:
        return nn::sub(builder_, name, a, b);
      case 1:
        return nn::add(builder_, name, a, b);
      case 2:
        return nn::tanh(builder_, name, nn::mul(builder_, name + ".product", a, b));
      default: {
        const ValueId positive =
            nn::scale(builder_, name + ".above", nn::unary(builder_, "sigmoid", name + ".gate", b), 1, 0.5);
        return nn::div(builder_, name, a, positive);
      }
    }
  }

  /// tanh((a bᵀ) c), on transposed views; the product at times stored transposed.
  ValueId product(const std::string& name) {
    const ValueId a = earlier();
    const ValueId transposed = nn::permute(builder_, name + ".view", earlier(), {1, 0});
    const std::vector<std::int64_t> order =
        chance(50) ? std::vector<std::int64_t>{1, 0} : std::vector<std::int64_t>{};
    const ValueId square =
        nn::matmul(builder_, name + ".square", a, transposed, {.alpha = 0.5, .storage_order = order});
    const ValueId cubic = nn::matmul(builder_, name + ".cubic", square, earlier());
    return nn::tanh(builder_, name, cubic);  // a chain of cubes would leave the range of numbers
  }

  void tie_parameters(Graph& graph) {
    if (linears_.size() < 2 || !chance(40)) return;
    replace_input(graph, linears_.back(), 1, linears_.front() + ".weight");
  }

  std::mt19937_64 random_;
  GraphBuilder builder_;
  std::int64_t batch_ = 1;
  std::vector<ValueId> values_;
  std::vector<std::string> linears_;
};

}  // namespace poet::test
