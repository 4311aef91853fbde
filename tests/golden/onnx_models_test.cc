// Real networks as exporters write them: parameters and multiply-accumulates as published.

#include <gtest/gtest.h>

#include "poet/autodiff/differentiate.h"
#include "poet/compile.h"
#include "poet/cost/device.h"
#include "poet/cost/tabulate.h"
#include "poet/frontend/onnx/import.h"
#include "poet/verify/replay.h"
#include "tests/support/paths.h"

namespace poet {
namespace {

struct KnownModel {
  const char* file;
  std::int64_t parameters;
  std::int64_t macs;
};

class OnnxModels : public ::testing::TestWithParam<KnownModel> {
 protected:
  void SetUp() override {
    file_ = test::shared() / "models" / GetParam().file;
    if (!std::filesystem::exists(file_)) GTEST_SKIP() << file_ << " is absent";
  }
  std::filesystem::path file_;
};

TEST_P(OnnxModels, HasItsPublishedSize) {
  const ImportedModel model = import_onnx(file_);
  EXPECT_EQ(parameter_count(model.forward), GetParam().parameters);
  EXPECT_NEAR(static_cast<double>(forward_macs(model.forward)), static_cast<double>(GetParam().macs),
              0.001 * static_cast<double>(GetParam().macs));
}

TEST_P(OnnxModels, TrainsOnADevice) {
  const Graph training = differentiate(import_onnx(file_).forward);
  Instance instance;
  instance.costs = tabulate(training, find_device("a72"));
  instance.graph = training;
  instance.has_device = true;
  const Report report = replay_keep_all(instance, Semantics::device);
  EXPECT_GT(report.energy, Joules(0));
  EXPECT_GT(report.peak_ram, Bytes(0));
}

std::string model_name(const ::testing::TestParamInfo<KnownModel>& info) {
  const std::string file = info.param.file;
  return file.substr(0, file.find('.'));
}

INSTANTIATE_TEST_SUITE_P(
    Files, OnnxModels,
    ::testing::Values(
        // torchvision: 3,504,872 parameters, 0.30 GMAC.
        KnownModel{"mobilenet_v2.onnx", 3504872, 300774272},
        // Caffe's AlexNet with two groups: 60,965,224 parameters, 655 MMAC without padding in the first
        // layer.
        KnownModel{"light_bvlc_alexnet.onnx", 60965224, 654560384},
        // torchvision: 25,557,032 parameters, 4.09 GMAC.
        KnownModel{"light_resnet50.onnx", 25557032, 4089184256},
        // SqueezeNet 1.1: 1,235,496 parameters, 0.35 GMAC.
        KnownModel{"light_squeezenet.onnx", 1235496, 349151936},
        // torchvision: 143,667,240 parameters, 19.63 GMAC.
        KnownModel{"light_vgg19.onnx", 143667240, 19632062464},
        // Four encoder layers of width 256 and feed-forward width 1024: 3000*256 for the embedding; per layer
        // 256*768+768 + 256*256+256 + 2*(256*1024) + 1024+256 + 4*256 = 789,760; 256*2+2 for the classifier.
        // MACs: 4 * (128 * (256*768 + 256*256 + 2*256*1024) + 2 * 128*128*256) + 512.
        KnownModel{"bert_small.onnx", 3927554, 436208128}),
    model_name);

}  // namespace
}  // namespace poet
