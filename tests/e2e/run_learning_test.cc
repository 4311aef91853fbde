// poet run learns: on its synthetic set, and on images in the files that people have.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <random>
#include <string>

#include "tests/support/program.h"
#include "tests/support/scratch_folder.h"
#include "tests/support/training.h"

namespace poet::test {
namespace {

using Json = nlohmann::ordered_json;
using ::testing::HasSubstr;

/// The mean of some losses: of the first tenth (0) to the last (9).
double mean_of_tenth(const Json& losses, std::size_t tenth) {
  const std::size_t size = losses.size() / 10;
  double sum = 0;
  for (std::size_t i = 0; i < size; ++i) sum += losses[tenth * size + i].get<double>();
  return sum / static_cast<double>(size);
}

/// Bars of one of ten orientations, anywhere, of any two colours, with noise on top: no pixel by itself tells
/// the class. As rows of red, green and blue planes of `side` x `side`.
class Bars {
 public:
  Bars(int side, int planes) : side_(side), planes_(planes) {}

  /// The pixels of an image of this class.
  std::string image(int label) {
    const double angle = 3.14159265358979 * label / 10;
    const double half = side_ / 2.0;
    const double shift = uniform(-half / 3, half / 3);
    std::string pixels;
    for (int plane = 0; plane < planes_; ++plane) {
      const double dark = uniform(0, 100);
      const double bright = uniform(150, 255);
      for (int y = 0; y < side_; ++y) {
        for (int x = 0; x < side_; ++x) {
          const double across = (x - half) * std::sin(angle) + (y - half) * std::cos(angle) - shift;
          const double ink = std::abs(across) < side_ / 10.0 ? bright : dark;
          pixels += static_cast<char>(std::clamp(ink + uniform(-30, 30), 0.0, 255.0));
        }
      }
    }
    return pixels;
  }

 private:
  double uniform(double low, double high) {
    // Not std::uniform_real_distribution, which each library makes differently.
    return low + (high - low) * static_cast<double>(random_()) / 4294967296.0;
  }

  int side_;
  int planes_;
  std::mt19937 random_{7};
};

TEST(RunLearning, TheSyntheticSetIsLearnt) {
  const Json losses = trained(kSmallCnn + kFastSearch +
                              "--optimizer momentum --ram-budget 3MB "
                              "--learning-rate 0.02 --samples 64 --steps 200")["losses"];
  ASSERT_EQ(losses.size(), 200U);
  EXPECT_LT(mean_of_tenth(losses, 9), 0.5 * mean_of_tenth(losses, 0));
}

TEST(RunLearning, BarsInCifarsFiles) {
  const ScratchFolder folder;
  Bars bars(32, 3);
  // As the original: several files, of which the one for tests must not be trained on. In there all labels
  // are wrong.
  for (int file = 1; file <= 2; ++file) {
    std::string rows;
    for (int i = 0; i < 500; ++i) rows += static_cast<char>(i % 10) + bars.image(i % 10);
    folder.write(fmt::format("data_batch_{}.bin", file), rows);
  }
  std::string wrong;
  for (int i = 0; i < 500; ++i) wrong += static_cast<char>(i % 10) + bars.image((i + 5) % 10);
  folder.write("test_batch.bin", wrong);
  const Json json = trained(
      "--model resnet14_cifar --platform a72 --batch-size 20 --ram-budget 24MB --optimizer adam --steps 140 "
      "--data " +
      folder.path().string() + kFastSearch);
  ASSERT_EQ(json["losses"].size(), 140U);
  EXPECT_EQ(json["data"], "CIFAR-10, 1,000 images of 3x32x32, 10 classes");
  EXPECT_GT(mean_of_tenth(json["losses"], 0), 1.0);  // chance: ln 10 = 2.3
  EXPECT_LT(mean_of_tenth(json["losses"], 9), 0.1);
}

TEST(RunLearning, BarsInMnistsFiles) {
  const ScratchFolder folder;
  Bars bars(28, 1);
  std::string images = big_endian(0x803) + big_endian(1000) + big_endian(28) + big_endian(28);
  std::string labels = big_endian(0x801) + big_endian(1000);
  for (int i = 0; i < 1000; ++i) {
    images += bars.image(i % 10);
    labels += static_cast<char>(i % 10);
  }
  folder.write("train-images-idx3-ubyte", images);
  folder.write("train-labels-idx1-ubyte", labels);
  const Json json = trained(
      "--model linear --platform a72 --batch-size 50 --ram-budget 2MB --optimizer adam "
      "--steps 1000 --data " +
      folder.path().string() + kFastSearch);
  ASSERT_EQ(json["losses"].size(), 1000U);
  EXPECT_THAT(json["data"].get<std::string>(), HasSubstr("MNIST, 1,000 images of 1x28x28, 10 classes"));
  EXPECT_LT(mean_of_tenth(json["losses"], 9), 0.5 * mean_of_tenth(json["losses"], 0));
}

}  // namespace
}  // namespace poet::test
