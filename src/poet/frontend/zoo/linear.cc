// The small fully connected network of POET's evaluation.

#include <fmt/format.h>

#include <array>

#include "poet/frontend/zoo/networks.h"
#include "poet/graph/nn.h"

namespace poet::networks {

Graph linear(const ZooOptions& options) {
  const std::int64_t batch = fixed_size_batch(options);
  GraphBuilder g("linear");
  ValueId x = g.input("input", {batch, 784});
  constexpr std::array<std::int64_t, 6> kWidths = {10, 120, 100, 200, 10, 10};
  for (std::size_t i = 0; i < kWidths.size(); ++i) {
    x = nn::linear(g, fmt::format("fc{}", i + 1), x, kWidths[i]);
    x = nn::relu(g, fmt::format("relu{}", i + 1), x);
  }
  cross_entropy_loss(g, x, batch);
  return g.finish();
}

}  // namespace poet::networks
