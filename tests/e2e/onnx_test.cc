// ONNX files through the program: inspected, made into an instance, solved.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/support/paths.h"
#include "tests/support/program.h"

namespace poet::test {
namespace {

using ::testing::HasSubstr;

class Onnx : public ::testing::Test {
 protected:
  void SetUp() override {
    file_ = (shared() / "models" / "light_squeezenet.onnx").string();
    if (!std::filesystem::exists(file_)) GTEST_SKIP() << file_ << " is absent";
  }
  std::string file_;
};

TEST_F(Onnx, ImportShowsOperatorsAndNotices) {
  const ProgramRun text = poet("import " + file_);
  EXPECT_EQ(text.exit_code, 0) << text.err;
  EXPECT_THAT(text.out, HasSubstr("conv2d                  26   1,235,496"));
  EXPECT_THAT(text.out,
              HasSubstr("Nodes in the file 105: 39 evaluated while importing, 1 not needed for the loss.\n"));
  EXPECT_THAT(text.out, HasSubstr("Note: the final Softmax was taken off"));
  const nlohmann::ordered_json json = poet("import --batch-size 2 --json " + file_).json();
  EXPECT_EQ(json["batch_size"], 2);
  EXPECT_EQ(json["total"]["parameters"], 1235496);
  EXPECT_EQ(json["total"]["forward_macs"], 2 * 349151936);
}

TEST_F(Onnx, ImportListsEveryOperator) {
  const ProgramRun text = poet("import --operators " + file_);
  EXPECT_EQ(text.exit_code, 0) << text.err;
  EXPECT_THAT(text.out, ::testing::ContainsRegex("conv2d  +n62  +1x512x13x13 +1000x512x1x1 1000 "
                                                 "+1x1000x13x13"));
  const nlohmann::ordered_json json = poet("import --json " + file_).json();
  std::int64_t parameters = 0;
  for (const auto& op : json["operators"]) parameters += op["parameters"].get<std::int64_t>();
  EXPECT_EQ(parameters, 1235496);
  EXPECT_EQ(json["operators"].size(), json["total"]["ops"].get<std::size_t>());
}

TEST_F(Onnx, ImportListsTheNamesThatTrainableMatches) {
  const ProgramRun text = poet("import --parameters " + file_);
  EXPECT_EQ(text.exit_code, 0) << text.err;
  EXPECT_THAT(text.out, ::testing::ContainsRegex("conv10_w_0 +1000x512x1x1 +512,000 +trains"));
  const nlohmann::ordered_json json = poet("import --json " + file_).json();
  EXPECT_EQ(json["parameters"].size(), 52U);  // filters and bias of 26 convolutions
  EXPECT_EQ(json["parameters"][0]["trains"], true);
}

TEST_F(Onnx, SolvesLikeTheInstanceMadeOfIt) {
  const TemporaryFolder folder;
  const std::string instance = folder.file("s.json");
  EXPECT_EQ(poet("import --platform a72 -o " + instance + " " + file_).exit_code, 0);
  const std::string rest = " --ram-budget 19MB --split off --quiet --json";
  const ProgramRun direct = poet("solve --onnx " + file_ + " --platform a72" + rest);
  const ProgramRun by_file = poet("solve --instance " + instance + " --ram-budget 19MB --quiet --json");
  ASSERT_EQ(direct.exit_code, 0) << direct.err;
  ASSERT_EQ(by_file.exit_code, 0) << by_file.err;
  EXPECT_EQ(direct.json()["energy_joules"], by_file.json()["energy_joules"]);
  EXPECT_EQ(direct.json()["model"], "light_squeezenet");
  EXPECT_FALSE(direct.json()["import_notices"].empty());
}

TEST_F(Onnx, PartsCanTrain) {
  const ProgramRun run =
      poet("solve --onnx " + file_ + " --platform a72 --ram-budget 60MB --quiet --json --trainable conv10_*");
  EXPECT_EQ(run.exit_code, 0) << run.err;
}

}  // namespace
}  // namespace poet::test
