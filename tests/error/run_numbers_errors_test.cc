// Numbers that poet run cannot train by, in data, targets, weights and checkpoints: the place and the rule,
// and no other cause.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "poet/runtime/weights/safetensors.h"
#include "tests/support/background.h"
#include "tests/support/scratch_folder.h"
#include "tests/support/training.h"

namespace poet::test {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

template <class T>
std::string bytes_of(const std::vector<T>& numbers) {
  return {reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(T)};
}

class RunNumbersErrors : public ::testing::Test {
 protected:
  /// `linear`'s data: four samples of 784 numbers, of which number `place` is another one.
  std::string data(const std::string& name, std::size_t place, float number) const {
    std::vector<float> input(std::size_t{4} * 784, 0.5F);
    input.at(place) = number;
    return folder(name, bytes_of(input), bytes_of(std::vector<std::int32_t>{1, 2, 3, 4}));
  }
  std::string folder(const std::string& name, const std::string& input, const std::string& targets) const {
    std::filesystem::create_directory(folder_.path() / name);
    folder_.write(name + "/input.bin", input);
    folder_.write(name + "/targets.bin", targets);
    return file(name);
  }
  [[nodiscard]] std::string file(const std::string& name) const { return (folder_.path() / name).string(); }

  /// Of the last layer's bias alone.
  std::string weights_of(const std::vector<float>& bias) const {
    runtime::write_safetensors(
        file("w"), {{"fc5.bias", DType::float32, {10}, reinterpret_cast<const std::byte*>(bias.data())}}, {});
    return file("w");
  }

  static std::string refused(const std::string& options) {
    const ProgramRun run = poet("run --quiet " + options);
    EXPECT_EQ(run.exit_code, 2) << run.out;
    EXPECT_EQ(run.out, "");
    EXPECT_EQ(std::count(run.err.begin(), run.err.end(), '\n'), 1) << run.err;
    return run.err;
  }

  const ScratchFolder folder_;
};

TEST_F(RunNumbersErrors, DataThatAreNotFiniteAreNamed) {
  const std::string options = kPairs + "--steps 9 --data " + data("d", std::size_t{3} * 784 + 7, kNan);
  const ProgramRun run = poet("run --quiet " + options);
  EXPECT_EQ(run.exit_code, 1) << run.err;
  EXPECT_THAT(run.out, AllOf(HasSubstr("the loss is nan: 'input' has nan at sample 3"),
                             Not(HasSubstr("learning-rate"))));
  EXPECT_EQ(poet("run --quiet --json " + options).json()["cause"], "'input' has nan at sample 3");
}

TEST_F(RunNumbersErrors, LossesThatAreNoNumberFromTheFirstStepOn) {
  train(kPairs + "--steps 1 --onnx-out " + file("n.onnx"));
  const std::string large = folder("d", bytes_of(std::vector<float>(std::size_t{2} * 784, 0.5F)),
                                   bytes_of(std::vector<float>(20, 3e38F)));
  const ProgramRun run = poet("run --quiet --onnx " + file("n.onnx") +
                              " --platform a72 --batch-size 2 --loss mse --data " + large);
  EXPECT_EQ(run.exit_code, 1) << run.err;
  EXPECT_THAT(run.out, AllOf(HasSubstr("at step 1 the loss is inf, before any update"),
                             Not(HasSubstr("learning-rate")), ContainsRegex("Loss +inf\n")));
}

TEST_F(RunNumbersErrors, WeightsThatAreNotFinite) {
  std::vector<float> bias(10, 0.0F);
  bias[3] = -std::numeric_limits<float>::infinity();
  const std::string weights = weights_of(bias);
  EXPECT_EQ(refused(kPairs + "--weights " + weights),
            "poet: " + weights + ": 'fc5.bias' has -inf; training begins with finite numbers\n");

  // In an ONNX file that has one in place of another.
  const std::string onnx = file("w.onnx");
  bias[3] = 1e4F;
  train(kPairs + "--learning-rate 1e-30 --weights " + weights_of(bias) + " --steps 1 --onnx-out " + onnx);
  std::string bytes = file_text(onnx);
  const std::size_t place = bytes.find(bytes_of(std::vector<float>{1e4F}));
  ASSERT_NE(place, std::string::npos);
  bytes.replace(place, sizeof(kNan), bytes_of(std::vector<float>{kNan}));
  folder_.write("w.onnx", bytes);
  const std::string rule = "poet: " + onnx + ": 'fc5.bias' has nan; training begins with finite numbers\n";
  EXPECT_EQ(refused(kPairs + "--weights " + onnx), rule);
  EXPECT_EQ(refused("--onnx " + onnx + " --platform a72 --batch-size 2"), rule);
}

TEST_F(RunNumbersErrors, TargetsOfABinaryCrossEntropy) {
  train(kPairs + "--steps 1 --onnx-out " + file("n.onnx"));
  const std::string input = bytes_of(std::vector<float>(std::size_t{2} * 784, 0.5F));
  const std::string options = "--onnx " + file("n.onnx") + " --platform a72 --batch-size 2 --steps 2 --data ";
  const std::string kLoss = " --loss bce-with-logits";
  std::vector<float> targets(20, 1.0F);
  train(options + folder("good", input, bytes_of(targets)) + kLoss);
  targets[13] = 7;
  EXPECT_EQ(
      refused(options + folder("high", input, bytes_of(targets)) + kLoss),
      "poet: " + file("high/targets.bin") + ": has 7 at sample 1; the network takes 0 to 1 as 'targets'\n");
  train(options + file("high") + " --loss mse");
  targets[13] = kNan;
  const std::string nan = folder("nan", input, bytes_of(targets));
  EXPECT_THAT(refused(options + nan + kLoss), HasSubstr("has nan at sample 1; the network takes 0 to 1"));
  EXPECT_THAT(refused(options + nan + " --loss mse"),
              HasSubstr("has nan at sample 1; the network takes finite"));
  const std::string integers = folder("int", input, bytes_of(std::vector<std::int32_t>(20, 1)));
  EXPECT_THAT(refused(options + integers + kLoss), HasSubstr("has the int32 1 at sample 0"));
}

TEST_F(RunNumbersErrors, AValidationThatIsNoNumber) {
  const std::string wrong = data("v", 0, kNan);
  const ProgramRun run = poet("run --quiet " + kPairs + "--steps 20 --validate " + wrong +
                              " --validate-every 2 --stop-after 2 --best " + file("best"));
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.out, AllOf(HasSubstr("loss nan"), ContainsRegex("'input' has\\s+nan at sample 0"),
                             HasSubstr("after step 4: the loss of no validation was a finite number"),
                             HasSubstr("best was not written"), Not(HasSubstr("step -1"))));
  EXPECT_FALSE(std::filesystem::exists(file("best")));
}

TEST_F(RunNumbersErrors, AnUpdateUnderWayIsGoneOnWith) {
  const auto accumulate = [](int steps) { return fmt::format("--accumulate {} ", steps); };
  train(kPairs + accumulate(3) + "--steps 5 --checkpoint " + file("c"));
  const std::string resume = kPairs + "--steps 6 --resume " + file("c") + " ";
  const std::string rule = "poet: " + file("c") +
                           ": is in the middle of an update of 3 micro-batches (2 of 3 done); resume with "
                           "--accumulate 3\n";
  EXPECT_EQ(refused(resume + accumulate(2)), rule);
  EXPECT_EQ(refused(resume), rule);
  const auto plan = file("p");
  ASSERT_EQ(poet("solve " + kPairs + accumulate(2) + "--quiet --plan-out " + plan).exit_code, 0);
  EXPECT_EQ(refused(plan + " --steps 6 --resume " + file("c")), rule);
  train(resume + accumulate(3) + "--checkpoint " + file("d"));
  // Between two updates any number will do.
  train(kPairs + accumulate(2) + "--steps 8 --resume " + file("d"));
  train(kPairs + "--steps 8 --resume " + file("d"));
  const auto notices = trained(kPairs + accumulate(4) + "--steps 8 --resume " + file("d"))["notices"];
  EXPECT_THAT(notices.dump(), HasSubstr("the first update is by 2 of 4 gradients"));
}

}  // namespace
}  // namespace poet::test
