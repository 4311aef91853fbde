#pragma once

// The initial contents of persistent values.

#include <cstddef>
#include <cstdint>
#include <functional>

#include "poet/graph/graph.h"

namespace poet::runtime {

/// Fills the value `v` of `graph`, `to` being its storage, and says whether it knew it.
using WeightSource = std::function<bool(ValueId v, std::byte* to)>;

/// Initial contents like those of PyTorch's layers, depending on the reader of a value: uniform within 1 /
/// sqrt(fan in) for weights and biases of convolutions and linear layers (and weights that a matrix product
/// reads), within 1 / sqrt(units) for recurrent layers, normal for embeddings, ones and zeros for
/// normalisation and for initial states, 0.25 for the slopes of a prelu; zeros for momentum and moments, 0
/// and 1 for running statistics. Parameters that PyTorch leaves to the network: ones for factors, otherwise
/// normal with deviation 0.02, as transformers have it. Ops that only move elements (slice, transpose,
/// concat...) are skipped. Contents depend only on the seed and the value's name, shape and reader; a part of
/// a tensor has the contents of the whole tensor there.
class InitialWeights {
 public:
  /// `training` must outlive it. O(ops + values + edges).
  explicit InitialWeights(const Graph& training);

  /// Writes the contents of `v`. Throws InputError for a constant of the graph (no parameter, never updated):
  /// numbers that only the model's file knows. O(elements).
  void write(ValueId v, std::uint64_t seed, std::byte* to) const;
  /// Throws as write() would.
  void check(ValueId v) const;

  /// An op and the position at which it names a value.
  struct Use {
    OpId op;
    std::size_t position = 0;
  };

 private:
  const Graph& graph_;
  /// The first op that does something with the numbers, and not only moves them.
  IdVector<ValueId, Use> readers_;
  IdVector<ValueId, Use> updates_;
};

}  // namespace poet::runtime
