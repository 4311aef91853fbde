#pragma once

// What the kernels of lstm, gru and rnn share. The samples of one step and direction are the rows of a matrix
// that is contiguous in (S, D, N, width).

#include <cmath>
#include <memory>

#include "poet/runtime/kernels/reference/gemm.h"
#include "poet/runtime/kernels/reference/loop_kernel.h"

namespace poet::runtime {

struct RecurrentSizes {
  Index steps = 1, directions = 1, batch = 1, hidden = 1;
  Index gates = 1;   // rows of the weights, in multiples of hidden
  Index kept = 1;    // width of the gates that are kept, in elements; an rnn has none
  Index inputs = 1;  // width of x
  bool reversed = false;

  /// `states`: (S, D, N, H).
  RecurrentSizes(const OpReader& op, const Shape& states, Index gate_count, Index kept_gates)
      : steps(states[0]),
        directions(states[1]),
        batch(states[2]),
        hidden(states[3]),
        gates(gate_count),
        kept(kept_gates * states[3]),
        reversed(op.text("direction") == "reverse") {}

  [[nodiscard]] Index rows() const { return gates * hidden; }
  /// The position in the sequence that direction d treats as its k-th.
  [[nodiscard]] Index position(Index d, Index k) const { return reversed || d == 1 ? steps - 1 - k : k; }
  /// Where the samples of a position begin in a tensor (S, D, N, width).
  [[nodiscard]] Index at(Index position, Index d, Index width) const {
    return (position * directions + d) * batch * width;
  }
};

/// Row-major, rows `stride` elements apart.
struct StridedRows {
  const float* at;
  Index stride;
};

/// c = start + a wᵀ for `m` rows of width `k`; w is (n, k), contiguous. `c_at`: where row i of c begins.
template <class RowAt>
void multiply_transposed(Index m, Index n, Index k, StridedRows a, const float* w, const float* of_column,
                         bool add, float* c, const RowAt& c_at, float* panel) {
  gemm::Product p{m, n, k};
  p.add = add;
  p.of_column = of_column;
  gemm::multiply(
      p, [&](const gemm::LeftPanel& to) { to.copy(a.at, a.stride, 1); },
      [&](const gemm::RightPanel& to) { to.copy(w, 1, k); }, c, c_at, [](Index j) { return j; }, panel);
}

/// c (m, n) = [c +] a b; b is (k, n), contiguous.
inline void multiply_rows(Index m, Index n, Index k, StridedRows a, const float* b, bool add, float* c,
                          Index c_stride, float* panel) {
  gemm::Product p{m, n, k};
  p.add = add;
  gemm::multiply(
      p, [&](const gemm::LeftPanel& to) { to.copy(a.at, a.stride, 1); },
      [&](const gemm::RightPanel& to) { to.copy(b, n, 1); }, c, [c_stride](Index i) { return i * c_stride; },
      [](Index j) { return j; }, panel);
}

/// c (m, n) += aᵀ b: both have `k` rows, c is contiguous.
inline void add_transposed_product(Index m, Index n, Index k, StridedRows a, StridedRows b, float* c,
                                   float* panel) {
  gemm::Product p{m, n, k};
  p.add = true;
  gemm::multiply(
      p, [&](const gemm::LeftPanel& to) { to.copy(a.at, 1, a.stride); },
      [&](const gemm::RightPanel& to) { to.copy(b.at, b.stride, 1); }, c, [n](Index i) { return i * n; },
      [](Index j) { return j; }, panel);
}

[[nodiscard]] inline float sigmoid_of(float x) { return 1.0F / (1.0F + std::exp(-x)); }

[[nodiscard]] std::unique_ptr<Kernel> make_lstm_backward(const OpReader& op);
[[nodiscard]] std::unique_ptr<Kernel> make_gru_backward(const OpReader& op);
[[nodiscard]] std::unique_ptr<Kernel> make_rnn_backward(const OpReader& op);

}  // namespace poet::runtime
