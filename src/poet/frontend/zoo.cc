#include "poet/frontend/zoo.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "poet/base/error.h"
#include "poet/base/nearest.h"
#include "poet/frontend/zoo/networks.h"

namespace poet {

const std::vector<ZooEntry>& zoo() {
  static const std::vector<ZooEntry> entries = {
      {"linear", "fully connected 784-10-120-100-200-10-10, ReLU after each layer; 28x28 images, 10 classes",
       networks::linear},
      {"vgg16", "VGG-16 without batch norm; 3x224x224 images, 1000 classes", networks::vgg16},
      {"vgg16_cifar", "VGG-16 without batch norm, head 512-4096-4096-10; 3x32x32 images, 10 classes",
       networks::vgg16_cifar},
      {"resnet14_cifar",
       "residual net of 14 layers: 3x3 stem, "
       "three stages of two basic blocks with 16, 32 and 64 channels (1x1 projections where they change), "
       "linear; 3x32x32 images, 10 classes",
       networks::resnet14_cifar},
      {"resnet18", "ResNet-18; 3x224x224 images, 1000 classes", networks::resnet18},
      {"resnet18_cifar", "ResNet-18 with a 3x3 stem of stride 1 and no max pool; 3x32x32 images, 10 classes",
       networks::resnet18_cifar},
      {"resnet50", "ResNet-50 v1.5 (stride in the 3x3 convolution); 3x224x224 images, 1000 classes",
       networks::resnet50},
      {"bert",
       "BERT-base, 12 layers, with embeddings, pooler and a classifier of 2 classes; "
       "up to 512 tokens, no padding",
       networks::bert},
      {"bert_tiny",
       "BERT-Tiny, 2 layers, 128 wide, with embeddings, pooler and a classifier of 2 classes; "
       "up to 512 tokens, no padding",
       networks::bert_tiny},
      {"transformer",
       "one BERT-base encoder block on (sequence, 768) vectors; "
       "a linear classifier of 2 classes on the first one gives the loss",
       networks::transformer},
  };
  return entries;
}

Graph build_network(const std::string& name, const ZooOptions& options) {
  std::vector<std::string> known;
  for (const ZooEntry& entry : zoo()) {
    if (same_name(entry.name, name)) return entry.build(options);
    known.push_back(entry.name);
  }
  throw InputError(Field{"model"}, fmt::format("unknown network \"{}\"{}{} the built-in networks are {}",
                                               name, did_you_mean(name, known),
                                               nearest(name, known) ? "" : ";", fmt::join(known, ", ")));
}

}  // namespace poet
