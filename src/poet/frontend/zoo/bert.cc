// BERT-base, BERT-Tiny ("Well-Read Students Learn Better", arXiv 1908.08962) and one block of BERT-base, with
// the parameter names of the Hugging Face checkpoints.

#include <fmt/format.h>

#include <cmath>

#include "poet/base/error.h"
#include "poet/frontend/zoo/networks.h"
#include "poet/graph/nn.h"

namespace poet::networks {

namespace {

constexpr BertSize kBase = {.layers = 12, .width = 768, .heads = 12, .feed_forward = 3072};
constexpr BertSize kTiny = {.layers = 2, .width = 128, .heads = 2, .feed_forward = 512};
constexpr std::int64_t kVocabulary = 30522;
constexpr std::int64_t kTokenTypes = 2;
constexpr std::int64_t kClasses = 2;

// Multi-head attention without a copy: heads are strided views of the projections, and the context is written
// in the order (batch, token, head, channel), so that it is also the row-major (B, S, width) that the
// next layer reads.
ValueId attention(GraphBuilder& g, const std::string& name, ValueId x, const BertSize& size) {
  const std::int64_t batch = g.shape(x)[0];
  const std::int64_t sequence = g.shape(x)[1];
  const ValueId q = nn::linear(g, name + ".query", x, size.width);
  const ValueId k = nn::linear(g, name + ".key", x, size.width);
  const ValueId v = nn::linear(g, name + ".value", x, size.width);

  const std::int64_t head_width = size.width / size.heads;
  const StridedShape split = reshaped(g.layout(q), {batch, sequence, size.heads, head_width});
  const StridedShape heads = permuted(split, {0, 2, 1, 3});
  const StridedShape heads_transposed = permuted(split, {0, 2, 3, 1});
  const ValueId q_heads = g.view(name + ".query_heads", q, heads);
  const ValueId k_heads = g.view(name + ".key_heads", k, heads_transposed);
  const ValueId v_heads = g.view(name + ".value_heads", v, heads);

  const double scale = 1.0 / std::sqrt(static_cast<double>(head_width));
  ValueId p = nn::matmul(g, name + ".scores", q_heads, k_heads, {.alpha = scale, .storage_order = {}});
  p = nn::softmax(g, name + ".softmax", p);
  p = nn::dropout(g, name + ".dropout", p, kBertDropout);
  const ValueId context =
      nn::matmul(g, name + ".context", p, v_heads, {.alpha = 1.0, .storage_order = {0, 2, 1, 3}});
  return g.view(name + ".context_merged", context,
                reshaped(permuted(g.layout(context), {0, 2, 1, 3}), {batch, sequence, size.width}));
}

/// Embeddings, encoder, pooler and a linear classifier.
Graph classifier(const char* name, const BertSize& size, const ZooOptions& options) {
  const BatchAndSequence data = batch_and_sequence(options, kBertPositions);
  const Shape tokens = {data.batch, data.sequence};
  GraphBuilder g(name);
  const ValueId input_ids = g.input("input_ids", tokens, DType::int32);
  const ValueId token_type_ids = g.input("token_type_ids", tokens, DType::int32);
  const ValueId position_ids = g.input("position_ids", tokens, DType::int32);

  const ValueId words =
      nn::embedding(g, "bert.embeddings.word_embeddings", input_ids, kVocabulary, size.width);
  const ValueId types =
      nn::embedding(g, "bert.embeddings.token_type_embeddings", token_type_ids, kTokenTypes, size.width);
  ValueId x = nn::add(g, "bert.embeddings.add_types", words, types);
  const ValueId positions =
      nn::embedding(g, "bert.embeddings.position_embeddings", position_ids, kBertPositions, size.width);
  x = nn::add(g, "bert.embeddings.add_positions", x, positions);
  x = nn::layer_norm(g, "bert.embeddings.LayerNorm", x, kBertLayerNormEps);
  x = nn::dropout(g, "bert.embeddings.dropout", x, kBertDropout);

  for (std::int64_t layer = 0; layer < size.layers; ++layer) {
    x = encoder_block(g, fmt::format("bert.encoder.layer.{}", layer), x, size);
  }

  x = nn::select(g, "bert.pooler.first_token", x, 0);
  x = nn::linear(g, "bert.pooler.dense", x, size.width);
  x = nn::tanh(g, "bert.pooler.tanh", x);
  x = nn::dropout(g, "dropout", x, kBertDropout);
  x = nn::linear(g, "classifier", x, kClasses);
  cross_entropy_loss(g, x, data.batch);
  return g.finish();
}

}  // namespace

ValueId encoder_block(GraphBuilder& g, const std::string& name, ValueId x, const BertSize& size) {
  ValueId a = attention(g, name + ".attention.self", x, size);
  a = nn::linear(g, name + ".attention.output.dense", a, size.width);
  a = nn::dropout(g, name + ".attention.output.dropout", a, kBertDropout);
  a = nn::add(g, name + ".attention.output.add", a, x);
  a = nn::layer_norm(g, name + ".attention.output.LayerNorm", a, kBertLayerNormEps);

  ValueId f = nn::linear(g, name + ".intermediate.dense", a, size.feed_forward);
  f = nn::gelu(g, name + ".intermediate.gelu", f);
  f = nn::linear(g, name + ".output.dense", f, size.width);
  f = nn::dropout(g, name + ".output.dropout", f, kBertDropout);
  f = nn::add(g, name + ".output.add", f, a);
  return nn::layer_norm(g, name + ".output.LayerNorm", f, kBertLayerNormEps);
}

Graph bert(const ZooOptions& options) { return classifier("bert", kBase, options); }

Graph bert_tiny(const ZooOptions& options) { return classifier("bert_tiny", kTiny, options); }

Graph transformer(const ZooOptions& options) {
  const BatchAndSequence size = batch_and_sequence(options, 0);
  GraphBuilder g("transformer");
  ValueId x = g.input("input", {size.batch, size.sequence, kBase.width});
  x = encoder_block(g, "encoder", x, kBase);
  // A training step needs a loss: adds the smallest head of a real task, under names of its own.
  x = nn::select(g, "head.first_token", x, 0);
  x = nn::linear(g, "head.classifier", x, kClasses);
  cross_entropy_loss(g, x, size.batch);
  return g.finish();
}

}  // namespace poet::networks
