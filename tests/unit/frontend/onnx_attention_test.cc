// Operators of transformers in opset 23 against plain loops, and their gradients against differences.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "poet/cost/tabulate.h"
#include "tests/support/input_error.h"
#include "tests/support/onnx_models.h"
#include "tests/support/onnx_training.h"

namespace poet::attention_test {
namespace {

using test::expect_true_onnx_gradients;
using test::input_error;
using test::onnx_integers;
using test::onnx_model;
using test::onnx_node;
using test::onnx_output;
using test::onnx_reals;
using ::testing::DoubleNear;
using ::testing::HasSubstr;
using ::testing::Pointwise;

using NodeAttributes = std::map<std::string, onnx::AttributeValue>;
using Numbers = std::vector<double>;

auto numbers_near(const Numbers& wanted) { return Pointwise(DoubleNear(1e-9), wanted); }

Numbers some(std::int64_t n, double seed) {
  Numbers out;
  for (std::int64_t i = 0; i < n; ++i) out.push_back(std::sin(seed + 1.7 * static_cast<double>(i)));
  return out;
}

onnx::Tensor tensor(const Shape& shape, double seed) {
  return onnx_reals(shape, some(element_count(shape), seed));
}

struct Case {
  std::int64_t batch = 2, heads = 2, kv_heads = 2, queries = 3, keys = 3, size = 2, v_size = 2;
  bool flat = false;  // (batch, positions, heads size)
  bool causal = false;
  double softcap = 0;
  double scale = 0;   // 0: the usual one
  Shape mask = {};    // none where empty
  bool adds = false;  // a mask of real numbers
};

Shape shape_of(const Case& c, std::int64_t heads, std::int64_t positions, std::int64_t size) {
  return c.flat ? Shape{c.batch, positions, heads * size} : Shape{c.batch, heads, positions, size};
}

onnx::Tensor mask_of(const Case& c) {
  onnx::Tensor mask = tensor(c.mask, 0.3);
  if (c.adds) return mask;
  onnx::Tensor truths;
  truths.type = onnx::Type::boolean;
  truths.type_name = "bool";
  truths.shape = c.mask;
  truths.known = true;
  const std::int64_t keys = c.mask.back();
  for (std::int64_t i = 0; i < element_count(c.mask); ++i)  // each position may see one at least
    truths.integers.push_back(static_cast<std::int64_t>(i % keys == 0 || i * i % 3 == 1));
  return truths;
}

/// x is the queries; they are weighted, so that a gradient goes through them.
onnx::Model model_of(const Case& c) {
  const Shape q = shape_of(c, c.heads, c.queries, c.size);
  NodeAttributes attributes;
  if (c.causal) attributes["is_causal"] = std::int64_t{1};
  if (c.softcap != 0) attributes["softcap"] = c.softcap;
  if (c.scale != 0) attributes["scale"] = c.scale;
  if (c.flat) attributes["q_num_heads"] = c.heads;
  if (c.flat) attributes["kv_num_heads"] = c.kv_heads;
  std::map<std::string, onnx::Tensor> weights = {{"w", tensor(q, 5)},
                                                 {"k", tensor(shape_of(c, c.kv_heads, c.keys, c.size), 1)},
                                                 {"v", tensor(shape_of(c, c.kv_heads, c.keys, c.v_size), 2)}};
  std::vector<std::string> inputs = {"q", "k", "v"};
  if (!c.mask.empty()) {
    weights["mask"] = mask_of(c);
    inputs.emplace_back("mask");
  }
  return onnx_model(q, std::move(weights),
                    {onnx_node("Mul", {"x", "w"}, {"q"}), onnx_node("Attention", inputs, {"y"}, attributes)},
                    23);
}

Numbers by_hand(const Case& c, const Numbers& x) {
  const Numbers w = some(c.batch * c.heads * c.queries * c.size, 5);
  const Numbers k = some(c.batch * c.kv_heads * c.keys * c.size, 1);
  const Numbers v = some(c.batch * c.kv_heads * c.keys * c.v_size, 2);
  const auto at = [&](std::int64_t b, std::int64_t h, std::int64_t s, std::int64_t d, std::int64_t heads,
                      std::int64_t positions, std::int64_t size) {
    return static_cast<std::size_t>(c.flat ? ((b * positions + s) * heads + h) * size + d
                                           : ((b * heads + h) * positions + s) * size + d);
  };
  Numbers y(static_cast<std::size_t>(c.batch * c.heads * c.queries * c.v_size));
  const Numbers mask = c.mask.empty() ? Numbers{} : test::numbers_of(mask_of(c));
  const double scale = c.scale != 0 ? c.scale : 1 / std::sqrt(static_cast<double>(c.size));
  for (std::int64_t b = 0; b < c.batch; ++b) {
    for (std::int64_t h = 0; h < c.heads; ++h) {
      const std::int64_t g = h / (c.heads / c.kv_heads);
      for (std::int64_t s = 0; s < c.queries; ++s) {
        Numbers scores;
        double sum = 0;
        for (std::int64_t t = 0; t < c.keys; ++t) {
          double score = 0;
          for (std::int64_t d = 0; d < c.size; ++d) {
            const std::size_t i = at(b, h, s, d, c.heads, c.queries, c.size);
            score += scale * x[i] * w[i] * k[at(b, g, t, d, c.kv_heads, c.keys, c.size)];
          }
          if (!mask.empty()) {
            const Shape whole = {c.batch, c.heads, c.queries, c.keys};
            const Shape place = {b, h, s, t};
            std::int64_t i = 0;
            for (std::size_t axis = 0; axis < c.mask.size(); ++axis) {
              const std::int64_t own = c.mask[axis];
              i = i * own + (own == 1 ? 0 : place[axis + 4 - c.mask.size()]);
            }
            const double m = mask[static_cast<std::size_t>(i)];
            if (c.adds) score += m;
            if (!c.adds && m == 0) score = -std::numeric_limits<double>::infinity();
          }
          if (c.softcap != 0) score = c.softcap * std::tanh(score / c.softcap);
          if (c.causal && t > s) score = -std::numeric_limits<double>::infinity();
          scores.push_back(std::exp(score));
          sum += scores.back();
        }
        for (std::int64_t t = 0; t < c.keys; ++t) {
          for (std::int64_t d = 0; d < c.v_size; ++d)
            y[at(b, h, s, d, c.heads, c.queries, c.v_size)] +=
                scores[static_cast<std::size_t>(t)] / sum * v[at(b, g, t, d, c.kv_heads, c.keys, c.v_size)];
        }
      }
    }
  }
  return y;
}

TEST(OnnxAttention, IsWhatTheStandardSays) {
  const std::vector<Case> cases = {
      {},
      {.keys = 4, .size = 3, .v_size = 2, .scale = 0.3},
      {.flat = true},
      {.keys = 4, .size = 3, .v_size = 2, .flat = true, .causal = true},
      {.causal = true},
      {.softcap = 0.5},
      {.keys = 4, .mask = {3, 4}},
      {.mask = {2, 1, 3, 3}},
      {.causal = true, .mask = {1, 2, 3, 3}, .adds = true},
      {.heads = 4},
      {.heads = 4, .keys = 4, .v_size = 3, .flat = true, .mask = {2, 4, 3, 4}, .adds = true},
      {.heads = 6, .kv_heads = 3, .causal = true, .mask = {2, 1, 1, 3}},
  };
  for (std::size_t i = 0; i < cases.size(); ++i) {
    SCOPED_TRACE(i);
    const Case& c = cases[i];
    const Numbers x = some(c.batch * c.heads * c.queries * c.size, 9);
    EXPECT_THAT(onnx_output(model_of(c), {{"x", x}}), numbers_near(by_hand(c, x)));
    expect_true_onnx_gradients(model_of(c), {{"x", x}});
  }
}

TEST(OnnxAttention, RefusesWhatItCannotSay) {
  const auto error = [](const Case& c) { return input_error([&] { (void)onnx_output(model_of(c)); }); };
  EXPECT_THAT(error({.mask = {2, 3}}), HasSubstr("the shapes (2, 3) and (2, 2, 3, 3) do not broadcast"));
  EXPECT_THAT(error({.softcap = 1, .mask = {3, 3}}), HasSubstr("attribute 'softcap'"));
  EXPECT_THAT(error({.heads = 3}), HasSubstr("do not fit together"));
  onnx::Model past = model_of({});
  past.nodes.back().inputs = {"q", "k", "v", "", "k", "v"};
  EXPECT_THAT(input_error([&] { (void)onnx_output(past); }),
              HasSubstr("input 4: keys and values of earlier"));
}

struct Turn {
  bool interleaved = false, flat = false, by_position = false;
  std::int64_t turned = 4;  // of 4 numbers
};

TEST(OnnxRotaryEmbedding, TurnsPairsOfNumbers) {
  const std::int64_t batch = 2, heads = 2, positions = 3, size = 4;
  for (const Turn& turn : {Turn{}, Turn{.interleaved = true}, Turn{.flat = true, .turned = 2},
                           Turn{.by_position = true}, Turn{true, true, true, 2}}) {
    const std::int64_t half = turn.turned / 2;
    const Shape shape =
        turn.flat ? Shape{batch, positions, heads * size} : Shape{batch, heads, positions, size};
    const Shape table = turn.by_position ? Shape{5, half} : Shape{batch, positions, half};
    onnx::Tensor ids = onnx_integers({4, 0, 2, 1, 1, 3});
    ids.shape = {batch, positions};
    NodeAttributes attributes = {{"interleaved", static_cast<std::int64_t>(turn.interleaved)},
                                 {"rotary_embedding_dim", turn.turned == size ? 0 : turn.turned}};
    if (turn.flat) attributes["num_heads"] = heads;
    std::vector<std::string> inputs = {"z", "cos", "sin"};
    if (turn.by_position) inputs.emplace_back("ids");
    const onnx::Model model = onnx_model(
        shape, {{"w", tensor(shape, 1)}, {"cos", tensor(table, 2)}, {"sin", tensor(table, 3)}, {"ids", ids}},
        {onnx_node("Mul", {"x", "w"}, {"z"}), onnx_node("RotaryEmbedding", inputs, {"y"}, attributes)}, 23);
    const Numbers x = some(element_count(shape), 4);
    const Numbers w = some(element_count(shape), 1);
    const Numbers cosines = some(element_count(table), 2);
    const Numbers sines = some(element_count(table), 3);
    Numbers wanted(x.size());
    for (std::int64_t i = 0; i < element_count(shape); ++i) {
      const std::int64_t d = i % size;
      const std::int64_t s = turn.flat ? i / (size * heads) % positions : i / size % positions;
      const std::int64_t b = i / (size * heads * positions);
      const auto z = [&](std::int64_t at) {
        return x[static_cast<std::size_t>(at)] * w[static_cast<std::size_t>(at)];
      };
      if (d >= turn.turned) {
        wanted[static_cast<std::size_t>(i)] = z(i);
        continue;
      }
      const bool first = turn.interleaved ? d % 2 == 0 : d < half;
      const std::int64_t pair = turn.interleaved ? d / 2 : d % half;
      const std::int64_t row =
          turn.by_position ? ids.integers[static_cast<std::size_t>(b * positions + s)] : b * positions + s;
      const auto angle = static_cast<std::size_t>(row * half + pair);
      const std::int64_t apart = turn.interleaved ? 1 : half;
      const double other = z(first ? i + apart : i - apart);
      wanted[static_cast<std::size_t>(i)] = z(i) * cosines[angle] + (first ? -1 : 1) * other * sines[angle];
    }
    EXPECT_THAT(onnx_output(model, {{"x", x}}), numbers_near(wanted));
    EXPECT_EQ(parameter_count(test::import_as_numbers(model).forward), element_count(shape))
        << "not the tables";
    expect_true_onnx_gradients(model, {{"x", x}});
  }
}

TEST(OnnxRmsNorm, OverTheAxesFromOneOn) {
  for (const std::int64_t axis : {std::int64_t{-1}, std::int64_t{1}}) {
    const std::int64_t rows = axis == 1 ? 2 : 6;
    const std::int64_t size = 24 / rows;
    const onnx::Model model = onnx_model(
        {2, 3, 4}, {{"w", tensor({2, 3, 4}, 1)}, {"scale", tensor(axis == 1 ? Shape{3, 4} : Shape{4}, 2)}},
        {onnx_node("Mul", {"x", "w"}, {"z"}),
         onnx_node("RMSNormalization", {"z", "scale"}, {"y"}, {{"axis", axis}, {"epsilon", 0.1}})},
        23);
    const Numbers x = some(24, 3);
    const Numbers w = some(24, 1);
    const Numbers scale = some(size, 2);
    Numbers wanted;
    for (std::int64_t row = 0; row < rows; ++row) {
      const auto at = [&](std::int64_t i) {
        const auto k = static_cast<std::size_t>(row * size + i);
        return x[k] * w[k];
      };
      double sum = 0;
      for (std::int64_t i = 0; i < size; ++i) sum += at(i) * at(i);
      for (std::int64_t i = 0; i < size; ++i)
        wanted.push_back(at(i) / std::sqrt(sum / static_cast<double>(size) + 0.1) *
                         scale[static_cast<std::size_t>(i)]);
    }
    EXPECT_THAT(onnx_output(model, {{"x", x}}), numbers_near(wanted));
    expect_true_onnx_gradients(model, {{"x", x}});
  }
}

}  // namespace
}  // namespace poet::attention_test
