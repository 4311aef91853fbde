// Damaged ONNX files: one line of complaint or a sound graph, never anything else.

#include <gtest/gtest.h>

#include <fstream>
#include <random>
#include <sstream>

#include "poet/base/error.h"
#include "poet/frontend/onnx/import.h"
#include "poet/frontend/onnx/read_model.h"
#include "tests/support/paths.h"

namespace poet {
namespace {

/// True when the bytes were refused in one line; anything but InputError ends the test.
bool refused(const std::string& bytes) {
  try {
    verify(import_model(onnx::parse_model(bytes, "m.onnx")).forward);
    return false;
  } catch (const InputError& error) {
    EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos) << error.what();
    return true;
  }
}

class OnnxFiles : public ::testing::TestWithParam<const char*> {};

TEST_P(OnnxFiles, DamagedBytes) {
  const std::filesystem::path file = test::shared() / "models" / GetParam();
  if (!std::filesystem::exists(file)) GTEST_SKIP() << file << " is absent";
  std::ostringstream whole;
  whole << std::ifstream(file, std::ios::binary).rdbuf();
  const std::string bytes = whole.str();
  ASSERT_FALSE(refused(bytes));
  std::mt19937_64 random(1);
  int complaints = 0;
  for (int round = 0; round < 2000; ++round) {
    std::string damaged = bytes;
    const std::uint64_t flips = 1 + random() % 4;
    for (std::uint64_t i = 0; i < flips; ++i)
      damaged[random() % damaged.size()] = static_cast<char>(random());
    if (round % 5 == 0) damaged.resize(random() % damaged.size());
    complaints += refused(damaged) ? 1 : 0;
  }
  EXPECT_GT(complaints, 300) << "every fifth file is cut off";
}

INSTANTIATE_TEST_SUITE_P(Shared, OnnxFiles,
                         ::testing::Values("bert_small.onnx", "light_bvlc_alexnet.onnx",
                                           "light_resnet50.onnx", "light_squeezenet.onnx", "light_vgg19.onnx",
                                           "mobilenet_v2.onnx"));

}  // namespace
}  // namespace poet
