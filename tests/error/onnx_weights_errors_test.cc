// Files whose numbers are not what they say.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "poet/frontend/onnx/weights.h"
#include "tests/support/graph_text.h"
#include "tests/support/input_error.h"
#include "tests/support/proto_model.h"
#include "tests/support/scratch_folder.h"

namespace poet {
namespace {

using test::ProtoModel;
using ::testing::AllOf;
using ::testing::HasSubstr;

class OnnxWeightsErrors : public ::testing::Test {
 protected:
  /// x w, the weight of which lies elsewhere.
  static ProtoModel external(const std::string& location, const std::string& offset = "",
                             const std::string& length = "") {
    ProtoModel model({1, 3});
    ProtoModel::keep_elsewhere(model.floats("w", {3, 2}, {}), location, offset, length);
    model.node("MatMul", {"x", "w"}, {"y"});
    return model;
  }

  /// Of reading "w" out of a file that is `model` when it is imported and `later` when it is read.
  std::string message(const ProtoModel& model, const ProtoModel& later) {
    const auto file = folder_.write("net.onnx", model.bytes());
    const ImportedModel imported = import_onnx(file);
    folder_.write("net.onnx", later.bytes());
    const Value& w = imported.forward.values[test::find_value(imported.forward, "w")];
    std::vector<std::byte> to(static_cast<std::size_t>(w.bytes.value()));
    return test::input_error([&] { (void)OnnxWeights(file, imported).read(w, to.data()); });
  }
  std::string message(const ProtoModel& model) { return message(model, model); }

  test::ScratchFolder folder_;
};

TEST_F(OnnxWeightsErrors, OutsideOfTheFolder) {
  for (const char* location : {"../data.bin", "/etc/passwd", "a/../../b", ""}) {
    EXPECT_THAT(message(external(location)), AllOf(HasSubstr("net.onnx: tensor 'w': external data: '"),
                                                   HasSubstr("is not in the model's folder")));
  }
}

TEST_F(OnnxWeightsErrors, LinksToWhateverIsThere) {
  std::filesystem::create_directory(folder_.path() / "outside");
  folder_.write("outside/secret", std::string(24, 's'));
  std::filesystem::create_symlink(folder_.path() / "outside" / "secret", folder_.path() / "data.bin");
  std::filesystem::create_directory_symlink("outside", folder_.path() / "sub");
  for (const char* location : {"data.bin", "sub/secret"})
    EXPECT_THAT(message(external(location)),
                AllOf(HasSubstr("net.onnx: tensor 'w': external data: '" + std::string(location) + "' is"),
                      HasSubstr("a symbolic link, which is not followed")));
  ASSERT_EQ(mkfifo((folder_.path() / "pipe").c_str(), 0600), 0);
  EXPECT_THAT(message(external("pipe")), HasSubstr("pipe is no regular file")) << "and does not wait for it";
}

TEST_F(OnnxWeightsErrors, OtherFilesThatAreTooShortOrAbsent) {
  EXPECT_THAT(message(external("none.bin")), HasSubstr("none.bin: No such file"));
  folder_.write("data.bin", std::string(24, '\0'));
  EXPECT_THAT(message(external("data.bin", "1")),
              HasSubstr("has 24 bytes, but the elements are 24 from 1 on"));
  EXPECT_THAT(message(external("data.bin", "9223372036854775807")), HasSubstr("has 24 bytes"));
  EXPECT_THAT(message(external("data.bin", "-8")), HasSubstr("the offset '-8' is no number of bytes"));
  EXPECT_THAT(message(external("data.bin", "0", "8x")), HasSubstr("the length '8x' is no number of bytes"));
  EXPECT_THAT(message(external("data.bin", "0", "20")), HasSubstr("has 20 bytes, but its elements are 24"));
}

TEST_F(OnnxWeightsErrors, AnotherFileThanTheImportedOne) {
  ProtoModel model({1, 3});
  model.floats("w", {3, 2}, {1, 2, 3, 4, 5, 6});
  model.node("MatMul", {"x", "w"}, {"y"});
  ProtoModel other = model;
  *other.graph().mutable_initializer(0) = ProtoModel::float_tensor({3, 3}, std::vector<float>(9));
  other.graph().mutable_initializer(0)->set_name("w");
  EXPECT_THAT(message(model, other), HasSubstr("tensor 'w': has 9 elements, but the network takes 6"));
  other.graph().mutable_initializer(0)->mutable_raw_data()->pop_back();
  EXPECT_THAT(message(model, other), HasSubstr("has 35 bytes, but its elements are 36"));
  ProtoModel cycle({1, 3});
  cycle.node("Identity", {"v"}, {"w"});
  cycle.node("Identity", {"w"}, {"v"});
  const auto file = folder_.write("net.onnx", model.bytes());
  const ImportedModel imported = import_onnx(file);
  folder_.write("net.onnx", cycle.bytes());
  const Value& w = imported.forward.values[test::find_value(imported.forward, "w")];
  EXPECT_FALSE(OnnxWeights(file, imported).read(w, nullptr));
}

TEST_F(OnnxWeightsErrors, NoFile) {
  EXPECT_THAT(test::input_error([] { (void)OnnxWeights("/no/such.onnx", {}); }),
              HasSubstr("/no/such.onnx: is no readable file"));
}

}  // namespace
}  // namespace poet
