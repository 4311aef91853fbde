// Panels of the portable kernels' products: their size decides no bit, and is small where operands are.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <random>
#include <vector>

#include "poet/graph/graph.h"
#include "poet/runtime/kernels/reference/gemm.h"
#include "poet/runtime/kernels/reference/reference.h"
#include "tests/support/one_op.h"

namespace poet::runtime {
namespace {

using Floats = std::vector<float>;

Floats random_numbers(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> any(-1, 1);
  Floats numbers(count);
  for (float& number : numbers) number = any(random);
  return numbers;
}

Floats product(Index m, Index n, Index k, gemm::Panel panel, bool add) {
  const Floats a = random_numbers(static_cast<std::size_t>(m * k), 1);
  const Floats b = random_numbers(static_cast<std::size_t>(k * n), 2);
  const Floats bias = random_numbers(static_cast<std::size_t>(n), 3);
  Floats c = random_numbers(static_cast<std::size_t>(m * n), 4);
  gemm::Product p{m, n, k};
  p.alpha = 0.3F;
  p.add = add;
  p.of_column = bias.data();
  p.panel = panel;
  const auto bytes = static_cast<std::size_t>(gemm::workspace(n, k, panel).value());
  Floats workspace(bytes / sizeof(float));
  gemm::multiply(
      p, [&](const gemm::LeftPanel& to) { to.copy(a.data(), k, 1); },
      [&](const gemm::RightPanel& to) { to.copy(b.data(), n, 1); }, c.data(), [n](Index i) { return i * n; },
      [](Index i) { return i; }, workspace.data());
  return c;
}

TEST(GemmPanels, DecideNoBit) {
  for (const auto& [m, n, k] : {std::array<Index, 3>{5, 300, 700}, {64, 33, 257}, {1, 9, 16}, {7, 128, 1}}) {
    for (const bool add : {false, true}) {
      const Floats whole = product(m, n, k, {}, add);
      for (const gemm::Panel panel :
           {gemm::Panel{32, 16}, {64, 16}, {64, 32}, {128, 32}, {128, 128}, {8, 1}}) {
        const Floats other = product(m, n, k, panel, add);
        EXPECT_EQ(std::memcmp(other.data(), whole.data(), whole.size() * sizeof(float)), 0)
            << m << " " << n << " " << k << ", " << panel.width << " x " << panel.depth;
      }
    }
  }
}

/// Of the kernel of `linear` with these sizes.
Bytes workspace_of_linear(std::int64_t rows, std::int64_t ins, std::int64_t outs) {
  const Graph graph = test::one_op("linear", {{{rows, ins}}, {{outs, ins}}, {{outs}}}, {{{rows, outs}}});
  return make_reference_kernel(graph, test::last_op(graph))->workspace();
}

TEST(GemmPanels, TakeAPartOfASmallOp) {
  EXPECT_EQ(workspace_of_linear(256, 512, 512), Bytes(128 * 256 * 4));
  for (const std::int64_t size : {16, 32, 48, 64, 72, 76, 100, 128, 140}) {
    const std::int64_t numbers = 3 * size * size + size;
    const std::int64_t part = numbers < (1 << 14) ? 8 : 1;
    EXPECT_LE(workspace_of_linear(size, size, size), std::max(Bytes(4 * numbers / part), Bytes(2048)))
        << size;
    EXPECT_GT(workspace_of_linear(size, size, size), Bytes(0));
  }
}

}  // namespace
}  // namespace poet::runtime
