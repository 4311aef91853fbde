// BERT-base, BERT-Tiny ("Well-Read Students Learn Better", arXiv 1908.08962) and one block of BERT-base, with
// the parameter names of the Hugging Face checkpoints.

#include <fmt/format.h>

#include <cmath>

#include "poet/base/error.h"
#include "poet/frontend/zoo/networks.h"

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
  const ValueId q = g.linear(name + ".query", x, size.width);
  const ValueId k = g.linear(name + ".key", x, size.width);
  const ValueId v = g.linear(name + ".value", x, size.width);

  const std::int64_t head_width = size.width / size.heads;
  const StridedShape split = reshaped(g.layout(q), {batch, sequence, size.heads, head_width});
  const StridedShape heads = permuted(split, {0, 2, 1, 3});
  const StridedShape heads_transposed = permuted(split, {0, 2, 3, 1});
  const ValueId q_heads = g.view(name + ".query_heads", q, heads);
  const ValueId k_heads = g.view(name + ".key_heads", k, heads_transposed);
  const ValueId v_heads = g.view(name + ".value_heads", v, heads);

  const double scale = 1.0 / std::sqrt(static_cast<double>(head_width));
  ValueId p = g.matmul(name + ".scores", q_heads, k_heads, {.alpha = scale, .storage_order = {}});
  p = g.softmax(name + ".softmax", p);
  p = g.dropout(name + ".dropout", p, kBertDropout);
  const ValueId context =
      g.matmul(name + ".context", p, v_heads, {.alpha = 1.0, .storage_order = {0, 2, 1, 3}});
  return g.view(name + ".context_merged", context,
                reshaped(permuted(g.layout(context), {0, 2, 1, 3}), {batch, sequence, size.width}));
}

}  // namespace

ValueId encoder_block(GraphBuilder& g, const std::string& name, ValueId x, const BertSize& size) {
  ValueId a = attention(g, name + ".attention.self", x, size);
  a = g.linear(name + ".attention.output.dense", a, size.width);
  a = g.dropout(name + ".attention.output.dropout", a, kBertDropout);
  a = g.add(name + ".attention.output.add", a, x);
  a = g.layer_norm(name + ".attention.output.LayerNorm", a, kBertLayerNormEps);

  ValueId f = g.linear(name + ".intermediate.dense", a, size.feed_forward);
  f = g.gelu(name + ".intermediate.gelu", f);
  f = g.linear(name + ".output.dense", f, size.width);
  f = g.dropout(name + ".output.dropout", f, kBertDropout);
  f = g.add(name + ".output.add", f, a);
  return g.layer_norm(name + ".output.LayerNorm", f, kBertLayerNormEps);
}

namespace {

/// Embeddings, encoder, pooler and a linear classifier.
Graph classifier(const char* name, const BertSize& size, const ZooOptions& options) {
  const BatchAndSequence data = batch_and_sequence(options, kBertPositions);
  const Shape tokens = {data.batch, data.sequence};
  GraphBuilder g(name);
  const ValueId input_ids = g.input("input_ids", tokens, DType::int32);
  const ValueId token_type_ids = g.input("token_type_ids", tokens, DType::int32);
  const ValueId position_ids = g.input("position_ids", tokens, DType::int32);

  const ValueId words = g.embedding("bert.embeddings.word_embeddings", input_ids, kVocabulary, size.width);
  const ValueId types =
      g.embedding("bert.embeddings.token_type_embeddings", token_type_ids, kTokenTypes, size.width);
  ValueId x = g.add("bert.embeddings.add_types", words, types);
  const ValueId positions =
      g.embedding("bert.embeddings.position_embeddings", position_ids, kBertPositions, size.width);
  x = g.add("bert.embeddings.add_positions", x, positions);
  x = g.layer_norm("bert.embeddings.LayerNorm", x, kBertLayerNormEps);
  x = g.dropout("bert.embeddings.dropout", x, kBertDropout);

  for (std::int64_t layer = 0; layer < size.layers; ++layer) {
    x = encoder_block(g, fmt::format("bert.encoder.layer.{}", layer), x, size);
  }

  x = g.select("bert.pooler.first_token", x, 0);
  x = g.linear("bert.pooler.dense", x, size.width);
  x = g.tanh("bert.pooler.tanh", x);
  x = g.dropout("dropout", x, kBertDropout);
  x = g.linear("classifier", x, kClasses);
  cross_entropy_loss(g, x, data.batch);
  return g.finish();
}

}  // namespace

Graph bert(const ZooOptions& options) { return classifier("bert", kBase, options); }

Graph bert_tiny(const ZooOptions& options) { return classifier("bert_tiny", kTiny, options); }

Graph transformer(const ZooOptions& options) {
  const BatchAndSequence size = batch_and_sequence(options, 0);
  GraphBuilder g("transformer");
  ValueId x = g.input("input", {size.batch, size.sequence, kBase.width});
  x = encoder_block(g, "encoder", x, kBase);
  // A training step needs a loss: the least head that is a real task, kept apart by its name.
  x = g.select("head.first_token", x, 0);
  x = g.linear("head.classifier", x, kClasses);
  cross_entropy_loss(g, x, size.batch);
  return g.finish();
}

}  // namespace poet::networks
