#pragma once

// Small networks to be fed with data.

#include "poet/graph/nn.h"

namespace poet::test {

/// One linear layer over x, with a cross-entropy over `classes`.
inline Graph classifier(const Shape& x, std::int64_t classes) {
  GraphBuilder g("classifier");
  const ValueId input = g.input("x", x);
  const ValueId flat = x.size() == 2 ? input : nn::flatten(g, "flat", input);
  const ValueId targets = g.input("targets", {x[0]}, DType::int32);
  nn::softmax_cross_entropy(g, "loss", nn::linear(g, "fc", flat, classes), targets);
  return g.finish();
}

/// Token and position embeddings, and the next token at every position.
inline Graph language_model(std::int64_t batch, std::int64_t length, std::int64_t vocabulary,
                            std::int64_t positions = 16) {
  GraphBuilder g("language_model");
  const ValueId ids = g.input("input_ids", {batch, length}, DType::int32);
  const ValueId places = g.input("position_ids", {batch, length}, DType::int32);
  const ValueId words = nn::embedding(g, "words", ids, vocabulary, 4);
  const ValueId x = nn::add(g, "sum", words, nn::embedding(g, "position_embeddings", places, positions, 4));
  const ValueId logits =
      nn::reshape(g, "rows", nn::linear(g, "fc", x, vocabulary), {batch * length, vocabulary});
  nn::softmax_cross_entropy(g, "loss", logits, g.input("targets", {batch * length}, DType::int32));
  return g.finish();
}

/// Numbers from numbers.
inline Graph regression(std::int64_t batch, std::int64_t in, std::int64_t out) {
  GraphBuilder g("regression");
  const ValueId y = nn::linear(g, "fc", g.input("x", {batch, in}), out);
  nn::mse_loss(g, "loss", y, g.input("targets", {batch, out}));
  return g.finish();
}

}  // namespace poet::test
