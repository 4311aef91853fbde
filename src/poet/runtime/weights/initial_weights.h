#pragma once

// Where a training run starts: every persistent value's first contents.

#include <cstddef>
#include <cstdint>
#include <functional>

#include "poet/graph/graph.h"

namespace poet::runtime {

/// Fills the value `v` of `graph`, `to` being its storage, and says whether it knew it.
using WeightSource = std::function<bool(ValueId v, std::byte* to)>;

/// Writes a persistent value's contents as PyTorch initialises its layers (uniform within 1/sqrt(fan in) for
/// weights and biases of convolutions, linear and recurrent layers, normal for embeddings, ones and zeros for
/// normalisation; zeros for momentum and moments, 0 and 1 for running statistics), by what reads it. A
/// function of the seed and the value's name. Throws InputError for a constant of the graph (persistent,
/// never updated, no parameter): numbers that only the model's file knows. O(elements).
void initialise(const Graph& training, ValueId v, std::uint64_t seed, std::byte* to);

}  // namespace poet::runtime
