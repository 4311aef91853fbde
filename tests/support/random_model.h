#pragma once

// Random forward graphs of the shapes that networks have: branches with shared weights, chains, residuals,
// attention, parallel paths. Large enough that operators are worth splitting into parts; RandomNetwork has
// small ones of every operator.

#include "poet/graph/graph.h"
#include "tests/support/random_instance.h"

namespace poet::test {

enum class ModelShape { siamese, chain, residual, attention, branches };
inline constexpr int kModelShapes = 5;

/// A network with a loss, of 10 to 80 forward ops. The same generator gives the same network.
[[nodiscard]] Graph random_model(Rng& rng, ModelShape shape);

}  // namespace poet::test
