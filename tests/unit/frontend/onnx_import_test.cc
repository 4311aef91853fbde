// Small models by hand, and the ops and values that they become.

#include "poet/frontend/onnx/import.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <set>

#include "poet/autodiff/differentiate.h"
#include "poet/base/error.h"
#include "poet/cost/tabulate.h"
#include "poet/frontend/onnx/lower/operators.h"
#include "tests/support/graph_text.h"
#include "tests/support/input_error.h"
#include "tests/support/onnx_models.h"
#include "tests/support/paths.h"
#include "tests/support/reference_kernels.h"

namespace poet {
namespace {

using onnx::Node;
using test::kinds;
using test::onnx_integers;
using test::onnx_model;
using test::onnx_node;
using test::onnx_reals;
using test::op_of_kind;
using test::value_named;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

using List = std::vector<std::int64_t>;

// The head of most classifiers. 2 x 3 x 4 x 4, 5 filters of 3 x 3 with padding 1: 2 x 5 x 4 x 4.
onnx::Model classifier() {
  return onnx_model({-1, 3, 4, 4},
                    {{"w", onnx_reals({5, 3, 3, 3})},
                     {"scale", onnx_reals({5})},
                     {"shift", onnx_reals({5})},
                     {"mean", onnx_reals({5})},
                     {"var", onnx_reals({5})},
                     {"fc.weight", onnx_reals({10, 5})},
                     {"fc.bias", onnx_reals({10})}},
                    {onnx_node("Conv", {"x", "w"}, {"c"}, {{"pads", List{1, 1, 1, 1}}}),
                     onnx_node("BatchNormalization", {"c", "scale", "shift", "mean", "var"}, {"b"}),
                     onnx_node("Relu", {"b"}, {"r"}), onnx_node("GlobalAveragePool", {"r"}, {"g"}),
                     onnx_node("Flatten", {"g"}, {"f"}),
                     onnx_node("Gemm", {"f", "fc.weight", "fc.bias"}, {"l"}, {{"transB", std::int64_t{1}}}),
                     onnx_node("Softmax", {"l"}, {"p"})});
}

TEST(OnnxImport, AClassifierGetsItsLossAndKeepsItsNames) {
  ImportOptions options;
  options.batch_size = 2;
  const ImportedModel model = import_model(classifier(), options);
  EXPECT_THAT(kinds(model.forward),
              ElementsAre("input", "conv2d", "batch_norm", "batch_norm_stats", "relu", "global_avg_pool",
                          "linear", "input", "softmax_cross_entropy"));
  EXPECT_EQ(model.batch_size, 2);
  EXPECT_EQ(value_named(model.forward, "c").shape, (Shape{2, 5, 4, 4}));
  EXPECT_EQ(value_named(model.forward, "fc.weight").shape, (Shape{10, 5}));
  EXPECT_EQ(value_named(model.forward, "mean").persistence, Persistence::optimizer_state);
  EXPECT_EQ(value_named(model.forward, "targets").shape, Shape{2});
  // 5*3*3*3 + 5 + 5 + 10*5 + 10
  EXPECT_EQ(parameter_count(model.forward), 205);
  EXPECT_THAT(model.notices,
              ElementsAre(HasSubstr("final Softmax was taken off"), HasSubstr("training mode")));
}

// The newer exporter of PyTorch names its nodes after its functions and writes no training_mode.
TEST(OnnxImport, ALayerFrozenAmongOthersByTheNamesOfNodesStaysSo) {
  const auto kinds_of = [](const std::string& first) {
    onnx::Model model = classifier();
    onnx::Node again = model.nodes[1];
    again.inputs[0] = "b";
    again.outputs = {"b2"};
    again.name = "node__native_batch_norm_legit_functional__0";
    model.nodes[1].name = first;
    model.nodes[2].inputs[0] = "b2";
    model.nodes.insert(model.nodes.begin() + 2, again);
    for (std::size_t i = 0; i < model.nodes.size(); ++i) model.nodes[i].index = i;
    ImportOptions options;
    options.batch_size = 2;
    const std::vector<std::string> all = kinds(import_model(model, options).forward);
    return std::count(all.begin(), all.end(), "batch_norm");
  };
  EXPECT_EQ(kinds_of("node__native_batch_norm_legit_no_training__0"), 1);
  EXPECT_EQ(kinds_of("node__native_batch_norm_legit_functional__1"), 2);
}

TEST(OnnxImport, MakesATrainingGraph) {
  ImportOptions options;
  options.batch_size = 2;
  const Graph training = differentiate(import_model(classifier(), options).forward);
  const auto updates = std::count_if(training.ops.begin(), training.ops.end(),
                                     [](const Op& op) { return op.kind == "sgd_update"; });
  EXPECT_EQ(updates, 5) << "w, scale, shift, fc.weight, fc.bias";
}

TEST(OnnxImport, MatMulAndAddAreOneLinearLayer) {
  const ImportedModel transposed = import_model(
      onnx_model({2, 3}, {{"w", onnx_reals({4, 3})}, {"b", onnx_reals({4})}},
                 {onnx_node("Transpose", {"w"}, {"wt"}, {{"perm", List{1, 0}}}),
                  onnx_node("MatMul", {"x", "wt"}, {"m"}), onnx_node("Add", {"b", "m"}, {"y"})}));
  EXPECT_THAT(kinds(transposed.forward), ElementsAre("input", "linear", "input", "softmax_cross_entropy"));
  EXPECT_EQ(op_of_kind(transposed.forward, "linear").inputs.size(), 3U);
  EXPECT_EQ(value_named(transposed.forward, "w").shape, (Shape{4, 3}));

  // Stored (in, out) by the file, (out, in) by the graph.
  const ImportedModel plain =
      import_model(onnx_model({2, 3}, {{"w", onnx_reals({3, 4})}}, {onnx_node("MatMul", {"x", "w"}, {"y"})}));
  EXPECT_EQ(value_named(plain.forward, "w").shape, (Shape{4, 3}));
  EXPECT_THAT(plain.notices, ElementsAre(HasSubstr("(out, in)")));
}

TEST(OnnxImport, SaysWhichWeightsAreStoredTransposed) {
  const onnx::Model model =
      onnx_model({-1, 4}, {{"in_out", onnx_reals({4, 4})}, {"out_in", onnx_reals({3, 4})}},
                 {onnx_node("MatMul", {"x", "in_out"}, {"a"}),
                  onnx_node("Gemm", {"a", "out_in"}, {"y"}, {{"transB", std::int64_t{1}}})});
  const Graph forward = import_model(model).forward;
  ASSERT_TRUE(value_named(forward, "in_out").in_file);
  EXPECT_TRUE(value_named(forward, "in_out").in_file->transposed);
  EXPECT_FALSE(value_named(forward, "out_in").in_file);
}

TEST(OnnxImport, AWeightReadTwiceIsOneParameter) {
  const ImportedModel model =
      import_model(onnx_model({2, 3}, {{"w", onnx_reals({3, 3})}},
                              {onnx_node("Gemm", {"x", "w"}, {"a"}, {{"transB", std::int64_t{1}}}),
                               onnx_node("Gemm", {"a", "w"}, {"b"}, {{"transB", std::int64_t{1}}})}));
  EXPECT_EQ(parameter_count(model.forward), 9);
  EXPECT_THAT(kinds(differentiate(model.forward)), ::testing::Contains("sgd_update").Times(1));
}

/// With a scaled skip, a quarter of x is added to its result.
onnx::Model gelu(double root, bool half_first, bool scaled_skip = false) {
  std::vector<Node> nodes = {onnx_node("Div", {"x", "root"}, {"d"}), onnx_node("Erf", {"d"}, {"e"}),
                             onnx_node("Add", {"e", "one"}, {"a"})};
  if (scaled_skip) nodes.insert(nodes.begin(), onnx_node("Mul", {"x", "quarter"}, {"s"}));
  if (half_first) {
    nodes.push_back(onnx_node("Mul", {"x", "half"}, {"h"}));
    nodes.push_back(onnx_node("Mul", {"h", "a"}, {"y"}));
  } else {
    nodes.push_back(onnx_node("Mul", {"x", "a"}, {"m"}));
    nodes.push_back(onnx_node("Mul", {"m", "half"}, {"y"}));
  }
  if (scaled_skip) nodes.push_back(onnx_node("Add", {"y", "s"}, {"z"}));
  nodes.push_back(onnx_node("MatMul", {scaled_skip ? "z" : "y", "w"}, {"l"}));
  return onnx_model({2, 3},
                    {{"root", onnx_reals({}, {root})},
                     {"quarter", onnx_reals({}, {0.25})},
                     {"one", onnx_reals({}, {1.0})},
                     {"half", onnx_reals({}, {0.5})},
                     {"w", onnx_reals({3, 2})}},
                    std::move(nodes));
}

TEST(OnnxImport, RecognisesGelu) {
  for (const bool half_first : {false, true}) {
    EXPECT_THAT(kinds(import_model(gelu(std::sqrt(2.0), half_first)).forward),
                ElementsAre("input", "gelu", "linear", "input", "softmax_cross_entropy"));
    EXPECT_THAT(kinds(import_model(gelu(std::sqrt(2.0), half_first, true)).forward),
                ElementsAre("input", "scale", "gelu", "add", "linear", "input", "softmax_cross_entropy"));
  }
  EXPECT_THAT(kinds(import_model(gelu(1.5, false)).forward),
              ElementsAre("input", "scale", "erf", "shift", "mul", "scale", "linear", "input",
                          "softmax_cross_entropy"))
      << "not divided by the root of 2, so it is no GELU";
}

onnx::Model layer_norm(double exponent) {
  const std::map<std::string, onnx::AttributeValue> rows = {{"axes", List{-1}}};
  return onnx_model({2, 5, 4},
                    {{"two", onnx_reals({}, {exponent})},
                     {"eps", onnx_reals({}, {1e-6})},
                     {"scale", onnx_reals({4})},
                     {"shift", onnx_reals({4})}},
                    {onnx_node("ReduceMean", {"x"}, {"m"}, rows), onnx_node("Sub", {"x", "m"}, {"c"}),
                     onnx_node("Pow", {"c", "two"}, {"s"}), onnx_node("ReduceMean", {"s"}, {"v"}, rows),
                     onnx_node("Add", {"v", "eps"}, {"e"}), onnx_node("Sqrt", {"e"}, {"r"}),
                     onnx_node("Div", {"c", "r"}, {"n"}), onnx_node("Mul", {"n", "scale"}, {"w"}),
                     onnx_node("Add", {"w", "shift"}, {"y"})},
                    15);
}

TEST(OnnxImport, RecognisesLayerNorm) {
  const Graph graph = import_model(layer_norm(2.0)).forward;
  EXPECT_THAT(kinds(graph), ElementsAre("input", "layer_norm", "input", "softmax_cross_entropy"));
  EXPECT_EQ(std::get<double>(op_of_kind(graph, "layer_norm").attributes.at("eps")), 1e-6);
  EXPECT_EQ(parameter_count(graph), 8);
  // The fourth power makes it something else, which stays as it is.
  EXPECT_THAT(kinds(import_model(layer_norm(4.0)).forward), ::testing::Contains("reduce_mean").Times(2));
}

// softmax(q k^T / 4) v of one head: the factor goes into the product, and nothing is copied.
// (2, 3, 4) over the last two axes: two rows of 12.
TEST(OnnxImport, LayerNormOverSeveralAxesSeesThemAsOne) {
  ImportOptions options;
  options.loss = Loss::mean_squared_error;
  const Graph graph =
      import_model(
          onnx_model({2, 3, 4}, {{"w", onnx_reals({3, 4})}, {"b", onnx_reals({3, 4})}},
                     {onnx_node("LayerNormalization", {"x", "w", "b"}, {"y"}, {{"axis", std::int64_t{-2}}})}),
          options)
          .forward;
  const Op& norm = op_of_kind(graph, "layer_norm");
  EXPECT_EQ(graph.values[norm.inputs[0]].shape, (Shape{2, 12}));
  EXPECT_EQ(value_named(graph, "w").shape, (Shape{12}));
  EXPECT_EQ(graph.values[op_of_kind(graph, "mse_loss").inputs[0]].shape, (Shape{2, 3, 4}));
}

TEST(OnnxImport, AttentionScalesInItsProduct) {
  const onnx::Model attention = onnx_model(
      {2, 5, 16},
      {{"wq", onnx_reals({16, 16})}, {"wk", onnx_reals({16, 16})}, {"four", onnx_reals({}, {4.0})}},
      {onnx_node("MatMul", {"x", "wq"}, {"q"}), onnx_node("Div", {"q", "four"}, {"qs"}),
       onnx_node("MatMul", {"x", "wk"}, {"k"}),
       onnx_node("Transpose", {"k"}, {"kt"}, {{"perm", List{0, 2, 1}}}),
       onnx_node("MatMul", {"qs", "kt"}, {"s"}), onnx_node("Softmax", {"s"}, {"p"}),
       onnx_node("MatMul", {"p", "k"}, {"y"})});
  const ImportedModel model = import_model(attention);
  EXPECT_THAT(kinds(model.forward), ElementsAre("input", "linear", "linear", "matmul", "softmax", "matmul",
                                                "input", "softmax_cross_entropy"));
  EXPECT_EQ(std::get<double>(op_of_kind(model.forward, "matmul").attributes.at("alpha")), 0.25);
  // One target per position: 2 x 5.
  EXPECT_EQ(value_named(model.forward, "targets").shape, Shape{10});
}

TEST(OnnxImport, TokensAreEmbedded) {
  onnx::Model model =
      onnx_model({1, 6}, {{"table", onnx_reals({100, 8})}, {"w", onnx_reals({8, 2})}},
                 {onnx_node("Gather", {"table", "x"}, {"e"}), onnx_node("MatMul", {"e", "w"}, {"y"})});
  model.inputs[0].type = onnx::Type::integer;
  model.inputs[0].type_name = "int64";
  const ImportedModel imported = import_model(model);
  EXPECT_EQ(value_named(imported.forward, "x").dtype, DType::int32);
  EXPECT_EQ(value_named(imported.forward, "e").shape, (Shape{1, 6, 8}));
  EXPECT_EQ(parameter_count(imported.forward), 816);
}

// 7 wide, kernel 3, stride 2, SAME: 4 windows reach 3*2 + 3 = 9, so 2 of padding, 1 on each side. 8 wide: 4
// windows reach 9, 1 of padding, at the end for SAME_UPPER.
TEST(OnnxImport, AutomaticPadding) {
  for (const std::int64_t size : {7, 8}) {
    const ImportedModel model = import_model(
        onnx_model({1, 1, size, size}, {{"w", onnx_reals({4, 1, 3, 3})}},
                   {onnx_node("Conv", {"x", "w"}, {"c"},
                              {{"strides", List{2, 2}}, {"auto_pad", std::string("SAME_UPPER")}}),
                    onnx_node("GlobalAveragePool", {"c"}, {"y"})}));
    EXPECT_EQ(value_named(model.forward, "c").shape, (Shape{1, 4, 4, 4})) << size;
  }
}

const List& list_of(const Op& op, const std::string& attribute) {
  return std::get<List>(op.attributes.at(attribute));
}

// An image of one element, 3 x 3 around it; the padding of 2 is more than the image.
TEST(OnnxImport, AutomaticPaddingOfASmallImage) {
  const Graph graph =
      import_model(
          onnx_model({1, 2, 1, 1}, {{"w", onnx_reals({4, 2, 3, 3})}},
                     {onnx_node("Conv", {"x", "w"}, {"y"}, {{"auto_pad", std::string("SAME_UPPER")}})}))
          .forward;
  EXPECT_EQ(value_named(graph, "y").shape, (Shape{1, 4, 1, 1}));
  EXPECT_EQ(list_of(op_of_kind(graph, "conv2d"), "padding"), (List{1, 1}));
}

// Rows of 3 channels: 4 filters of 3 every 2 elements with padding 1 give 5, a pool of 2 gives 2.
TEST(OnnxImport, RowsAreImagesOfOneRow) {
  const ImportedModel model = import_model(onnx_model(
      {2, 3, 10}, {{"w", onnx_reals({4, 3, 3})}, {"b", onnx_reals({4})}, {"u", onnx_reals({4, 2, 3})}},
      {onnx_node("Conv", {"x", "w", "b"}, {"c"}, {{"pads", List{1, 1}}, {"strides", List{2}}}),
       onnx_node("MaxPool", {"c"}, {"m"}, {{"kernel_shape", List{2}}, {"strides", List{2}}}),
       onnx_node("ConvTranspose", {"m", "u"}, {"t"}, {{"strides", List{3}}}),
       onnx_node("AveragePool", {"t"}, {"a"}, {{"kernel_shape", List{3}}, {"pads", List{0, 1}}}),
       onnx_node("GlobalAveragePool", {"a"}, {"g"}), onnx_node("Flatten", {"g"}, {"y"})}));
  const Graph& graph = model.forward;
  EXPECT_THAT(kinds(graph), ElementsAre("input", "conv2d", "max_pool2d", "conv_transpose2d", "avg_pool2d",
                                        "global_avg_pool", "input", "softmax_cross_entropy"));
  EXPECT_EQ(value_named(graph, "w").shape, (Shape{4, 3, 1, 3}));
  EXPECT_EQ(value_named(graph, "c").shape, (Shape{2, 4, 1, 5}));
  EXPECT_EQ(value_named(graph, "c.line").shape, (Shape{2, 4, 5}));
  EXPECT_TRUE(value_named(graph, "c.line").alias_of.valid());
  EXPECT_EQ(value_named(graph, "m.line").shape, (Shape{2, 4, 2}));
  EXPECT_EQ(value_named(graph, "t.line").shape, (Shape{2, 2, 6})) << "3 (2 - 1) + 3";
  EXPECT_EQ(value_named(graph, "a.line").shape, (Shape{2, 2, 5})) << "6 + 1 - 3 + 1";
  EXPECT_EQ(value_named(graph, "g").shape, (Shape{2, 2, 1}));
  EXPECT_EQ(parameter_count(graph), 36 + 4 + 24);
  EXPECT_THAT(kinds(differentiate(graph)), ::testing::Contains("sgd_update").Times(3));
}

TEST(OnnxImport, Volumes) {
  const Graph graph =
      import_model(
          onnx_model({2, 4, 6, 9, 8},
                     {{"w", onnx_reals({6, 2, 3, 1, 2})}, {"u", onnx_reals({6, 2, 2, 2, 2})}},
                     {onnx_node("Conv", {"x", "w"}, {"c"},
                                {{"group", std::int64_t{2}}, {"pads", List{1, 0, 0, 1, 0, 1}}}),
                      onnx_node("MaxPool", {"c"}, {"m"},
                                {{"kernel_shape", List{2, 3, 2}}, {"strides", List{2, 3, 2}}}),
                      onnx_node("ConvTranspose", {"m", "u"}, {"t"}, {{"strides", List{2, 2, 2}}}),
                      onnx_node("AveragePool", {"t"}, {"a"},
                                {{"kernel_shape", List{2, 2, 2}}, {"auto_pad", std::string("SAME_LOWER")}}),
                      onnx_node("GlobalMaxPool", {"a"}, {"y"})}))
          .forward;
  EXPECT_THAT(kinds(graph), ElementsAre("input", "conv3d", "max_pool3d", "conv_transpose3d", "avg_pool3d",
                                        "global_max_pool", "input", "softmax_cross_entropy"));
  EXPECT_EQ(value_named(graph, "c").shape, (Shape{2, 6, 6, 9, 8}));
  EXPECT_EQ(list_of(op_of_kind(graph, "conv3d"), "padding_end"), (List{1, 0, 1}));
  EXPECT_EQ(value_named(graph, "m").shape, (Shape{2, 6, 3, 3, 4}));
  EXPECT_EQ(value_named(graph, "t").shape, (Shape{2, 2, 6, 6, 8}));
  EXPECT_EQ(value_named(graph, "a").shape, (Shape{2, 2, 6, 6, 8}));
  EXPECT_EQ(list_of(op_of_kind(graph, "avg_pool3d"), "padding"), (List{1, 1, 1}));
  EXPECT_EQ(value_named(graph, "y").shape, (Shape{2, 2, 1, 1, 1}));
}

// Of 5 elements, windows of 3 every 2: 2 (5 - 1) + 3 = 11.
TEST(OnnxImport, SizesOfTransposedConvolutions) {
  const auto built = [](std::map<std::string, onnx::AttributeValue> attributes, std::int64_t kernel = 3) {
    attributes.emplace("strides", List{1, 2});
    return import_model(onnx_model({1, 2, 1, 5}, {{"w", onnx_reals({2, 3, 1, kernel})}},
                                   {onnx_node("ConvTranspose", {"x", "w"}, {"t"}, std::move(attributes)),
                                    onnx_node("GlobalAveragePool", {"t"}, {"y"})}))
        .forward;
  };
  const auto width = [](const Graph& graph) { return value_named(graph, "t").shape.back(); };
  const auto padding = [](const Graph& graph) {
    const Op& op = op_of_kind(graph, "conv_transpose2d");
    const bool even = op.attributes.count("padding_end") == 0;
    return std::pair{list_of(op, "padding")[1], list_of(op, even ? "padding" : "padding_end")[1]};
  };
  using Padding = std::pair<std::int64_t, std::int64_t>;
  EXPECT_EQ(width(built({})), 11);
  EXPECT_EQ(width(built({{"auto_pad", std::string("VALID")}})), 11);
  EXPECT_EQ(width(built({{"dilations", List{1, 3}}})), 15) << "windows reach over 7";
  EXPECT_EQ(width(built({{"pads", List{0, 1, 0, 2}}})), 8);
  EXPECT_EQ(padding(built({{"pads", List{0, 1, 0, 2}}})), (Padding{1, 2}));
  EXPECT_EQ(width(built({{"pads", List{0, 1, 0, 2}}, {"output_padding", List{0, 1}}})), 9);
  // 10 elements leave one for padding, 8 leave three.
  EXPECT_EQ(width(built({{"auto_pad", std::string("SAME_UPPER")}})), 10);
  EXPECT_EQ(padding(built({{"auto_pad", std::string("SAME_UPPER")}})), (Padding{0, 1}));
  EXPECT_EQ(padding(built({{"auto_pad", std::string("SAME_LOWER")}})), (Padding{1, 0}));
  EXPECT_EQ(width(built({{"output_shape", List{1, 8}}})), 8);
  EXPECT_EQ(padding(built({{"output_shape", List{1, 8}}})), (Padding{2, 1}));
  EXPECT_EQ(padding(built({{"output_shape", List{1, 8}}, {"auto_pad", std::string("SAME_UPPER")}})),
            (Padding{1, 2}));
  EXPECT_EQ(padding(built({{"output_shape", List{1, 9}}, {"output_padding", List{0, 1}}})), (Padding{2, 1}));
  // Windows of 1 leave the last place empty: 2 (5 - 1) + 1 = 9.
  EXPECT_EQ(width(built({{"auto_pad", std::string("SAME_UPPER")}}, 1)), 10);
  EXPECT_EQ(width(built({{"output_shape", List{1, 10}}}, 1)), 10);
}

TEST(OnnxImport, IndicesOfLongWindowsAreIntegers) {
  const auto indices = [](std::int64_t kernel) {
    const Graph graph =
        import_model(onnx_model({1, 2, 600}, {},
                                {onnx_node("MaxPool", {"x"}, {"m"}, {{"kernel_shape", List{kernel}}}),
                                 onnx_node("GlobalMaxPool", {"m"}, {"y"})}))
            .forward;
    return value_named(graph, "m.indices").dtype;
  };
  EXPECT_EQ(indices(256), DType::uint8);
  EXPECT_EQ(indices(512), DType::int32);
}

// The builder's rule of half a kernel is PyTorch's; ONNX asks for an element in every window.
TEST(OnnxImport, PoolsMayHaveWidePadding) {
  const Graph graph =
      import_model(onnx_model({1, 2, 4, 4}, {},
                              {onnx_node("AveragePool", {"x"}, {"p"},
                                         {{"kernel_shape", List{3, 3}}, {"pads", List{2, 0, 2, 0}}}),
                               onnx_node("GlobalMaxPool", {"p"}, {"y"})}))
          .forward;
  EXPECT_EQ(value_named(graph, "p").shape, (Shape{1, 2, 6, 2}));
  EXPECT_EQ(std::get<std::int64_t>(op_of_kind(graph, "avg_pool2d").attributes.at("count_include_pad")), 0);
}

// Segmentation: of a volume and of what a convolution writes the classes are along axis 1, of other rows
// where the final softmax has them.
TEST(OnnxImport, EveryPositionHasATarget) {
  const Graph volume = import_model(onnx_model({2, 4, 3, 5, 2}, {{"w", onnx_reals({7, 4, 1, 1, 1})}},
                                               {onnx_node("Conv", {"x", "w"}, {"y"})}))
                           .forward;
  EXPECT_EQ(value_named(volume, "logits.flat").shape, (Shape{2 * 3 * 5 * 2, 7}));
  const auto row = [](std::vector<Node> after) {
    after.insert(after.begin(), onnx_node("Conv", {"x", "w"}, {"c"}));
    const Graph graph =
        import_model(onnx_model({2, 4, 9}, {{"w", onnx_reals({7, 4, 1})}}, std::move(after))).forward;
    return value_named(graph, "logits.flat").shape;
  };
  const auto softmax = [](const char* x, std::int64_t axis) {
    return onnx_node("Softmax", {x}, {"y"}, {{"axis", axis}});
  };
  EXPECT_EQ(row({}), (Shape{2 * 9, 7}));
  EXPECT_EQ(row({softmax("c", 2)}), (Shape{2 * 7, 9}));
  EXPECT_EQ(row({onnx_node("Relu", {"c"}, {"r"})}), (Shape{2 * 7, 9}));
  EXPECT_EQ(row({onnx_node("Relu", {"c"}, {"r"}), softmax("r", 1)}), (Shape{2 * 9, 7}));
}

// The file says batch 1, twice: in the input and in the reshape.
TEST(OnnxImport, AFixedBatchOfOneFollowsTheBatchSize) {
  ImportOptions options;
  options.batch_size = 3;
  const ImportedModel model = import_model(
      onnx_model({1, 2, 2}, {{"to", onnx_integers({1, 4})}, {"w", onnx_reals({4, 2})}},
                 {onnx_node("Reshape", {"x", "to"}, {"f"}), onnx_node("MatMul", {"f", "w"}, {"y"})}),
      options);
  EXPECT_EQ(value_named(model.forward, "f").shape, (Shape{3, 4}));
  EXPECT_THAT(model.notices, ::testing::Contains(HasSubstr("follows the one chosen")));
}

TEST(OnnxImport, ShapeArithmeticVanishes) {
  const ImportedModel model = import_model(onnx_model(
      {2, 3, 4}, {{"first", onnx_integers({0})}, {"rest", onnx_integers({-1})}, {"w", onnx_reals({12, 2})}},
      {onnx_node("Shape", {"x"}, {"s"}), onnx_node("Gather", {"s", "first"}, {"n"}),
       onnx_node("Concat", {"n", "rest"}, {"to"}, {{"axis", std::int64_t{0}}}),
       onnx_node("Reshape", {"x", "to"}, {"f"}), onnx_node("MatMul", {"f", "w"}, {"y"})}));
  EXPECT_THAT(kinds(model.forward), ElementsAre("input", "linear", "input", "softmax_cross_entropy"));
  EXPECT_EQ(value_named(model.forward, "f").shape, (Shape{2, 12}));
}

// The class token of a vision transformer: one row of weights before the rows of every sample.
TEST(OnnxImport, AWeightIsCopiedForEverySample) {
  const ImportedModel model = import_model(onnx_model(
      {2, 5, 4},
      {{"token", onnx_reals({1, 1, 4})}, {"to", onnx_integers({2, 1, 4})}, {"w", onnx_reals({4, 3})}},
      {onnx_node("Expand", {"token", "to"}, {"t"}),
       onnx_node("Concat", {"t", "x"}, {"c"}, {{"axis", std::int64_t{1}}}),
       onnx_node("MatMul", {"c", "w"}, {"y"})}));
  EXPECT_EQ(value_named(model.forward, "c").shape, (Shape{2, 6, 4}));
  EXPECT_EQ(parameter_count(model.forward), 4 + 12);
  EXPECT_THAT(kinds(differentiate(model.forward)), ::testing::Contains("sgd_update").Times(2));
}

TEST(OnnxImport, NodesThatTheOutputDoesNotNeedAreLeftOut) {
  onnx::Model model =
      onnx_model({2, 3}, {{"w", onnx_reals({3, 4})}},
                 {onnx_node("NoSuchOperator", {"x"}, {"side"}), onnx_node("MatMul", {"x", "w"}, {"y"})});
  EXPECT_THAT(kinds(import_model(model).forward),
              ElementsAre("input", "linear", "input", "softmax_cross_entropy"));
}

// C per row is no bias of the columns, though it has as many numbers.
TEST(OnnxImport, TheThirdInputOfAGemmIsBroadcast) {
  const auto gemm = [](const Shape& c) {
    return import_model(onnx_model({6, 3}, {{"w", onnx_reals({3, 6})}, {"c", onnx_reals(c)}},
                                   {onnx_node("Gemm", {"x", "w", "c"}, {"y"})}))
        .forward;
  };
  EXPECT_THAT(kinds(gemm({1, 6})), ElementsAre("input", "linear", "input", "softmax_cross_entropy"));
  const Graph column = gemm({6, 1});
  EXPECT_THAT(kinds(column), ElementsAre("input", "matmul", "add", "input", "softmax_cross_entropy"));
  EXPECT_EQ(value_named(column, "c").shape, (Shape{6, 1}));
}

// The sum of (4, 3) and (1, 1, 3) has three axes, a linear layer of (4, 6) two.
TEST(OnnxImport, ABiasOfMoreAxesIsAnAdd) {
  const Graph graph =
      import_model(onnx_model({4, 6}, {{"w", onnx_reals({6, 3})}, {"b", onnx_reals({1, 1, 3})}},
                              {onnx_node("MatMul", {"x", "w"}, {"a"}), onnx_node("Add", {"a", "b"}, {"y"})}))
          .forward;
  EXPECT_EQ(value_named(graph, "y").shape, (Shape{1, 4, 3}));
}

TEST(OnnxImport, OnlyOneSoftmaxIsTakenOff) {
  const Graph graph =
      import_model(onnx_model({4, 6}, {{"w", onnx_reals({6, 3})}},
                              {onnx_node("MatMul", {"x", "w"}, {"a"}), onnx_node("Softmax", {"a"}, {"s"}),
                               onnx_node("Softmax", {"s"}, {"y"})}))
          .forward;
  EXPECT_THAT(kinds(graph), ElementsAre("input", "linear", "softmax", "input", "softmax_cross_entropy"));
}

// (2, 4, 8, 8) to 5 channels, transposed so that they are last: 2 x 8 x 8 rows of 5 and no further copy.
TEST(OnnxImport, TheFinalSoftmaxTellsTheAxisOfTheClasses) {
  const Graph graph =
      import_model(onnx_model({2, 4, 8, 8}, {{"w", onnx_reals({5, 4, 1, 1})}},
                              {onnx_node("Conv", {"x", "w"}, {"c"}),
                               onnx_node("Transpose", {"c"}, {"t"}, {{"perm", List{0, 2, 3, 1}}}),
                               onnx_node("Softmax", {"t"}, {"y"})}))
          .forward;
  EXPECT_THAT(kinds(graph), ElementsAre("input", "conv2d", "transpose", "input", "softmax_cross_entropy"));
  EXPECT_EQ(value_named(graph, "logits.flat").shape, (Shape{128, 5}));
}

TEST(OnnxImport, ExponentsMayBeIntegers) {
  const Graph graph =
      import_model(
          onnx_model({4, 6}, {{"w", onnx_reals({6, 3})}, {"two", onnx_integers({2})}},
                     {onnx_node("MatMul", {"x", "w"}, {"a"}), onnx_node("Pow", {"a", "two"}, {"y"})}))
          .forward;
  EXPECT_EQ(op_of_kind(graph, "pow").kind, "pow");
}

// Of 6 columns: all three parts are read, then only the middle one.
TEST(OnnxImport, ASplitIsOneOpUnlessPartsAreForNobody) {
  const auto split = [](const List& sizes, const List& read) {
    std::vector<std::string> parts;
    for (std::size_t i = 0; i < sizes.size(); ++i) parts.push_back("p" + std::to_string(i));
    std::vector<std::string> joined;
    for (const std::int64_t i : read) joined.push_back(parts[static_cast<std::size_t>(i)]);
    return onnx_model(
        {4, 6}, {{"sizes", onnx_integers(sizes)}, {"w", onnx_reals({6, 6})}},
        {onnx_node("MatMul", {"x", "w"}, {"h"}),
         onnx_node("Split", {"h", "sizes"}, parts, {{"axis", std::int64_t{1}}}),
         onnx_node("Concat", joined, {"c"}, {{"axis", std::int64_t{1}}}), onnx_node("Relu", {"c"}, {"y"})});
  };
  const Graph whole = import_model(split({1, 2, 3}, {2, 1, 0})).forward;
  EXPECT_THAT(kinds(whole),
              ElementsAre("input", "linear", "split", "concat", "relu", "input", "softmax_cross_entropy"));
  EXPECT_EQ(value_named(whole, "p0.2").shape, (Shape{4, 3}));
  const Graph middle = import_model(split({1, 2, 3}, {1, 1})).forward;
  EXPECT_THAT(kinds(middle),
              ElementsAre("input", "linear", "slice", "concat", "relu", "input", "softmax_cross_entropy"));
  EXPECT_EQ(op_of_kind(middle, "slice").attributes.at("starts"), Attribute(List{0, 1}));
  EXPECT_EQ(op_of_kind(middle, "slice").attributes.at("ends"), Attribute(List{4, 3}));
  EXPECT_THROW((void)import_model(split({1, 2, 2}, {1, 1})), InputError);
  EXPECT_THROW((void)import_model(split({1, 9, 3}, {1, 1})), InputError);
}

TEST(OnnxImport, TheSquaredErrorHasTargetsOfTheOutputsShape) {
  ImportOptions options;
  options.loss = Loss::mean_squared_error;
  const Graph graph =
      import_model(onnx_model({2, 3}, {{"w", onnx_reals({3, 4})}},
                              {onnx_node("MatMul", {"x", "w"}, {"h"}), onnx_node("Softmax", {"h"}, {"y"})}),
                   options)
          .forward;
  // The softmax stays: this loss has none of its own.
  EXPECT_THAT(kinds(graph), ElementsAre("input", "linear", "softmax", "input", "mse_loss"));
  EXPECT_EQ(value_named(graph, "targets").shape, (Shape{2, 4}));
  EXPECT_EQ(value_named(graph, "targets").dtype, DType::float32);
}

TEST(OnnxImport, LossesOfNumbersAreThoseAskedFor) {
  const onnx::Model model =
      onnx_model({2, 3}, {{"w", onnx_reals({3, 4})}},
                 {onnx_node("MatMul", {"x", "w"}, {"h"}), onnx_node("Sigmoid", {"h"}, {"y"})});
  for (const auto& [loss, kind] :
       {std::pair(Loss::absolute_error, "l1_loss"), std::pair(Loss::huber, "huber_loss"),
        std::pair(Loss::binary_cross_entropy, "bce_loss"),
        std::pair(Loss::binary_cross_entropy_with_logits, "bce_with_logits_loss")}) {
    ImportOptions options;
    options.loss = loss;
    const Graph graph = import_model(model, options).forward;
    std::vector<std::string> ops = {"input", "linear", "sigmoid", "input", kind};
    if (loss == Loss::binary_cross_entropy_with_logits) ops.erase(ops.begin() + 2);  // it has its own
    EXPECT_EQ(kinds(graph), ops);
    EXPECT_EQ(value_named(graph, "targets").shape, (Shape{2, 4}));
    if (loss == Loss::huber) {
      EXPECT_EQ(op_of_kind(graph, kind).attributes.at("delta"), Attribute(1.0));
    }
  }
  ImportOptions options;
  options.loss = Loss::huber;
  options.huber_delta = 0.25;
  EXPECT_EQ(op_of_kind(import_model(model, options).forward, "huber_loss").attributes.at("delta"),
            Attribute(0.25));
  options.huber_delta = 0;
  EXPECT_EQ(test::input_error([&] { (void)import_model(model, options); }),
            "huber_delta: must be > 0 and finite");
  options.huber_delta = 1;
  options.loss = Loss::mean_squared_error;
  EXPECT_EQ(test::input_error([&] { (void)import_model(model, options); }),
            "huber_delta: is for `loss` huber");
}

TEST(OnnxImport, AnyOutputMayHaveTheLoss) {
  onnx::Model model =
      onnx_model({2, 3}, {{"w", onnx_reals({3, 4})}, {"v", onnx_reals({3, 5})}},
                 {onnx_node("MatMul", {"x", "w"}, {"y"}), onnx_node("MatMul", {"x", "v"}, {"z"})});
  model.outputs = {"y", "z"};
  ImportOptions options;
  options.loss = Loss::mean_squared_error;
  EXPECT_EQ(value_named(import_model(model, options).forward, "targets").shape, (Shape{2, 4}));
  options.loss_output = "z";
  EXPECT_EQ(value_named(import_model(model, options).forward, "targets").shape, (Shape{2, 5}));
  options.loss_output = "nowhere";
  EXPECT_EQ(test::input_error([&] { (void)import_model(model, options); }),
            "loss_output: \"nowhere\" is not one of the outputs (y, z)");
}

// LpPool is one of ONNX's operators, so libonnx tells its shape: 8 rows in windows of 2 are 4.
TEST(OnnxImport, UnknownOperatorsMayBeOpaque) {
  ImportOptions options;
  options.allow_opaque = true;
  const ImportedModel model = import_model(
      onnx_model({2, 3, 8, 8}, {{"w", onnx_reals({5, 3, 1, 1})}},
                 {onnx_node("Conv", {"x", "w"}, {"c"}),
                  onnx_node("LpPool", {"c"}, {"l"}, {{"kernel_shape", List{2, 2}}, {"strides", List{2, 2}}}),
                  onnx_node("GlobalAveragePool", {"l"}, {"y"})}),
      options);
  EXPECT_EQ(value_named(model.forward, "l").shape, (Shape{2, 5, 4, 4}));
  EXPECT_EQ(op_of_kind(model.forward, "opaque").attributes.at("operator"), Attribute(std::string("LpPool")));
  EXPECT_THAT(model.notices, ::testing::Contains(HasSubstr("LpPool is opaque to poet: ")));
  EXPECT_THAT(kinds(differentiate(model.forward)), ::testing::Contains("opaque_backward"));
}

// Another domain's operator has the shapes that the file declares, with its symbols and at this batch size.
TEST(OnnxImport, AnotherDomainsOperatorHasTheShapeThatTheFileDeclares) {
  Node fancy = onnx_node("Fancy", {"x", "table", "", "how"}, {"f", "g"});
  fancy.domain = "com.acme";
  onnx::Model model = onnx_model({-1, 3}, {{"table", onnx_reals({7})}, {"how", onnx_integers({1, 2})}},
                                 {fancy, onnx_node("MatMul", {"f", "w"}, {"y"})});
  model.initializers["w"] = onnx_reals({5, 4});
  ImportOptions options;
  options.batch_size = 6;
  options.allow_opaque = true;
  const auto declare = [&](const std::string& name, onnx::Type type, std::vector<onnx::Dimension> shape) {
    onnx::Declaration declaration;
    declaration.name = name;
    declaration.type = type;
    declaration.shape = std::move(shape);
    model.declared[name] = declaration;
  };
  declare("f", onnx::Type::real, {{std::nullopt, "open"}, {5, ""}});
  const auto refusal = [&] {
    try {
      (void)import_model(model, options);
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(
      refusal(),
      "node 0 'f' (Fancy): cannot be opaque: neither libonnx nor the file (value_info) states the shape of "
      "its output 'g'");
  declare("g", onnx::Type::integer, {{std::nullopt, "other"}});
  EXPECT_THAT(refusal(), HasSubstr("of its output 'g'"));
  declare("g", onnx::Type::integer, {{2, ""}});
  const Graph graph = import_model(model, options).forward;
  EXPECT_EQ(value_named(graph, "f").shape, (Shape{6, 5}));
  EXPECT_EQ(value_named(graph, "f.1").dtype, DType::int32);
  EXPECT_EQ(op_of_kind(graph, "opaque").inputs.size(), 2U);  // integers that are known are part of it
  EXPECT_EQ(parameter_count(graph), 7 + 20);
  options.allow_opaque = false;
  EXPECT_THAT(refusal(), HasSubstr("`allow_opaque`"));
}

// Which row or column a padded one repeats, by the formulas of numpy.pad.
TEST(OnnxImport, PaddingByTheInputItself) {
  const auto source = [](const std::string& mode, std::int64_t i, std::int64_t size) {
    if (mode == "edge") return std::clamp<std::int64_t>(i, 0, size - 1);
    if (mode == "wrap") return (i + size) % size;
    return i < 0 ? -i : i < size ? i : 2 * (size - 1) - i;
  };
  const auto padded = [](const std::string& mode, std::vector<std::int64_t> pads) {
    ImportOptions options;
    options.loss = Loss::mean_squared_error;
    return import_model(onnx_model({3, 4}, {{"pads", onnx_integers(std::move(pads))}},
                                   {onnx_node("Pad", {"x", "pads"}, {"p"}, {{"mode", mode}}),
                                    onnx_node("Relu", {"p"}, {"y"})}),
                        options)
        .forward;
  };
  const std::vector<double> x = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
  for (const std::string mode : {"reflect", "edge", "wrap"}) {
    const Graph graph = padded(mode, {1, 3, 2, 1});
    reference::Interpreter run(graph);
    run.set(test::find_value(graph, "x"), x);
    run.set(test::find_value(graph, "targets"), std::vector<double>(6 * 8, 0.0));
    run.run();
    const reference::Array y = run.get(test::find_value(graph, "y"));
    ASSERT_EQ(y.shape, (Shape{6, 8}));
    for (std::int64_t i = 0; i < 6; ++i)
      for (std::int64_t j = 0; j < 8; ++j)
        EXPECT_EQ(y.data[static_cast<std::size_t>(i * 8 + j)],
                  x[static_cast<std::size_t>(source(mode, i - 1, 3) * 4 + source(mode, j - 3, 4))])
            << mode << " " << i << " " << j;
  }
  EXPECT_THAT(test::input_error([&] {
                (void)padded("reflect", {0, 4, 0, 0});
              }),
              HasSubstr("the padding of axis 1 must be at most 3 in mode 'reflect', not 4"));
}

// A known operator with a setting that its rule does not have.
TEST(OnnxImport, UnknownSettingsMayBeOpaque) {
  ImportOptions options;
  options.allow_opaque = true;
  const ImportedModel model =
      import_model(onnx_model({2, 3}, {{"pads", onnx_integers({0, 1, 0, 1})}, {"w", onnx_reals({5, 4})}},
                              {onnx_node("Pad", {"x", "pads"}, {"p"}, {{"mode", std::string("mirror")}}),
                               onnx_node("MatMul", {"p", "w"}, {"y"})}),
                   options);
  EXPECT_EQ(value_named(model.forward, "p").shape, (Shape{2, 5}));
  EXPECT_THAT(model.notices, ::testing::Contains(
                                 HasSubstr("Pad is opaque to poet (attribute 'mode': must be 'constant', ")));
  // Six numbers as a list of five are a mistake, and no setting that is missing.
  EXPECT_THROW((void)import_model(
                   onnx_model({2, 3}, {{"to", onnx_integers({5})}},
                              {onnx_node("Reshape", {"x", "to"}, {"r"}), onnx_node("Relu", {"r"}, {"y"})}),
                   options),
               InputError);
}

// Rows 1 and 2 of the transposed (3, 4) are columns of what is stored; a part that stays transposed is
// transposed where it is read.
TEST(OnnxImport, OfATransposedValueOnlyThePartIsCopied) {
  const Graph graph = import_model(onnx_model({4, 3},
                                              {{"w", onnx_reals({3, 3})},
                                               {"from", onnx_integers({1})},
                                               {"to", onnx_integers({3})},
                                               {"axis", onnx_integers({0})}},
                                              {onnx_node("MatMul", {"x", "w"}, {"a"}),
                                               onnx_node("Transpose", {"a"}, {"t"}, {{"perm", List{1, 0}}}),
                                               onnx_node("Slice", {"t", "from", "to", "axis"}, {"s"}),
                                               onnx_node("Relu", {"s"}, {"y"})}))
                          .forward;
  EXPECT_THAT(kinds(graph),
              ElementsAre("input", "linear", "slice", "transpose", "relu", "input", "softmax_cross_entropy"));
  const Op& slice = op_of_kind(graph, "slice");
  EXPECT_EQ(std::get<List>(slice.attributes.at("starts")), (List{0, 1}));
  EXPECT_EQ(std::get<List>(slice.attributes.at("ends")), (List{4, 3}));
  EXPECT_EQ(value_named(graph, "y").shape, (Shape{2, 4}));
  EXPECT_NO_THROW((void)differentiate(graph));
}

// Weight normalisation: the filters are computed in every step, from parameters that train.
TEST(OnnxImport, WeightsMayBeComputed) {
  const Graph graph =
      import_model(onnx_model({2, 3, 8}, {{"v", onnx_reals({5, 3, 3})}, {"g", onnx_reals({5, 1, 1})}},
                              {onnx_node("Mul", {"v", "g"}, {"w"}), onnx_node("Conv", {"x", "w"}, {"c"}),
                               onnx_node("GlobalAveragePool", {"c"}, {"y"})}))
          .forward;
  EXPECT_EQ(value_named(graph, "c").shape, (Shape{2, 5, 1, 6}));
  EXPECT_EQ(parameter_count(graph), 45 + 5);
  EXPECT_THAT(kinds(differentiate(graph)), ::testing::Contains("sgd_update").Times(2));
}

// One slope for all channels is a weight, too.
TEST(OnnxImport, ASlopeOfOneNumberTrains) {
  const Graph graph = import_model(onnx_model({2, 3, 4, 4}, {{"slope", onnx_reals({1, 1, 1}, {0.25})}},
                                              {onnx_node("PRelu", {"x", "slope"}, {"p"}),
                                               onnx_node("GlobalAveragePool", {"p"}, {"y"})}))
                          .forward;
  EXPECT_EQ(parameter_count(graph), 1);
  EXPECT_EQ(value_named(graph, "slope").persistence, Persistence::parameter);
}

// A file with a loss of its own: scores (2, 5, 7), one target for each of 2 x 7.
TEST(OnnxImport, TheFilesOwnLossIsTakenOff) {
  const auto with_loss = [](const std::string& loss, std::vector<Node> before) {
    before.push_back(onnx_node(loss, {before.back().outputs[0], "labels"}, {"l"}));
    onnx::Model model = onnx_model({2, 3, 7}, {{"w", onnx_reals({5, 3, 1})}}, std::move(before));
    onnx::Declaration labels;
    labels.name = "labels";
    labels.type = onnx::Type::integer;
    labels.shape.emplace();
    for (const std::int64_t size : {2, 7}) labels.shape->push_back({size, ""});
    model.inputs.push_back(labels);
    return import_model(model).forward;
  };
  const Node conv = onnx_node("Conv", {"x", "w"}, {"c"});
  const Graph whole = with_loss("SoftmaxCrossEntropyLoss", {conv});
  EXPECT_EQ(value_named(whole, "targets").shape, (Shape{14}));
  EXPECT_EQ(op_of_kind(whole, "softmax_cross_entropy").inputs.size(), 2U);
  const Graph parts = with_loss("NegativeLogLikelihoodLoss",
                                {conv, onnx_node("LogSoftmax", {"c"}, {"p"}, {{"axis", std::int64_t{1}}})});
  EXPECT_EQ(kinds(parts), kinds(whole));
}

TEST(OnnxImport, TheSmallestIsTheLargestOfTheNegatives) {
  const Graph graph =
      import_model(onnx_model({2, 3}, {{"table", onnx_reals({3, 4})}},
                              {onnx_node("ArgMin", {"x"}, {"i"},
                                         {{"axis", std::int64_t{1}}, {"keepdims", std::int64_t{0}}}),
                               onnx_node("Gather", {"table", "i"}, {"y"})}))
          .forward;
  EXPECT_THAT(kinds(graph),
              ElementsAre("input", "scale", "argmax", "embedding", "input", "softmax_cross_entropy"));
}

// A newcomer finds every operator in the document.
TEST(OnnxImport, EveryOperatorIsDocumented) {
  std::ifstream file(test::repository() / "docs" / "onnx.md");
  ASSERT_TRUE(file);
  std::set<std::string> documented;
  for (std::string line; std::getline(file, line);) {
    if (line.rfind("| `", 0) != 0) continue;
    const std::string first = line.substr(0, line.find(" | ", 2));
    for (std::size_t at = first.find('`'); at != std::string::npos; at = first.find('`', at + 1)) {
      const std::size_t close = first.find('`', at + 1);
      documented.insert(first.substr(at + 1, close - at - 1));
      at = close;
    }
  }
  for (const std::string& name : onnx::imported_operators()) {
    EXPECT_EQ(documented.count(name), 1U) << name;
  }
}

}  // namespace
}  // namespace poet
