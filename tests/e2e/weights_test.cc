// Weights between ONNX files and safetensors, without training, and what is refused.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "poet/frontend/zoo.h"
#include "poet/runtime/weights/safetensors.h"
#include "tests/support/paths.h"
#include "tests/support/program.h"

namespace poet::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

/// Of a network with batch normalisation, trained for two steps.
class Weights : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = new TemporaryFolder;
    const ProgramRun run =
        poet("run --model resnet14_cifar --platform a72 --ram-budget 1GB --steps 2 --quiet --checkpoint " +
             path("trained.safetensors") + " --onnx-out " + path("trained.onnx"));
    ASSERT_EQ(run.exit_code, 0) << run.err;
  }
  static void TearDownTestSuite() { delete folder_; }

  static std::string path(const std::string& name) { return folder_->file(name); }

  /// Contents of the network's persistent values, by name.
  static std::map<std::string, std::vector<std::byte>> contents(const std::string& name) {
    const runtime::SafetensorsFile file(path(name));
    std::map<std::string, std::vector<std::byte>> all;
    for (const Value& value : build_network("resnet14_cifar").values) {
      if (!is_persistent(value.persistence) || value.alias_of.valid()) continue;
      std::vector<std::byte>& bytes = all[value.name];
      bytes.resize(static_cast<std::size_t>(value.bytes.value()));
      file.read(value, bytes.data());
    }
    return all;
  }
  static std::string bytes_of(const std::string& name) {
    std::ifstream file(path(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  static std::string refused(const std::string& arguments) {
    const ProgramRun run = poet("weights " + arguments);
    EXPECT_EQ(run.exit_code, 2) << arguments;
    return run.err;
  }

  static TemporaryFolder* folder_;
};

TemporaryFolder* Weights::folder_ = nullptr;

TEST_F(Weights, OfAnOnnxFileAreTheCheckpoints) {
  const auto json =
      poet("weights " + path("trained.onnx") + " -o " + path("out.safetensors") + " --json").json();
  const auto trained = contents("trained.safetensors");
  EXPECT_EQ(json["tensors"], trained.size());
  EXPECT_EQ(contents("out.safetensors"), trained);
  EXPECT_EQ(runtime::SafetensorsFile(path("out.safetensors")).metadata(),
            (std::map<std::string, std::string>{{"poet.format", "2"}}));
}

TEST_F(Weights, GoIntoAnOnnxFileAndABuiltInNetwork) {
  const ProgramRun into = poet("weights " + path("trained.safetensors") + " --onnx " + path("trained.onnx") +
                               " -o " + path("into.onnx"));
  EXPECT_EQ(into.exit_code, 0) << into.err;
  EXPECT_EQ(bytes_of("into.onnx"), bytes_of("trained.onnx"));
  const ProgramRun made =
      poet("weights " + path("trained.safetensors") + " --model resnet14_cifar -o " + path("made.onnx"));
  EXPECT_EQ(made.exit_code, 0) << made.err;
  EXPECT_EQ(bytes_of("made.onnx"), bytes_of("trained.onnx"));
}

TEST_F(Weights, OfOtherNumbersReplaceThoseOfTheFile) {
  const ProgramRun other = poet(
      "run --model resnet14_cifar --platform a72 --ram-budget 1GB --steps 1 --seed 9 --quiet --checkpoint " +
      path("other.safetensors"));
  ASSERT_EQ(other.exit_code, 0) << other.err;
  EXPECT_EQ(poet("weights " + path("other.safetensors") + " --onnx " + path("trained.onnx") + " -o " +
                 path("other.onnx"))
                .exit_code,
            0);
  EXPECT_EQ(poet("weights " + path("other.onnx") + " -o " + path("back.safetensors")).exit_code, 0);
  EXPECT_NE(contents("other.safetensors"), contents("trained.safetensors"));
  EXPECT_EQ(contents("back.safetensors"), contents("other.safetensors"));
}

TEST_F(Weights, ThatDoNotFitAreRefusedAndNothingIsWritten) {
  const std::string trained = path("trained.safetensors");
  const std::string onnx = path("trained.onnx");
  const std::string out = path("never.onnx");
  EXPECT_THAT(refused(trained + " --model linear -o " + out), HasSubstr("has no tensor \"fc1.weight\""));
  EXPECT_FALSE(std::filesystem::exists(out));
  EXPECT_THAT(refused(trained + " -o " + out), HasSubstr("--onnx: is needed, or --model"));
  EXPECT_THAT(refused(trained), HasSubstr("-o: is needed"));
  EXPECT_THAT(refused(trained + " --model nobody -o " + out), HasSubstr("nobody"));
  EXPECT_THAT(refused(onnx + " -o " + out), HasSubstr("go into a .safetensors file"));
  EXPECT_THAT(refused(trained + " -o " + path("never.safetensors")), HasSubstr("go into an .onnx file"));
  // What is wrong with what is read comes first.
  for (const std::string& wrong : {program().string(), path(""), path("none")})
    EXPECT_THAT(refused(wrong + " -o " + path("never.safetensors")),
                AllOf(StartsWith("poet: " + wrong + ": "),
                      HasSubstr("(weights come from safetensors, or from a file called .onnx)")));
  EXPECT_THAT(refused(onnx + " --model linear -o " + path("never.safetensors")),
              HasSubstr("--model: is what safetensors go into"));
  EXPECT_THAT(refused(onnx + " -o " + path("never.bin")), HasSubstr("must end in .safetensors or .onnx"));
  EXPECT_THAT(refused(path("none.onnx") + " -o " + path("never.safetensors")), HasSubstr("none.onnx"));
  EXPECT_FALSE(std::filesystem::exists(path("never.safetensors")));
}

}  // namespace
}  // namespace poet::test
