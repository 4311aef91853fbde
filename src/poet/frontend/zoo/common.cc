#include <fmt/format.h>

#include "poet/base/error.h"
#include "poet/frontend/zoo/networks.h"
#include "poet/graph/nn.h"

namespace poet::networks {

namespace {

std::int64_t checked_batch(const ZooOptions& options) {
  if (options.batch_size < 1) {
    throw InputError("batch size", fmt::format("must be >= 1, not {}", options.batch_size));
  }
  return options.batch_size;
}

}  // namespace

std::int64_t fixed_size_batch(const ZooOptions& options) {
  if (options.sequence_length) {
    throw InputError(Field{"sequence_length"},
                     "this network has none; only bert, bert_tiny and transformer do");
  }
  return checked_batch(options);
}

BatchAndSequence batch_and_sequence(const ZooOptions& options, std::int64_t longest) {
  const std::int64_t sequence = options.sequence_length.value_or(kBertPositions);
  if (sequence < 1) throw InputError(Field{"sequence_length"}, fmt::format("must be >= 1, not {}", sequence));
  if (longest > 0 && sequence > longest) {
    throw InputError(
        Field{"sequence_length"},
        fmt::format("must be <= {}, the positions this network knows, not {}", longest, sequence));
  }
  return {checked_batch(options), sequence};
}

void cross_entropy_loss(GraphBuilder& g, ValueId logits, std::int64_t batch) {
  const ValueId targets = g.input("targets", {batch}, DType::int32);
  nn::softmax_cross_entropy(g, "loss", logits, targets);
}

}  // namespace poet::networks
