// VGG-16, configuration D without batch norm ("Very Deep Convolutional Networks", arXiv 1409.1556), with
// torchvision's parameter names.

#include <fmt/format.h>

#include <vector>

#include "poet/frontend/zoo/networks.h"
#include "poet/graph/nn.h"

namespace poet::networks {

namespace {

// 13 convolutions in five groups, each followed by a 2x2 max pool. `features.N` counts convolutions, ReLUs
// and pools.
ValueId vgg16_features(GraphBuilder& g, ValueId x) {
  const std::vector<std::vector<std::int64_t>> groups = {
      {64, 64}, {128, 128}, {256, 256, 256}, {512, 512, 512}, {512, 512, 512}};
  int index = 0;
  for (const auto& group : groups) {
    for (const std::int64_t channels : group) {
      x = nn::conv2d(g, fmt::format("features.{}", index++), x,
                     {.out_channels = channels, .kernel = {3, 3}, .padding = {1, 1}, .bias = true});
      x = nn::relu(g, fmt::format("features.{}", index++), x);
    }
    x = nn::max_pool2d(g, fmt::format("features.{}", index++), x, {.kernel = {2, 2}, .stride = {2, 2}});
  }
  return x;
}

Graph vgg16_at(const char* name, const ZooOptions& options, std::int64_t image, std::int64_t classes) {
  const std::int64_t batch = fixed_size_batch(options);
  GraphBuilder g(name);
  ValueId x = g.input("input", {batch, 3, image, image});
  x = vgg16_features(g, x);
  // torchvision pools to 7x7 here, which changes nothing on 224x224 images.
  x = nn::flatten(g, "flatten", x);
  x = nn::linear(g, "classifier.0", x, 4096);
  x = nn::relu(g, "classifier.1", x);
  x = nn::dropout(g, "classifier.2", x, 0.5);
  x = nn::linear(g, "classifier.3", x, 4096);
  x = nn::relu(g, "classifier.4", x);
  x = nn::dropout(g, "classifier.5", x, 0.5);
  x = nn::linear(g, "classifier.6", x, classes);
  cross_entropy_loss(g, x, batch);
  return g.finish();
}

}  // namespace

Graph vgg16(const ZooOptions& options) { return vgg16_at("vgg16", options, 224, 1000); }

Graph vgg16_cifar(const ZooOptions& options) { return vgg16_at("vgg16_cifar", options, 32, 10); }

}  // namespace poet::networks
