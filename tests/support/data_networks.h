#pragma once

// Small networks to be fed with data.

#include "poet/graph/builder.h"

namespace poet::test {

/// One linear layer over x, with a cross-entropy over `classes`.
inline Graph classifier(const Shape& x, std::int64_t classes) {
  GraphBuilder g("classifier");
  const ValueId input = g.input("x", x);
  const ValueId flat = x.size() == 2 ? input : g.flatten("flat", input);
  const ValueId targets = g.input("targets", {x[0]}, DType::int32);
  g.softmax_cross_entropy("loss", g.linear("fc", flat, classes), targets);
  return g.finish();
}

/// Token and position embeddings, and the next token at every position.
inline Graph language_model(std::int64_t batch, std::int64_t length, std::int64_t vocabulary,
                            std::int64_t positions = 16) {
  GraphBuilder g("language_model");
  const ValueId ids = g.input("input_ids", {batch, length}, DType::int32);
  const ValueId places = g.input("position_ids", {batch, length}, DType::int32);
  const ValueId words = g.embedding("words", ids, vocabulary, 4);
  const ValueId x = g.add("sum", words, g.embedding("position_embeddings", places, positions, 4));
  const ValueId logits = g.reshape("rows", g.linear("fc", x, vocabulary), {batch * length, vocabulary});
  g.softmax_cross_entropy("loss", logits, g.input("targets", {batch * length}, DType::int32));
  return g.finish();
}

/// Numbers from numbers.
inline Graph regression(std::int64_t batch, std::int64_t in, std::int64_t out) {
  GraphBuilder g("regression");
  const ValueId y = g.linear("fc", g.input("x", {batch, in}), out);
  g.mse_loss("loss", y, g.input("targets", {batch, out}));
  return g.finish();
}

}  // namespace poet::test
