// Residual networks ("Deep Residual Learning for Image Recognition", arXiv 1512.03385), with torchvision's
// parameter names. Every convolution is without bias, since batch norm follows it.

#include <fmt/format.h>

#include <string>
#include <vector>

#include "poet/frontend/zoo/networks.h"
#include "poet/graph/nn.h"

namespace poet::networks {

namespace {

struct Stage {
  std::int64_t blocks;
  std::int64_t channels;  // inside the block; a bottleneck's output has four times as many
};

ValueId conv_bn(GraphBuilder& g, const std::string& conv, const std::string& bn, ValueId x,
                std::int64_t channels, std::int64_t kernel, std::int64_t stride) {
  x = nn::conv2d(g, conv, x,
                 {.out_channels = channels,
                  .kernel = {kernel, kernel},
                  .stride = {stride, stride},
                  .padding = {kernel / 2, kernel / 2}});
  return nn::batch_norm(g, bn, x);
}

// The skip connection: x itself, or a 1x1 projection where the shape changes.
ValueId shortcut(GraphBuilder& g, const std::string& block, ValueId x, std::int64_t channels,
                 std::int64_t stride) {
  if (stride == 1 && g.shape(x)[1] == channels) return x;
  return conv_bn(g, block + ".downsample.0", block + ".downsample.1", x, channels, 1, stride);
}

ValueId basic_block(GraphBuilder& g, const std::string& name, ValueId x, std::int64_t channels,
                    std::int64_t stride) {
  ValueId y = conv_bn(g, name + ".conv1", name + ".bn1", x, channels, 3, stride);
  y = nn::relu(g, name + ".relu1", y);
  y = conv_bn(g, name + ".conv2", name + ".bn2", y, channels, 3, 1);
  const ValueId skip = shortcut(g, name, x, channels, stride);
  y = nn::add(g, name + ".add", y, skip);
  return nn::relu(g, name + ".relu2", y);
}

// v1.5: the stride is in the 3x3 convolution, not in the first 1x1.
ValueId bottleneck(GraphBuilder& g, const std::string& name, ValueId x, std::int64_t channels,
                   std::int64_t stride) {
  const std::int64_t wide = 4 * channels;
  ValueId y = conv_bn(g, name + ".conv1", name + ".bn1", x, channels, 1, 1);
  y = nn::relu(g, name + ".relu1", y);
  y = conv_bn(g, name + ".conv2", name + ".bn2", y, channels, 3, stride);
  y = nn::relu(g, name + ".relu2", y);
  y = conv_bn(g, name + ".conv3", name + ".bn3", y, wide, 1, 1);
  const ValueId skip = shortcut(g, name, x, wide, stride);
  y = nn::add(g, name + ".add", y, skip);
  return nn::relu(g, name + ".relu3", y);
}

using Block = ValueId (*)(GraphBuilder&, const std::string&, ValueId, std::int64_t, std::int64_t);

// Every stage but the first halves height and width in its first block.
ValueId stages(GraphBuilder& g, ValueId x, Block block, const std::vector<Stage>& list) {
  for (std::size_t s = 0; s < list.size(); ++s) {
    for (std::int64_t b = 0; b < list[s].blocks; ++b) {
      const std::int64_t stride = s > 0 && b == 0 ? 2 : 1;
      x = block(g, fmt::format("layer{}.{}", s + 1, b), x, list[s].channels, stride);
    }
  }
  return x;
}

Graph head(GraphBuilder& g, ValueId x, std::int64_t classes, std::int64_t batch) {
  x = nn::global_avg_pool(g, "avgpool", x);
  x = nn::flatten(g, "flatten", x);
  x = nn::linear(g, "fc", x, classes);
  cross_entropy_loss(g, x, batch);
  return g.finish();
}

// 7x7 convolution of stride 2 and a 3x3 max pool of stride 2: 224 -> 112 -> 56.
ValueId imagenet_stem(GraphBuilder& g, std::int64_t batch) {
  ValueId x = g.input("input", {batch, 3, 224, 224});
  x = conv_bn(g, "conv1", "bn1", x, 64, 7, 2);
  x = nn::relu(g, "relu", x);
  return nn::max_pool2d(g, "maxpool", x, {.kernel = {3, 3}, .stride = {2, 2}, .padding = {1, 1}});
}

ValueId cifar_stem(GraphBuilder& g, std::int64_t batch, std::int64_t channels) {
  ValueId x = g.input("input", {batch, 3, 32, 32});
  x = conv_bn(g, "conv1", "bn1", x, channels, 3, 1);
  return nn::relu(g, "relu", x);
}

}  // namespace

Graph resnet18(const ZooOptions& options) {
  const std::int64_t batch = fixed_size_batch(options);
  GraphBuilder g("resnet18");
  const ValueId x = stages(g, imagenet_stem(g, batch), basic_block, {{2, 64}, {2, 128}, {2, 256}, {2, 512}});
  return head(g, x, 1000, batch);
}

Graph resnet50(const ZooOptions& options) {
  const std::int64_t batch = fixed_size_batch(options);
  GraphBuilder g("resnet50");
  const ValueId x = stages(g, imagenet_stem(g, batch), bottleneck, {{3, 64}, {4, 128}, {6, 256}, {3, 512}});
  return head(g, x, 1000, batch);
}

Graph resnet18_cifar(const ZooOptions& options) {
  const std::int64_t batch = fixed_size_batch(options);
  GraphBuilder g("resnet18_cifar");
  const ValueId x = stages(g, cifar_stem(g, batch, 64), basic_block, {{2, 64}, {2, 128}, {2, 256}, {2, 512}});
  return head(g, x, 10, batch);
}

// The network that POET's reference implementation calls resnet18_cifar, with corrected residual connections.
Graph resnet14_cifar(const ZooOptions& options) {
  const std::int64_t batch = fixed_size_batch(options);
  GraphBuilder g("resnet14_cifar");
  const ValueId x = stages(g, cifar_stem(g, batch, 16), basic_block, {{2, 16}, {2, 32}, {2, 64}});
  return head(g, x, 10, batch);
}

}  // namespace poet::networks
