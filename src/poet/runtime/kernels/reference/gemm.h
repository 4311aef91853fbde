#pragma once

// Matrix products in float32 on operands of any layout: the scheme of Goto and van de Geijn ("Anatomy of
// high-performance matrix multiplication", 2008) with one level of blocks. Whoever multiplies says how a
// block of either operand is copied into a panel, so that a convolution needs no matrix of its windows. An
// element of the result is what it starts with, to which its terms are added one by one, in order: a product
// that goes on where another has stopped (`Product::add`) gives the bits of the whole.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>

#include "poet/base/units.h"
#include "poet/runtime/kernels/reference/op_reader.h"

namespace poet::runtime::gemm {

constexpr Index kRows = 4;     // of a tile of the result, which is held in registers
constexpr Index kColumns = 8;  // of it
constexpr Index kDepth = 256;  // of a panel at most: summed in registers before the result is stored
constexpr Index kWidth = 128;  // columns of a panel at most

using Lanes = float __attribute__((vector_size(16)));

inline Lanes load(const float* from) {
  Lanes lanes;
  std::memcpy(&lanes, from, sizeof lanes);
  return lanes;
}
inline void store(float* to, Lanes lanes) { std::memcpy(to, &lanes, sizeof lanes); }

/// tile += a b: `a` is (depth, kRows), `b` (depth, kColumns), the tile row-major.
inline void multiply_tile(Index depth, const float* a, const float* b, float* tile) {
  Lanes c00 = load(tile), c01 = load(tile + 4), c10 = load(tile + 8), c11 = load(tile + 12);
  Lanes c20 = load(tile + 16), c21 = load(tile + 20), c30 = load(tile + 24), c31 = load(tile + 28);
  for (Index k = 0; k < depth; ++k, a += kRows, b += kColumns) {
    const Lanes b0 = load(b);
    const Lanes b1 = load(b + 4);
    c00 += a[0] * b0;
    c01 += a[0] * b1;
    c10 += a[1] * b0;
    c11 += a[1] * b1;
    c20 += a[2] * b0;
    c21 += a[2] * b1;
    c30 += a[3] * b0;
    c31 += a[3] * b1;
  }
  store(tile, c00);
  store(tile + 4, c01);
  store(tile + 8, c10);
  store(tile + 12, c11);
  store(tile + 16, c20);
  store(tile + 20, c21);
  store(tile + 24, c30);
  store(tile + 28, c31);
}

/// A block of the left operand: element (row, k) goes to to[k * kRows + row].
struct LeftPanel {
  float* to;
  Index row, rows;  // first and number, at most kRows
  Index first, depth;

  /// From memory with these strides. Rows that are not there are zero.
  void copy(const float* from, Index row_stride, Index depth_stride) const {
    const float* at = from + row * row_stride + first * depth_stride;
    if (rows == kRows) {
      const float* a1 = at + row_stride;
      const float* a2 = a1 + row_stride;
      const float* a3 = a2 + row_stride;
      for (Index k = 0; k < depth; ++k) {
        to[k * kRows] = at[k * depth_stride];
        to[k * kRows + 1] = a1[k * depth_stride];
        to[k * kRows + 2] = a2[k * depth_stride];
        to[k * kRows + 3] = a3[k * depth_stride];
      }
      return;
    }
    for (Index k = 0; k < depth; ++k) {
      for (Index r = 0; r < kRows; ++r) {
        to[k * kRows + r] = r < rows ? at[r * row_stride + k * depth_stride] : 0.0F;
      }
    }
  }
};

/// A block of the right operand: element (k, column) goes to strip column / kColumns, there to
/// [k * kColumns + column % kColumns]. Columns behind the last may hold anything.
struct RightPanel {
  float* to;
  Index column, columns;  // first and number, at most kWidth
  Index first, depth;

  [[nodiscard]] float* strip(Index c) const { return to + c / kColumns * kColumns * depth; }

  /// Row k of the panel, from `columns` neighbours (padded to a multiple of kColumns).
  void set_row(Index k, const float* from) const {
    for (Index c = 0; c < columns; c += kColumns) {
      std::memcpy(strip(c) + k * kColumns, from + c, kColumns * sizeof(float));
    }
  }
  /// Column c, from `depth` neighbours.
  void set_column(Index c, const float* from) const {
    float* at = strip(c) + c % kColumns;
    for (Index k = 0; k < depth; ++k) at[k * kColumns] = from[k];
  }

  void copy(const float* from, Index depth_stride, Index column_stride) const {
    const float* at = from + first * depth_stride + column * column_stride;
    if (column_stride == 1) {
      const Index whole = columns / kColumns * kColumns;
      for (Index c = 0; c < whole; c += kColumns) {
        float* strip_at = strip(c);
        for (Index k = 0; k < depth; ++k) {
          std::memcpy(strip_at + k * kColumns, at + k * depth_stride + c, kColumns * sizeof(float));
        }
      }
      copy_columns(at, depth_stride, column_stride, whole);
      return;
    }
    copy_columns(at, depth_stride, column_stride, 0);
  }

 private:
  void copy_columns(const float* at, Index depth_stride, Index column_stride, Index from_column) const {
    for (Index c = from_column; c < columns; ++c) {
      float* strip_at = strip(c) + c % kColumns;
      const float* column_at = at + c * column_stride;
      for (Index k = 0; k < depth; ++k) strip_at[k * kColumns] = column_at[k * depth_stride];
    }
  }
};

/// Of the blocks of the right operand that are copied. Bits do not depend on it.
struct Panel {
  Index width = kWidth;  // a multiple of kColumns
  Index depth = kDepth;
};

/// What the panels of an op should be whose product has so many columns and this depth: where all its
/// operands are small they may lie in a small RAM, of which panels are to take a part only.
[[nodiscard]] inline Panel panel_of(const OpReader& op, Index columns, Index depth) {
  constexpr Index kSmall = Index{1} << 14;  // numbers
  constexpr Index kLeastWidth = 32;
  constexpr Index kLeastDepth = 16;
  Index numbers = 0;
  for (const ValueId v : op.op().inputs) numbers += element_count(op.value(v).shape);
  for (const ValueId v : op.op().outputs) numbers += element_count(op.value(v).shape);
  const Index most = numbers < kSmall ? numbers / 8 : numbers;
  Panel panel;
  panel.width = std::min(kWidth, (columns + kColumns - 1) / kColumns * kColumns);
  panel.depth = std::clamp<Index>(depth, 1, kDepth);
  while (panel.width > kLeastWidth && panel.width * panel.depth > most) {
    // What is done once per row of a panel costs more than what is done once per block.
    if (4 * panel.depth > panel.width)
      panel.depth = (panel.depth + 1) / 2;
    else
      panel.width = (panel.width / 2 + kColumns - 1) / kColumns * kColumns;
  }
  while (panel.depth > kLeastDepth && panel.width * panel.depth > most) panel.depth = (panel.depth + 1) / 2;
  return panel;
}

/// c[m, n] = what it starts with + the sum over k of (alpha a[m, k]) b[k, n]
struct Product {
  Index m = 0;
  Index n = 0;
  Index k = 0;
  float alpha = 1.0F;
  bool add = false;                  // to what is in c; else to these, or to zero:
  const float* of_row = nullptr;     // one number per row
  const float* of_column = nullptr;  // one per column
  Panel panel{};
};

/// Of a product of this many columns and this depth.
[[nodiscard]] inline Bytes workspace(Index columns, Index depth, Panel panel = {}) {
  const Index width = std::min(panel.width, (columns + kColumns - 1) / kColumns * kColumns);
  return Bytes(width * std::min(panel.depth, depth) * static_cast<Index>(sizeof(float)));
}

/// `left` fills a LeftPanel, `right` a RightPanel; element (m, n) of the result lies at c[row_at(m) +
/// column_at(n)]. `panel`: workspace(n, k, p.panel) bytes.
template <class Left, class Right, class RowAt, class ColumnAt>
void multiply(const Product& p, const Left& left, const Right& right, float* c, const RowAt& row_at,
              const ColumnAt& column_at, float* panel) {
  std::array<Index, kWidth> place;
  alignas(64) std::array<float, kRows * kDepth> a;
  alignas(64) std::array<float, kRows * kColumns> tile;
  tile.fill(0.0F);
  for (Index n0 = 0; n0 < p.n; n0 += p.panel.width) {
    const Index width = std::min(p.panel.width, p.n - n0);
    for (Index j = 0; j < width; ++j) place[static_cast<std::size_t>(j)] = column_at(n0 + j);
    Index k0 = 0;
    do {  // once even where there is nothing to sum
      const Index depth = std::min(p.panel.depth, p.k - k0);
      if (depth > 0) right(RightPanel{panel, n0, width, k0, depth});
      const bool add = p.add || k0 > 0;
      for (Index m0 = 0; m0 < p.m; m0 += kRows) {
        const Index rows = std::min(kRows, p.m - m0);
        if (depth > 0) left(LeftPanel{a.data(), m0, rows, k0, depth});
        if (p.alpha != 1.0F) {
          for (Index i = 0; i < depth * kRows; ++i) a[static_cast<std::size_t>(i)] *= p.alpha;
        }
        for (Index j0 = 0; j0 < width; j0 += kColumns) {
          const Index columns = std::min(kColumns, width - j0);
          const Index* at = place.data() + j0;
          const bool whole = columns == kColumns && at[kColumns - 1] - at[0] == kColumns - 1;
          for (Index r = 0; r < rows; ++r) {
            float* start = tile.data() + r * kColumns;
            if (add) {
              const float* from = c + row_at(m0 + r);
              if (whole) {
                std::memcpy(start, from + at[0], kColumns * sizeof(float));
              } else {
                for (Index j = 0; j < columns; ++j) start[j] = from[at[j]];
              }
            } else if (p.of_column != nullptr) {
              for (Index j = 0; j < columns; ++j) start[j] = p.of_column[n0 + j0 + j];
            } else {
              std::fill_n(start, kColumns, p.of_row != nullptr ? p.of_row[m0 + r] : 0.0F);
            }
          }
          multiply_tile(depth, a.data(), panel + j0 * depth, tile.data());
          for (Index r = 0; r < rows; ++r) {
            float* to = c + row_at(m0 + r);
            const float* from = tile.data() + r * kColumns;
            if (whole) {
              std::memcpy(to + at[0], from, kColumns * sizeof(float));
            } else {
              for (Index j = 0; j < columns; ++j) to[at[j]] = from[j];
            }
          }
        }
      }
      k0 += p.panel.depth;
    } while (k0 < p.k);
  }
}

}  // namespace poet::runtime::gemm
