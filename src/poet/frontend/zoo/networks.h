#pragma once

// The builders behind zoo(), one function per network, and what they share. Private to poet/frontend.

#include <cstdint>

#include "poet/frontend/zoo.h"
#include "poet/graph/builder.h"
#include "poet/graph/graph.h"

namespace poet::networks {

[[nodiscard]] Graph linear(const ZooOptions& options);
[[nodiscard]] Graph vgg16(const ZooOptions& options);
[[nodiscard]] Graph vgg16_cifar(const ZooOptions& options);
[[nodiscard]] Graph resnet14_cifar(const ZooOptions& options);
[[nodiscard]] Graph resnet18(const ZooOptions& options);
[[nodiscard]] Graph resnet18_cifar(const ZooOptions& options);
[[nodiscard]] Graph resnet50(const ZooOptions& options);
[[nodiscard]] Graph bert(const ZooOptions& options);
[[nodiscard]] Graph bert_tiny(const ZooOptions& options);
[[nodiscard]] Graph transformer(const ZooOptions& options);

/// The batch size of a network of fixed input size. Throws InputError when it is < 1 or a sequence length is
/// given.
[[nodiscard]] std::int64_t fixed_size_batch(const ZooOptions& options);

/// Adds `targets` (batch, int32) and the op `loss`.
void cross_entropy_loss(GraphBuilder& g, ValueId logits, std::int64_t batch);

struct BertSize {
  std::int64_t layers;
  std::int64_t width;
  std::int64_t heads;
  std::int64_t feed_forward;
};

/// BERT's encoder block ("BERT: Pre-training of Deep Bidirectional Transformers", arXiv 1810.04805, and
/// "Attention Is All You Need", arXiv 1706.03762): multi-head self-attention and a feed-forward layer, each
/// with dropout, a residual and LayerNorm after it. (B, S, width) -> the same. BERT-base's has 7,087,872
/// parameters; no padding mask.
[[nodiscard]] ValueId encoder_block(GraphBuilder& g, const std::string& name, ValueId x,
                                    const BertSize& size);

inline constexpr std::int64_t kBertPositions = 512;
inline constexpr double kBertDropout = 0.1;
inline constexpr double kBertLayerNormEps = 1e-12;

/// Batch and sequence length of a network that has one. `longest`: 0 for no limit.
struct BatchAndSequence {
  std::int64_t batch = 1;
  std::int64_t sequence = 1;
};
[[nodiscard]] BatchAndSequence batch_and_sequence(const ZooOptions& options, std::int64_t longest);

}  // namespace poet::networks
