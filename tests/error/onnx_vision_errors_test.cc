// What is not supported of the operators of vision models is said in one line with a way out.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "poet/frontend/onnx/import.h"
#include "poet/graph/nn.h"
#include "tests/support/input_error.h"
#include "tests/support/onnx_models.h"

namespace poet {
namespace {

using test::input_error;
using test::onnx_integers;
using test::onnx_model;
using test::onnx_node;
using test::onnx_reals;
using ::testing::HasSubstr;
using ::testing::StartsWith;

using List = std::vector<std::int64_t>;
using OnnxAttributes = std::map<std::string, onnx::AttributeValue>;

std::string vision_error(const onnx::Model& model) {
  return input_error([&] { (void)import_model(model, {}); });
}

std::string resize_error(const Shape& x, std::vector<double> scales, const OnnxAttributes& attributes = {}) {
  const auto count = static_cast<std::int64_t>(scales.size());
  return vision_error(onnx_model(x, {{"s", onnx_reals({count}, std::move(scales))}},
                                 {onnx_node("Resize", {"x", "", "s"}, {"y"}, attributes)}, 18));
}

TEST(OnnxResizeErrors, NameTheAttributeAndASuggestion) {
  EXPECT_EQ(resize_error({1, 1, 4, 4}, {1, 1, 2, 2},
                         {{"coordinate_transformation_mode", std::string("tf_crop_and_resize")}}),
            "node 0 'y' (Resize): attribute 'coordinate_transformation_mode': 'tf_crop_and_resize' is not "
            "supported; export with half_pixel, align_corners or asymmetric");
  EXPECT_THAT(resize_error({1, 1, 4, 4}, {1, 1, 0.5, 0.5},
                           {{"antialias", std::int64_t{1}}, {"mode", std::string("linear")}}),
              HasSubstr("attribute 'antialias': must be 0"));
  EXPECT_THAT(resize_error({1, 1, 4, 4}, {1, 1, 2, 2}, {{"mode", std::string("spline")}}),
              HasSubstr("mode 'spline' is not one of nearest, linear, cubic"));
  EXPECT_THAT(resize_error({1, 1, 4, 4}, {1, 1, 2, 2}, {{"nearest_mode", std::string("up")}}),
              HasSubstr("nearest 'up' is not one of"));
}

TEST(OnnxResizeErrors, SizesMustBeKnownAndPositive) {
  EXPECT_THAT(resize_error({1, 1, 4, 4}, {1, 2, 2, 2}), HasSubstr("resizes axis 1"));
  EXPECT_THAT(resize_error({1, 1, 4, 4}, {1, 1, 0.1, 1}), HasSubstr("the scale 0.1 makes no image"));
  EXPECT_THAT(resize_error({1, 1, 4, 4}, {1, 1, -2, 1}), HasSubstr("the scale -2 makes no image"));
  EXPECT_THAT(resize_error({1, 1, 4, 4}, {1, 1, 1e30, 1}), HasSubstr("makes no image"));
  EXPECT_THAT(resize_error({1, 1, 4, 4}, {1, 1, 2}), HasSubstr("has 3 scales for 4 axes"));
  EXPECT_THAT(resize_error({4, 4}, {2, 2}), HasSubstr("at least one axis after the channels"));
  EXPECT_THAT(vision_error(onnx_model({1, 1, 4}, {}, {onnx_node("Resize", {"x"}, {"y"})})),
              HasSubstr("has neither scales nor sizes"));
  EXPECT_THAT(vision_error(onnx_model({1, 1, 4}, {{"s", onnx_reals({3})}},
                                      {onnx_node("Resize", {"x", "", "s"}, {"y"})})),
              HasSubstr("input 2 ('s') must hold real numbers known while importing"));
  EXPECT_THAT(vision_error(onnx_model({1, 1, 4}, {{"s", onnx_integers({1, 1, 2})}},
                                      {onnx_node("Resize", {"x", "", "", "s"}, {"y"},
                                                 {{"keep_aspect_ratio_policy", std::string("not_larger")}})},
                                      18)),
              HasSubstr("attribute 'keep_aspect_ratio_policy': must be 'stretch'"));
  EXPECT_THAT(vision_error(onnx_model({1, 1, 4}, {{"s", onnx_integers({1, 1, 0})}},
                                      {onnx_node("Resize", {"x", "", "", "s"}, {"y"})})),
              HasSubstr("sizes and scales must be positive"));
}

TEST(OnnxEinsumErrors, NameTheRule) {
  const auto error = [](const std::string& equation, const Shape& w) {
    return vision_error(onnx_model({2, 3}, {{"w", onnx_reals(w)}},
                                   {onnx_node("Einsum", {"x", "w"}, {"y"}, {{"equation", equation}})}));
  };
  EXPECT_EQ(error("ii,ij->j", {3, 3}),
            "node 0 'y' (Einsum): attribute 'equation': 'ii,ij->j' names one axis of a term twice, which is "
            "not supported");
  EXPECT_THAT(error("...i,ij->...j", {3, 3}), HasSubstr("write ellipses out"));
  EXPECT_THAT(error("ij,jk,kl->il", {3, 3}),
              HasSubstr("has 3 terms for 2 operands; one or two are supported"));
  EXPECT_THAT(error("ij,jk->im", {3, 3}), HasSubstr("has 'm' in its result only"));
  EXPECT_THAT(error("ij,jk->ik", {4, 3}), HasSubstr("gives 'j' two sizes"));
  EXPECT_THAT(error("ij,jkl->ik", {3, 3}), HasSubstr("has 3 axes for operand 1, which is (3, 3)"));
  EXPECT_THAT(error("", {3, 3}), HasSubstr("has 1 terms for 2 operands"));
}

TEST(OnnxVisionErrors, NumbersThatMakeNoSense) {
  const auto error = [](const std::string& op, const OnnxAttributes& attributes,
                        const Shape& x = {1, 6, 4, 4}) {
    return vision_error(onnx_model(x, {}, {onnx_node(op, {"x"}, {"y"}, attributes)}));
  };
  for (const std::int64_t size : {0L, -2L, 4L, 3037000500L}) {
    EXPECT_THAT(error("DepthToSpace", {{"blocksize", size}}), HasSubstr("attribute 'blocksize'")) << size;
  }
  EXPECT_THAT(error("SpaceToDepth", {{"blocksize", std::int64_t{3}}}),
              HasSubstr("3 does not divide (1, 6, 4, 4)"));
  EXPECT_THAT(error("SpaceToDepth", {{"blocksize", std::int64_t{2}}}, {4, 4}),
              HasSubstr("images (N, C, H, W)"));
  EXPECT_THAT(error("Celu", {{"alpha", 0.0}}), HasSubstr("needs alpha > 0, not 0"));
  EXPECT_THAT(error("ThresholdedRelu", {{"alpha", -1.0}}), HasSubstr("needs alpha >= 0, not -1"));
  EXPECT_THAT(error("ReduceMax", {{"axes", List{0, 0}}}), HasSubstr("axis 0 is listed twice"));
  EXPECT_THAT(error("ReduceL2", {{"axes", List{7}}}), HasSubstr("7 is not in [-4, 4)"));
  EXPECT_THAT(
      vision_error(onnx_model({2, 3}, {{"s", onnx_reals({2})}}, {onnx_node("PRelu", {"x", "s"}, {"y"})})),
      HasSubstr("needs a slope that broadcasts to (2, 3), not (2)"));
  EXPECT_THAT(vision_error(onnx_model({2, 3, 4}, {{"w", onnx_reals({5, 4, 6})}},
                                      {onnx_node("MatMul", {"x", "w"}, {"y"})})),
              HasSubstr("multiplies (2, 3, 4) by (5, 4, 6)"));
}

TEST(BuilderResizeErrors, NameTheOp) {
  const auto error = [](auto add) {
    GraphBuilder g("g");
    const ValueId x = g.input("x", {1, 2, 4, 4});
    return input_error([&] { add(g, x); });
  };
  EXPECT_THAT(error([](GraphBuilder& g, ValueId x) { nn::resize(g, "r", x, {2}); }),
              StartsWith("op 'r': needs x of 3"));
  EXPECT_THAT(error([](GraphBuilder& g, ValueId x) {
                nn::resize(g, "r", x, {2, 0});
              }),
              HasSubstr("makes 0 of 4 by the scale 0"));
  EXPECT_THAT(error([](GraphBuilder& g, ValueId x) {
                nn::resize(g, "r", x, {2, 2}, {.coordinates = "corner"});
              }),
              HasSubstr("coordinates 'corner' is not one of half_pixel"));
  EXPECT_THAT(error([](GraphBuilder& g, ValueId x) { nn::flip(g, "f", x, {}); }),
              StartsWith("op 'f': reverses"));
  EXPECT_THAT(error([](GraphBuilder& g, ValueId x) { nn::flip(g, "f", x, {1, 1}); }), HasSubstr("each once"));
  EXPECT_THAT(error([](GraphBuilder& g, ValueId x) { nn::flip(g, "f", x, {4}); }), HasSubstr("each once"));
  EXPECT_THAT(error([](GraphBuilder& g, ValueId x) {
                nn::unary(g, "selu", "s", x, {{"alpha", -1.0}, {"gamma", 1.0}});
              }),
              HasSubstr("needs alpha >= 0, not -1"));
}

}  // namespace
}  // namespace poet
