// What the comparison with float64 on random numbers does not meet: ties, NaN, infinities, masks, indices
// that point nowhere.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "poet/runtime/kernels/reference/random_bits.h"
#include "poet/runtime/kernels/reference/reference.h"
#include "tests/support/input_error.h"
#include "tests/support/one_op.h"
#include "tests/support/runtime_interpreter.h"

namespace poet {
namespace {

using test::RuntimeInterpreter;
using Numbers = std::vector<double>;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// Output `output` of a graph of one op.
Numbers computed(const Graph& graph, const std::vector<Numbers>& inputs, std::size_t output = 0) {
  RuntimeInterpreter run(graph);
  const Op& op = graph.ops[test::last_op(graph)];
  for (std::size_t i = 0; i < inputs.size(); ++i) run.set(op.inputs.at(i), inputs[i]);
  run.run();
  return run.get(op.outputs.at(output));
}

Graph max_pool(std::int64_t columns, std::int64_t kernel, std::int64_t stride, std::int64_t padding) {
  const std::int64_t windows = (columns + 2 * padding - kernel) / stride + 1;
  using List = std::vector<std::int64_t>;
  return test::one_op(
      "max_pool2d", {{{1, 1, 1, columns}}}, {{{1, 1, 1, windows}}, test::bytes({1, 1, 1, windows})},
      {{"kernel", List{1, kernel}}, {"stride", List{1, stride}}, {"padding", List{0, padding}}});
}

TEST(ReferenceMaxPool, TheFirstOfEqualMaximaWins) {
  // Windows 2 2 | 1 3 3... of kernel 3, stride 2: (2 2 1), (1 3 3).
  const Graph graph = max_pool(5, 3, 2, 0);
  EXPECT_EQ(computed(graph, {{2, 2, 1, 3, 3}}), (Numbers{2, 3}));
  EXPECT_EQ(computed(graph, {{2, 2, 1, 3, 3}}, 1), (Numbers{0, 1}));
}

TEST(ReferenceMaxPool, ANaNWinsAndOfSeveralTheLast) {
  const Graph graph = max_pool(3, 3, 1, 0);
  EXPECT_TRUE(std::isnan(computed(graph, {{kNaN, 5, kNaN}})[0]));
  EXPECT_EQ(computed(graph, {{kNaN, 5, kNaN}}, 1), (Numbers{2}));
  EXPECT_EQ(computed(graph, {{kNaN, 5, 7}}, 1), (Numbers{0}));
}

TEST(ReferenceMaxPool, AnIndexNeverPointsIntoThePadding) {
  // Windows (., a) and (b, .) of nothing but -infinity: places 1 and 0 are those in the image.
  const Graph graph = max_pool(2, 2, 2, 1);
  EXPECT_EQ(computed(graph, {{-kInfinity, -kInfinity}}), (Numbers{-kInfinity, -kInfinity}));
  EXPECT_EQ(computed(graph, {{-kInfinity, -kInfinity}}, 1), (Numbers{1, 0}));
}

TEST(ReferenceActivations, NaNPassesThrough) {
  for (const std::string kind : {"relu", "hardswish", "sign", "tanh", "silu", "softplus"}) {
    EXPECT_TRUE(std::isnan(computed(test::one_op(kind, {{{2}}}, {{{2}}}), {{kNaN, 1}})[0])) << kind;
  }
  const Graph clip = test::one_op("clip", {{{3}}}, {{{3}}}, {{"min", -1.0}, {"max", 2.0}});
  EXPECT_TRUE(std::isnan(computed(clip, {{kNaN, 5, -5}})[0]));
  EXPECT_EQ(computed(clip, {{0, 5, -5}}), (Numbers{0, 2, -1}));
}

TEST(ReferenceActivations, FarOutTheyAreTheirLimits) {
  const auto at = [](const std::string& kind, double x) {
    return computed(test::one_op(kind, {{{1}}}, {{{1}}}), {{x}})[0];
  };
  EXPECT_EQ(at("sigmoid", 1000), 1);
  EXPECT_EQ(at("sigmoid", -1000), 0);
  EXPECT_EQ(at("softplus", 1000), 1000);
  EXPECT_EQ(at("softplus", -1000), 0);
  EXPECT_EQ(at("gelu", 1000), 1000);
  EXPECT_EQ(at("gelu", -1000), 0);
  EXPECT_EQ(at("mish", 1000), 1000);
  // x Phi(x) at -5 is -5 x 2.866516e-7; 1 + erf(x / sqrt(2)) would leave two digits of it.
  EXPECT_NEAR(at("gelu", -5), -1.433258e-6, 1e-11);
}

TEST(ReferenceSoftmax, LargeNumbersDoNotOverflow) {
  const Graph softmax = test::one_op("softmax", {{{1, 3}}}, {{{1, 3}}});
  EXPECT_EQ(computed(softmax, {{1000, 1000, -1000}}), (Numbers{0.5, 0.5, 0}));
  EXPECT_EQ(computed(softmax, {{-kInfinity, 0, 0}}), (Numbers{0, 0.5, 0.5}));
  // Wanted is the least likely class: the loss is the distance of the logits, not -log(0).
  const Graph loss =
      test::one_op("softmax_cross_entropy", {{{1, 2}}, test::integers({1})}, {{{1}}, {{1, 2}}});
  EXPECT_EQ(computed(loss, {{1000, -1000}, {1}}), (Numbers{2000}));
}

// ---- dropout

Graph dropout(std::int64_t elements, double p, std::int64_t seed) {
  return test::one_op("dropout", {{{elements}}}, {{{elements}}, test::bytes({elements})},
                      {{"p", p}, {"seed", seed}});
}

Numbers mask_of(const Graph& graph, std::int64_t step, std::uint64_t seed) {
  RuntimeInterpreter run(graph);
  const Op& op = graph.ops[test::last_op(graph)];
  run.set(op.inputs[0],
          Numbers(static_cast<std::size_t>(element_count(graph.values[op.inputs[0]].shape)), 1));
  run.run(step, seed);
  return run.get(op.outputs[1]);
}

TEST(ReferenceDropout, PhiloxIsTheOneOfThePaper) {
  // The known answers that come with the authors' own code (Random123, kat_vectors, philox4x32 10).
  EXPECT_EQ(runtime::philox({0, 0, 0, 0}, 0),
            (runtime::Philox4{0x6627e8d5U, 0xe169c58dU, 0xbc57ac4cU, 0x9b00dbd8U}));
  const std::uint32_t ones = 0xffffffffU;
  EXPECT_EQ(runtime::philox({ones, ones, ones, ones}, ~std::uint64_t{0}),
            (runtime::Philox4{0x408f276dU, 0x41c83b0eU, 0xa20bc7c6U, 0x6d5451fdU}));
  EXPECT_EQ(runtime::philox({0x243f6a88U, 0x85a308d3U, 0x13198a2eU, 0x03707344U}, 0x299f31d0a4093822U),
            (runtime::Philox4{0xd16cfe09U, 0x94fdccebU, 0x5001e420U, 0x24126ea1U}));
}

TEST(ReferenceDropout, TheMaskIsAFunctionOfSeedsStepAndElement) {
  const Numbers mask = mask_of(dropout(1001, 0.5, 3), 7, 11);
  EXPECT_EQ(mask, mask_of(dropout(1001, 0.5, 3), 7, 11));
  EXPECT_NE(mask, mask_of(dropout(1001, 0.5, 4), 7, 11));
  EXPECT_NE(mask, mask_of(dropout(1001, 0.5, 3), 8, 11));
  EXPECT_NE(mask, mask_of(dropout(1001, 0.5, 3), 7, 12));
  EXPECT_NE(mask, mask_of(dropout(1001, 0.5, 3), 7 + (std::int64_t{1} << 32), 11));
  // The first elements are the same however many there are.
  const Numbers longer = mask_of(dropout(2000, 0.5, 3), 7, 11);
  EXPECT_TRUE(std::equal(mask.begin(), mask.end(), longer.begin()));
  // What a lower probability drops a higher one drops, too.
  const Numbers fewer = mask_of(dropout(1001, 0.75, 3), 7, 11);
  for (std::size_t i = 0; i < mask.size(); ++i) EXPECT_LE(fewer[i], mask[i]);
}

TEST(ReferenceDropout, ProbabilityZeroKeepsEverything) {
  for (const double kept : mask_of(dropout(4096, 0.0, 0), 1, 0)) ASSERT_EQ(kept, 1);
}

// ---- indices that point nowhere

TEST(ReferenceIndices, ThoseOfNoElementAreInputErrors) {
  const Graph loss =
      test::one_op("softmax_cross_entropy", {{{2, 2}}, test::integers({2})}, {{{1}}, {{2, 2}}});
  EXPECT_EQ(test::input_error([&] {
              static_cast<void>(computed(loss, {{0, 0, 0, 0}, {1, 2}}));
            }),
            "op \"the_op\", target 1: must be a class below 2, not 2");
  const Graph embedding =
      test::one_op("embedding", {test::integers({1}), test::parameter({3, 2})}, {{{1, 2}}});
  EXPECT_EQ(test::input_error([&] {
              static_cast<void>(computed(embedding, {{-1}, {1, 2, 3, 4, 5, 6}}));
            }),
            "op \"the_op\": index -1 is not one of 3 elements");
  const Graph gather =
      test::one_op("gather", {{{3}}, test::integers({1})}, {{{1}}}, {{"axis", std::int64_t{0}}});
  EXPECT_EQ(computed(gather, {{1, 2, 3}, {-3}}), (Numbers{1}));
  EXPECT_EQ(test::input_error([&] {
              static_cast<void>(computed(gather, {{1, 2, 3}, {-4}}));
            }),
            "op \"the_op\": index -4 is not one of 3 elements");
  EXPECT_EQ(test::input_error([&] {
              static_cast<void>(computed(gather, {{1, 2, 3}, {3}}));
            }),
            "op \"the_op\": index 3 is not one of 3 elements");
  const Graph divide =
      test::one_op("int_div", {test::integers({2}), test::integers({2})}, {test::integers({2})});
  EXPECT_EQ(test::input_error([&] {
              static_cast<void>(computed(divide, {{1, 1}, {1, 0}}));
            }),
            "op \"the_op\": divides a whole number by 0");
}

// ---- integers at their limits

TEST(ReferenceIntegers, WrapAroundAndAreClampedFromReals) {
  const double least = std::numeric_limits<std::int32_t>::min();
  const double most = std::numeric_limits<std::int32_t>::max();
  const Graph add = test::one_op("add", {test::integers({1}), test::integers({1})}, {test::integers({1})});
  EXPECT_EQ(computed(add, {{most}, {1}}), (Numbers{least}));
  const Graph abs = test::one_op("abs", {test::integers({2})}, {test::integers({2})});
  EXPECT_EQ(computed(abs, {{least, -7}}), (Numbers{least, 7}));
  const Graph divide =
      test::one_op("int_div", {test::integers({1}), test::integers({1})}, {test::integers({1})});
  EXPECT_EQ(computed(divide, {{least}, {-1}}), (Numbers{least}));
  const Graph cast = test::one_op("cast", {{{5}}}, {test::integers({5})}, {{"to", std::string("int32")}});
  EXPECT_EQ(computed(cast, {{-2.9, 2.9, 1e30, -kInfinity, kNaN}}), (Numbers{-2, 2, most, least, 0}));
}

TEST(ReferenceKernels, ThereIsNoneForInputsAndWhatIsNotKnown) {
  const Graph graph = test::one_op("opaque", {{{1}}}, {{{1}}});
  EXPECT_EQ(runtime::make_reference_kernel(graph, OpId(0)), nullptr);
  EXPECT_EQ(runtime::make_reference_kernel(graph, OpId(1)), nullptr);
}

/// A kernel that wants row-major operands, on others: x (2, 3) by columns, the same result as by rows.
TEST(ReferenceKernels, StridedOperandsOfRowWiseKernels) {
  Graph graph = test::one_op("softmax", {{{2, 3}}}, {{{2, 3}}});
  const Numbers x = {1, 2, 3, 0, 1, 0};
  const Numbers wanted = computed(graph, {x});
  for (Value& value : graph.values) value.strides = {1, 2};
  EXPECT_EQ(computed(graph, {x}), wanted);
  graph.values[ValueId(0)].strides.clear();
  EXPECT_EQ(computed(graph, {x}), wanted);
}

/// A gradient by columns is added to a sum by rows, place by place; its mean may be by columns, too.
TEST(ReferenceKernels, SumsOfStridedGradients) {
  Graph graph = test::one_op("accumulate_gradient", {{{2, 3}}, test::state({2, 3})}, {{{2, 3}}},
                             {{"every", std::int64_t{2}}}, {1});
  for (const std::size_t strided : {0U, 2U}) graph.values[ValueId(strided)].strides = {1, 2};
  EXPECT_EQ(computed(graph, {{2, 4, 6, 8, 10, 12}, {1, 1, 1, 2, 2, 2}}), (Numbers{2, 3, 4, 6, 7, 8}));
  graph.values[ValueId(1)].strides = {1, 2};
  EXPECT_EQ(test::input_error([&] { verify(graph); }),
            "op 1 \"the_op\" (accumulate_gradient): needs the sum row-major, without strides");
}

/// AdamW shrinks a parameter after its slope is read: that may be the parameter itself.
TEST(ReferenceKernels, AdamWOfAParameterThatIsItsOwnGradient) {
  Graph graph = test::one_op(
      "adamw_update", {test::parameter({2}), test::parameter({2}), test::state({2}), test::state({2})}, {},
      {{"learning_rate", 0.5}, {"weight_decay", 0.5}, {"beta1", 0.5}, {"beta2", 0.5}, {"eps", 1e-8}},
      {0, 2, 3});
  Op& op = graph.ops[test::last_op(graph)];
  op.inputs[1] = op.inputs[0];
  RuntimeInterpreter run(graph);
  run.set(op.inputs[0], {2, -4});
  for (const std::size_t moment : {2U, 3U}) run.set(op.inputs[moment], {0, 0});
  run.run();
  EXPECT_EQ(run.get(op.inputs[2]), (Numbers{1, -2}));
  EXPECT_EQ(run.get(op.inputs[3]), (Numbers{2, 8}));
  EXPECT_NEAR(run.get(op.inputs[0])[0], 0.75 * 2 - 0.5, 1e-6);
  EXPECT_NEAR(run.get(op.inputs[0])[1], 0.75 * -4 + 0.5, 1e-6);
}

}  // namespace
}  // namespace poet
