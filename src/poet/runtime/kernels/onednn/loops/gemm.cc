#include "poet/runtime/kernels/onednn/loops/gemm.h"

#include <omp.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "poet/runtime/kernels/onednn/loops/instruction_sets.h"

namespace poet::runtime::onednn {
namespace {

// What one instruction set brings.
struct GemmLoops {
  std::int64_t rows;     // of a tile
  std::int64_t columns;  // of a panel of B
  void (*pack_a)(const Gemm& product, const float* a, std::int64_t first_row, std::int64_t rows,
                 std::int64_t first_k, std::int64_t depth, float* to);
  void (*pack_b)(const Gemm& product, const float* b, std::int64_t first_k, std::int64_t depth,
                 std::int64_t column, std::int64_t columns, float* to, float* lines);
  void (*multiply_panel)(const Gemm& product, const float* packed_a, std::int64_t first_row,
                         std::int64_t rows, std::int64_t depth, const float* b, std::int64_t b_stride,
                         std::int64_t column, std::int64_t columns, float* c, const Bias& bias, bool first);
};

}  // namespace

#define POET_LOOPS_FILE "poet/runtime/kernels/onednn/loops/gemm.inc"
#include "poet/runtime/kernels/onednn/loops/every_instruction_set.inc"

namespace {

const GemmLoops& loops() { return POET_HERE(kGemm); }

// Numbers along k in one go: a panel of B stays in the caches of a core. When A has few rows, B is read once,
// from memory: in long lines.
constexpr std::int64_t kDepth = 384;
constexpr std::int64_t kLongDepth = 2048;
constexpr std::int64_t kShortDepth = 32;
// Rows of A packed at once: they stay in the second cache.
constexpr std::int64_t kBlock = 264;

bool few_rows(const Gemm& p) { return p.m <= 3 * loops().rows; }

// Few rows, or short columns, do not repay a copy of what lies side by side anyway.
bool b_in_place(const Gemm& p) {
  return p.b == Content::matrix && p.b_columns.stride == 1 && (few_rows(p) || p.k <= kShortDepth) &&
         (p.n <= p.b_columns.inner || p.b_columns.inner % loops().columns == 0) && p.k <= p.b_rows.inner;
}

struct Blocks {
  std::int64_t depth;
  std::int64_t rows;   // a multiple of a tile's
  std::int64_t a;      // numbers packed of A
  std::int64_t panel;  // numbers per thread
};

Blocks blocks(const Gemm& p) {
  const std::int64_t tile = loops().rows;
  Blocks result{};
  // Parts of equal size.
  const std::int64_t most = !few_rows(p) ? kDepth : b_in_place(p) ? kShortDepth : kLongDepth;
  const std::int64_t parts = (p.k + most - 1) / most;
  result.depth = (p.k + parts - 1) / parts;
  result.rows = std::min((p.m + tile - 1) / tile, kBlock / tile) * tile;
  result.a = rounded_up(Bytes(result.rows * result.depth + 16), Bytes(16)).value();
  result.panel = loops().columns * result.depth * (p.b == Content::windows_transposed ? 2 : 1);
  return result;
}

}  // namespace

Bytes product_workspace(const Gemm& product, int threads) {
  const Blocks b = blocks(product);
  return Bytes((b.a + b.panel * threads) * static_cast<std::int64_t>(sizeof(float)));
}

void multiply(const Gemm& p, const float* a, const float* b, float* c, const Bias& bias, float* workspace,
              int threads) {
  const GemmLoops& with = loops();
  const Blocks block = blocks(p);
  const std::int64_t panels = (p.n + with.columns - 1) / with.columns;
  const bool in_place = b_in_place(p);
  for (std::int64_t first_k = 0; first_k < p.k; first_k += block.depth) {
    const std::int64_t depth = std::min(block.depth, p.k - first_k);
    for (std::int64_t first_row = 0; first_row < p.m; first_row += block.rows) {
      const std::int64_t rows = std::min(block.rows, p.m - first_row);
      with.pack_a(p, a, first_row, rows, first_k, depth, workspace);
      const auto panel_times = [&](std::int64_t panel, std::int64_t from_row, std::int64_t count) {
        const std::int64_t column = panel * with.columns;
        const std::int64_t columns = std::min(with.columns, p.n - column);
        float* packed = workspace + block.a + block.panel * omp_get_thread_num();
        const bool direct = in_place && columns == with.columns;
        if (!direct) {
          with.pack_b(p, b, first_k, depth, column, columns, packed, packed + with.columns * depth);
        }
        with.multiply_panel(p, workspace + from_row * depth, first_row + from_row, count, depth,
                            direct ? b + p.b_rows.at(first_k) + p.b_columns.at(column) : packed,
                            direct ? p.b_rows.stride : with.columns, column, columns, c, bias, first_k == 0);
      };
      if (in_place && !few_rows(p)) {
        // Short columns: C is most of what moves, and is written in long lines, while as much of B stays in a
        // core's second cache.
        constexpr std::int64_t kLine = 64;  // panels
        const std::int64_t tiles = (rows + with.rows - 1) / with.rows;
        for (std::int64_t line = 0; line < panels; line += kLine) {
          const std::int64_t end = std::min(panels, line + kLine);
#pragma omp parallel for schedule(static) num_threads(threads) if (threads > 1)
          for (std::int64_t t = 0; t < tiles; ++t) {
            for (std::int64_t panel = line; panel < end; ++panel) {
              panel_times(panel, t * with.rows, std::min(with.rows, rows - t * with.rows));
            }
          }
        }
        continue;
      }
#pragma omp parallel for schedule(static) num_threads(threads) if (threads > 1)
      for (std::int64_t panel = 0; panel < panels; ++panel) panel_times(panel, 0, rows);
    }
  }
}

}  // namespace poet::runtime::onednn
