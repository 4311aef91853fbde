// Where the numbers of a network come from that was imported from a file.

#include "poet/frontend/onnx/weights.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <map>
#include <optional>

#include "poet/frontend/onnx/import.h"
#include "poet/runtime/weights/safetensors.h"
#include "poet/weights/onnx_network.h"
#include "tests/support/graph_text.h"
#include "tests/support/proto_model.h"
#include "tests/support/scratch_folder.h"

namespace poet {
namespace {

using test::ProtoModel;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::IsNan;
using Proto = ::onnx::TensorProto;

class OnnxWeightsTest : public ::testing::Test {
 protected:
  void import(const ProtoModel& model, const ImportOptions& options = {}) {
    const auto file = folder_.write("net.onnx", model.bytes());
    imported_ = import_onnx(file, options);
    weights_.emplace(file, imported_);
  }

  /// Nothing when the file has none.
  template <class T>
  std::optional<std::vector<T>> read(const std::string& name) {
    const Value& value = imported_.forward.values[test::find_value(imported_.forward, name)];
    EXPECT_TRUE(is_persistent(value.persistence));
    EXPECT_EQ(size_of(value.dtype), Bytes(sizeof(T)));
    std::vector<T> out(static_cast<std::size_t>(element_count(value.shape)));
    if (!weights_->read(value, reinterpret_cast<std::byte*>(out.data()))) return std::nullopt;
    return out;
  }
  std::vector<float> reals(const std::string& name) { return read<float>(name).value(); }

  test::ScratchFolder folder_;
  ImportedModel imported_;
  std::optional<OnnxWeights> weights_;
};

// (in, out) = (3, 2) in the file, (out, in) in the graph.
TEST_F(OnnxWeightsTest, MatricesOfLinearLayersAreTurned) {
  ProtoModel model({1, 3});
  model.floats("w", {3, 2}, {1, 2, 3, 4, 5, 6});
  model.floats("b", {2}, {7, 8});
  model.node("MatMul", {"x", "w"}, {"h"});
  model.node("Add", {"h", "b"}, {"y"});
  import(model);
  EXPECT_THAT(reals("w"), ElementsAre(1, 3, 5, 2, 4, 6));
  EXPECT_THAT(reals("b"), ElementsAre(7, 8));
}

// Whatever shape the file gives their elements: W of x W is the file's tensor seen as (3, 2).
TEST_F(OnnxWeightsTest, MatricesOfReshapedTensorsAreTurned) {
  for (const Shape& stored : {Shape{2, 3}, Shape{6}, Shape{1, 6, 1}, Shape{3, 1, 2}}) {
    ProtoModel model({1, 3});
    model.floats("w", stored, {1, 2, 3, 4, 5, 6});
    model.integers("shape", {3, 2});
    model.node("Reshape", {"w", "shape"}, {"seen"});
    model.node("MatMul", {"x", "seen"}, {"y"});
    import(model);
    EXPECT_THAT(reals("w"), ElementsAre(1, 3, 5, 2, 4, 6));
    const Value& value = imported_.forward.values[test::find_value(imported_.forward, "w")];
    ASSERT_TRUE(value.in_file);
    EXPECT_EQ(value.in_file->shape, stored);
  }
}

// The variance of a batch of one is none, so weights are read at the batch size of the step that takes them.
TEST_F(OnnxWeightsTest, AreReadAtTheBatchSizeOfTheStep) {
  for (const std::int64_t batch : {1, 2}) {  // 1: any batch
    ProtoModel model({batch, 3});
    for (const char* name : {"scale", "bias", "mean", "variance"}) model.floats(name, {3}, {1, 2, 3});
    model.node("BatchNormalization", {"x", "scale", "bias", "mean", "variance"}, {"y"});
    const auto file = folder_.write("net.onnx", model.bytes());
    imported_ = import_for_weights(file, 4, {});
    weights_.emplace(file, imported_);
    EXPECT_THAT(reals("scale"), ElementsAre(1, 2, 3));
  }
}

// Under the tensor's name files exchange the tensor as the ONNX file has it, square or not, whole or in
// parts.
TEST_F(OnnxWeightsTest, SafetensorsHaveTheLayoutOfTheOnnxFile) {
  const std::vector<float> square = {1, 2, 3, 4}, wide = {1, 2, 3, 4, 5, 6},
                           as_is = {1, 2, 3, 4, 5, 6, 7, 8, 9};
  ProtoModel model({1, 2});
  model.floats("square", {2, 2}, square);
  model.floats("wide", {2, 3}, wide);
  model.floats("as_is", {3, 3}, as_is);
  model.node("MatMul", {"x", "square"}, {"h"});
  model.node("MatMul", {"h", "wide"}, {"i"});
  ProtoModel::set(model.node("Gemm", {"i", "as_is"}, {"y"}), "transB", 1);
  import(model);
  const auto bytes = [](const std::vector<float>& numbers) {
    return reinterpret_cast<const std::byte*>(numbers.data());
  };
  const auto path = folder_.path() / "w.safetensors";
  runtime::write_safetensors(path,
                             {{"square", DType::float32, {2, 2}, bytes(square)},
                              {"wide", DType::float32, {2, 3}, bytes(wide)},
                              {"as_is", DType::float32, {3, 3}, bytes(as_is)}},
                             {});
  const runtime::SafetensorsFile file(path);
  const auto read_value = [](const runtime::SafetensorsFile& from, const Value& value) {
    std::vector<float> numbers(static_cast<std::size_t>(element_count(value.shape)));
    from.read(value, reinterpret_cast<std::byte*>(numbers.data()));
    return numbers;
  };
  std::map<std::string, Value> values;
  for (const char* name : {"square", "wide", "as_is"})
    values[name] = test::value_named(imported_.forward, name);
  EXPECT_THAT(read_value(file, values["square"]), ElementsAre(1, 3, 2, 4));
  EXPECT_EQ(read_value(file, values["wide"]), reals("wide"));
  EXPECT_EQ(read_value(file, values["as_is"]), as_is);

  Value first = values["wide"], last = values["wide"];  // (3, 2) cut into row 0 and rows 1 and 2
  first.part = Part{"wide", {3, 2}, {0, 0}};
  first.shape = {1, 2};
  last.part = Part{"wide", {3, 2}, {1, 0}};
  last.shape = {2, 2};
  const std::vector<float> row = read_value(file, first), rows = read_value(file, last);
  EXPECT_THAT(row, ElementsAre(1, 4));
  EXPECT_THAT(rows, ElementsAre(2, 5, 3, 6));

  const auto back = folder_.path() / "back.safetensors";
  runtime::write_safetensors(back,
                             {{"wide",
                               DType::float32,
                               shape_in_file(values["wide"]),
                               nullptr,
                               {{&first, bytes(row)}, {&last, bytes(rows)}}}},
                             {});
  std::vector<float> again(6);
  runtime::SafetensorsFile(back).read("wide", DType::float32, {2, 3},
                                      reinterpret_cast<std::byte*>(again.data()));
  EXPECT_EQ(again, wide);

  // Without a format in the metadata a square matrix may be in either orientation.
  EXPECT_THAT(file.notes(), ElementsAre(AllOf(HasSubstr("w.safetensors has no \"poet.format\""),
                                              HasSubstr("square matrices (\"square\") are read"))));
  runtime::write_safetensors(path, {{"square", DType::float32, {2, 2}, bytes(square)}},
                             {{runtime::kWeightsFormatKey, runtime::kWeightsFormat}});
  const runtime::SafetensorsFile with_format(path);
  EXPECT_THAT(read_value(with_format, values["square"]), ElementsAre(1, 3, 2, 4));
  EXPECT_THAT(with_format.notes(), IsEmpty());

  // Checkpoints of versions that kept (out, in) say so.
  runtime::write_safetensors(back, {{"square", DType::float32, {2, 2}, bytes(square)}},
                             {{"format", runtime::kCheckpointInMemory}});
  EXPECT_EQ(read_value(runtime::SafetensorsFile(back), values["square"]), square);
}

TEST_F(OnnxWeightsTest, SafetensorsMayDifferInAxesOfOneElement) {
  ProtoModel model({1, 2, 4});
  model.floats("w", {3, 2, 2}, std::vector<float>(12, 1.0F));
  model.node("Conv", {"x", "w"}, {"y"});
  import(model);
  const Value& value = test::value_named(imported_.forward, "w");
  EXPECT_EQ(value.shape, (Shape{3, 2, 1, 2}));
  EXPECT_EQ(shape_in_file(value), (Shape{3, 2, 2}));
  std::vector<float> numbers(12);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<float>(i);
  for (const Shape& shape : {Shape{3, 2, 2}, Shape{3, 2, 1, 2}}) {
    const auto file = folder_.path() / "w.safetensors";
    runtime::write_safetensors(
        file, {{"w", DType::float32, shape, reinterpret_cast<const std::byte*>(numbers.data())}}, {});
    std::vector<float> found(12);
    runtime::SafetensorsFile(file).read(value, reinterpret_cast<std::byte*>(found.data()));
    EXPECT_EQ(found, numbers);
  }
}

// A small Constant is known while importing, one of more than 4096 elements is not: both are transposed.
TEST_F(OnnxWeightsTest, ConstantNodes) {
  ProtoModel model({1, 100});
  std::vector<float> large(100 * 50);
  for (std::size_t i = 0; i < large.size(); ++i) large[i] = static_cast<float>(i);
  model.constant("large", {100, 50}, large);
  model.constant("small", {50, 2}, std::vector<float>(large.begin(), large.begin() + 100));
  model.node("MatMul", {"x", "large"}, {"h"});
  model.node("MatMul", {"h", "small"}, {"y"});
  import(model);
  EXPECT_EQ(reals("large")[1], 50);  // row 1 of column 0
  EXPECT_EQ(reals("large")[100], 1);
  EXPECT_EQ(reals("small")[1], 2);
  EXPECT_EQ(reals("small")[50], 1);
}

TEST_F(OnnxWeightsTest, EveryElementTypeAndField) {
  ProtoModel model({1, 2});
  Proto& half = model.floats("half", {2}, {});
  half.set_data_type(Proto::FLOAT16);
  half.clear_raw_data();
  half.add_int32_data(0x3c00);  // 1
  half.add_int32_data(0xc100);  // -2.5
  Proto& brain = model.floats("brain", {2}, {});
  brain.set_data_type(Proto::BFLOAT16);
  brain.set_raw_data(std::string("\x80\x3f\x20\x40", 4));  // 0x3f80 = 1, 0x4020 = 2.5
  Proto& wide = model.floats("wide", {2}, {});
  wide.set_data_type(Proto::DOUBLE);
  wide.clear_raw_data();
  wide.add_double_data(0.1);
  wide.add_double_data(-3);
  Proto& listed = model.floats("listed", {2}, {});
  listed.clear_raw_data();
  listed.add_float_data(0.25F);
  listed.add_float_data(0.5F);
  model.node("Add", {"x", "half"}, {"a"});
  model.node("Add", {"a", "brain"}, {"b"});
  model.node("Add", {"b", "wide"}, {"c"});
  model.node("Add", {"c", "listed"}, {"y"});
  import(model);
  EXPECT_THAT(reals("half"), ElementsAre(1, -2.5F));
  EXPECT_THAT(reals("brain"), ElementsAre(1, 2.5F));
  EXPECT_THAT(reals("wide"), ElementsAre(0.1F, -3));
  EXPECT_THAT(reals("listed"), ElementsAre(0.25F, 0.5F));
}

TEST_F(OnnxWeightsTest, SmallAndInfiniteNumbersOfSixteenBits) {
  ProtoModel model({1, 6});
  // The smallest and the largest subnormal, the largest number, infinities, and no number.
  Proto& half = model.floats("half", {6}, {});
  half.set_data_type(Proto::FLOAT16);
  half.set_raw_data(std::string("\x01\x00\xff\x83\xff\x7b\x00\x7c\x00\xfc\x01\x7e", 12));
  Proto& brain = model.floats("brain", {6}, {});
  brain.set_data_type(Proto::BFLOAT16);
  brain.clear_raw_data();
  for (const int bits : {0x0001, 0x807f, 0x7f7f, 0x7f80, 0xff80, 0x7fc1}) brain.add_int32_data(bits);
  model.node("Add", {"x", "half"}, {"a"});
  model.node("Add", {"a", "brain"}, {"y"});
  import(model);
  constexpr float kInfinite = std::numeric_limits<float>::infinity();
  EXPECT_THAT(reals("half"), ElementsAre(0x1p-24F, -1023 * 0x1p-24F, 65504, kInfinite, -kInfinite, IsNan()));
  EXPECT_THAT(reals("brain"),
              ElementsAre(0x1p-133F, -127 * 0x1p-133F, 255 * 0x1p120F, kInfinite, -kInfinite, IsNan()));
}

TEST_F(OnnxWeightsTest, MergedInitialisersAreReadByEveryName) {
  ProtoModel model({2, 2});
  model.proto.set_producer_name("pytorch");
  model.floats("shift", {2}, {3, 4});
  model.node("Identity", {"shift"}, {"other"});
  model.node("Add", {"x", "shift"}, {"a"});
  model.node("Add", {"a", "other"}, {"y"});
  import(model);
  EXPECT_THAT(reals("shift"), ElementsAre(3, 4));
  EXPECT_THAT(reals("other"), ElementsAre(3, 4));
}

TEST_F(OnnxWeightsTest, RunningStatisticsAlsoWhereTheyAreShared) {
  ProtoModel model({4, 2, 3, 3});
  for (const char* name : {"scale", "shift"}) model.floats(name, {2}, {1, 2});
  model.floats("mean", {2}, {3, 4});
  model.floats("var", {2}, {5, 6});
  model.floats("own_var", {2}, {7, 8});
  model.node("BatchNormalization", {"x", "scale", "shift", "mean", "var"}, {"h"});
  model.node("BatchNormalization", {"h", "scale", "shift", "mean", "own_var"}, {"y"});
  import(model);
  EXPECT_THAT(reals("the_h.mean"), ElementsAre(3, 4));
  EXPECT_THAT(reals("the_y.mean"), ElementsAre(3, 4));
  EXPECT_THAT(reals("var"), ElementsAre(5, 6));
  EXPECT_THAT(reals("own_var"), ElementsAre(7, 8));
}

// A mask that nodes compute, one that the file stores as truth values, and the classes of a OneHot.
TEST_F(OnnxWeightsTest, Constants) {
  ProtoModel model({1, 3});
  model.constant("a", {3}, {1, 2, 3});
  model.constant("b", {3}, {10, 20, 30});
  model.node("Mul", {"a", "b"}, {"table"});
  Proto& mask = model.integers("mask", {1, 0, 1});
  mask.set_data_type(Proto::BOOL);
  mask.clear_int64_data();
  for (const int bit : {1, 0, 1}) mask.add_int32_data(bit);
  model.node("Add", {"x", "table"}, {"h"});
  model.node("Where", {"mask", "h", "x"}, {"y"});
  import(model);
  EXPECT_THAT(reals("table"), ElementsAre(10, 40, 90));
  EXPECT_THAT(read<std::uint8_t>("mask").value(), ElementsAre(1, 0, 1));
}

TEST_F(OnnxWeightsTest, NumbersThatFillAWhereAndClassesOfAOneHot) {
  ProtoModel model({2, 3});
  model.integers("shape", {2, 3});
  ::onnx::AttributeProto& value = *model.node("ConstantOfShape", {"shape"}, {"low"}).add_attribute();
  value.set_name("value");
  value.set_type(::onnx::AttributeProto::TENSOR);
  *value.mutable_t() = ProtoModel::float_tensor({1}, {-10000});
  ProtoModel::set(model.node("ArgMax", {"x"}, {"best"}), "axis", 1);
  model.integers("depth", {3});
  model.graph().mutable_initializer(1)->clear_dims();
  model.floats("values", {2}, {0, 1});
  model.node("Squeeze", {"best", "axis"}, {"flat"});
  model.integers("axis", {1});
  model.node("OneHot", {"flat", "depth", "values"}, {"hot"});
  model.node("Cast", {"hot"}, {"is_best"});
  ProtoModel::set(*model.graph().mutable_node(4), "to", Proto::BOOL);
  model.node("Where", {"is_best", "x", "low"}, {"y"});
  import(model);
  EXPECT_THAT(reals("the_y.low"), ElementsAre(-10000));
  EXPECT_THAT(read<std::int32_t>("the_hot.classes").value(), ElementsAre(0, 1, 2));
}

TEST_F(OnnxWeightsTest, WeightsThatTheFileGoesWithout) {
  ProtoModel model({1, 3});
  model.floats("w", {3, 2}, {}).clear_raw_data();
  model.integers("shape", {2, 2});
  model.node("ConstantOfShape", {"shape"}, {"v"});
  model.node("MatMul", {"x", "w"}, {"h"});
  model.node("MatMul", {"h", "v"}, {"y"});
  import(model);
  EXPECT_FALSE(read<float>("w"));
  EXPECT_THAT(reals("v"), ElementsAre(0, 0, 0, 0));
}

// A LayerNormalization without a shift.
TEST_F(OnnxWeightsTest, ConstantsThatTheImportAdds) {
  ProtoModel model({2, 3});
  model.floats("scale", {3}, {1, 2, 3});
  model.node("LayerNormalization", {"x", "scale"}, {"y"});
  import(model);
  EXPECT_THAT(reals("scale"), ElementsAre(1, 2, 3));
  EXPECT_THAT(reals("the_y.bias"), ElementsAre(0, 0, 0));
}

TEST_F(OnnxWeightsTest, ContentsInAnotherFile) {
  folder_.write("data.bin", "12345678" + test::bytes_of<float>({1, 2, 3, 4, 5, 6}));
  ProtoModel model({1, 3});
  ProtoModel::keep_elsewhere(model.floats("w", {3, 2}, {}), "data.bin", "8", "24");
  model.node("MatMul", {"x", "w"}, {"y"});
  import(model);
  EXPECT_THAT(reals("w"), ElementsAre(1, 3, 5, 2, 4, 6));
}

}  // namespace
}  // namespace poet
