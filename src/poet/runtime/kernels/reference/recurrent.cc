// lstm, gru and rnn: the equations of ONNX's operators of these names. The products with x of all steps are
// one; those with the hidden state follow each other.

#include "poet/runtime/kernels/reference/recurrent.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "poet/runtime/kernels/reference/families.h"

namespace poet::runtime {
namespace {

/// The inputs of a layer, by position; -1: not there.
struct Layer {
  RecurrentSizes sizes;
  int h0 = -1, c0 = -1, bias = -1;

  Layer(const OpReader& op, Index gates, Index kept, bool has_cells) : sizes(op, op.out(0), gates, kept) {
    sizes.inputs = op.in(0)[2];
    int next = 3;
    if (op.has("initial_state")) {
      h0 = next++;
      if (has_cells) c0 = next++;
    }
    if (static_cast<std::size_t>(next) < op.inputs()) bias = next;
  }

  /// What a run multiplies with, and the pointers of one direction.
  [[nodiscard]] const float* optional(const KernelCall& call, int i, Index offset) const {
    return i < 0 ? nullptr : input(call, static_cast<std::size_t>(i)) + offset;
  }
  [[nodiscard]] Bytes panel() const {
    return std::max(gemm::workspace(sizes.rows(), sizes.inputs), gemm::workspace(sizes.rows(), sizes.hidden));
  }
};

/// One direction of a layer at work.
struct DirectionPass {
  const RecurrentSizes& sizes;
  Index d;
  const float* weight_hh;
  const float* bias_x;  // null: none
  const float* bias_h;
  const float* h0;
  const float* c0;
  float* panel;

  DirectionPass(const Layer& l, const KernelCall& call, Index direction)
      : sizes(l.sizes),
        d(direction),
        weight_hh(input(call, 2) + d * sizes.rows() * sizes.hidden),
        bias_x(l.optional(call, l.bias, d * 2 * sizes.rows())),
        bias_h(bias_x == nullptr ? nullptr : bias_x + sizes.rows()),
        h0(l.optional(call, l.h0, d * sizes.batch * sizes.hidden)),
        c0(l.optional(call, l.c0, d * sizes.batch * sizes.hidden)),
        panel(static_cast<float*>(call.workspace)) {}

  /// The product of weight_ih with x of all steps, with its bias, into `to`: (S, D, N, width).
  void from_x(const KernelCall& call, float* to, Index width) const {
    const RecurrentSizes& s = sizes;
    const float* weight = input(call, 1) + d * s.rows() * s.inputs;
    multiply_transposed(
        s.steps * s.batch, s.rows(), s.inputs, {input(call, 0), s.inputs}, weight, bias_x, false, to,
        [&s, width, direction = d](Index row) {
          return s.at(row / s.batch, direction, width) + row % s.batch * width;
        },
        panel);
  }

  /// Rows [first, first + count) of weight_hh times a state (null: zero) into to: (N, stride), without
  /// bias.
  void from_h(const float* h, Index first, Index count, bool add, float* to, Index stride) const {
    if (h == nullptr) {
      for (Index n = 0; !add && n < sizes.batch; ++n) std::fill_n(to + n * stride, count, 0.0F);
      return;
    }
    multiply_transposed(
        sizes.batch, count, sizes.hidden, {h, sizes.hidden}, weight_hh + first * sizes.hidden, nullptr, add,
        to, [stride](Index n) { return n * stride; }, panel);
  }

  [[nodiscard]] float bias(Index row) const { return bias_h == nullptr ? 0.0F : bias_h[row]; }
  /// The state before the k-th step.
  [[nodiscard]] const float* before(const float* states, const float* initial, Index k) const {
    return k == 0 ? initial : states + sizes.at(sizes.position(d, k - 1), d, sizes.hidden);
  }
};

std::unique_ptr<Kernel> lstm(const OpReader& op) {
  const Layer layer(op, 4, 4, true);
  return loop_kernel(
      [layer](const KernelCall& call) {
        const RecurrentSizes& s = layer.sizes;
        const Index hidden = s.hidden;
        for (Index d = 0; d < s.directions; ++d) {
          const DirectionPass pass(layer, call, d);
          pass.from_x(call, output(call, 2), s.kept);
          for (Index k = 0; k < s.steps; ++k) {
            const Index position = s.position(d, k);
            float* gates = output(call, 2) + s.at(position, d, s.kept);
            pass.from_h(pass.before(output(call, 0), pass.h0, k), 0, s.rows(), true, gates, s.kept);
            const float* cell_before = pass.before(output(call, 1), pass.c0, k);
            for (Index n = 0; n < s.batch; ++n) {
              float* gate = gates + n * s.kept;
              float* y = output(call, 0) + s.at(position, d, hidden) + n * hidden;
              float* cell = output(call, 1) + s.at(position, d, hidden) + n * hidden;
              for (Index h = 0; h < hidden; ++h) {
                const float i = sigmoid_of(gate[h] + pass.bias(h));
                const float o = sigmoid_of(gate[hidden + h] + pass.bias(hidden + h));
                const float f = sigmoid_of(gate[2 * hidden + h] + pass.bias(2 * hidden + h));
                const float g = std::tanh(gate[3 * hidden + h] + pass.bias(3 * hidden + h));
                const float old = cell_before == nullptr ? 0.0F : cell_before[n * hidden + h];
                cell[h] = f * old + i * g;
                y[h] = o * std::tanh(cell[h]);
                gate[h] = i;
                gate[hidden + h] = o;
                gate[2 * hidden + h] = f;
                gate[3 * hidden + h] = g;
              }
            }
          }
        }
      },
      layer.panel());
}

/// Gates z, r and candidate; with `linear_before_reset` the candidate's product with the state is kept, too.
std::unique_ptr<Kernel> gru(const OpReader& op) {
  const bool linear_first = op.integer("linear_before_reset") != 0;
  const Layer layer(op, 3, linear_first ? 4 : 3, false);
  const Bytes panel = rounded_up(layer.panel(), Bytes(64));
  const Bytes reset_states(layer.sizes.batch * layer.sizes.hidden * static_cast<Index>(sizeof(float)));
  return loop_kernel(
      [=](const KernelCall& call) {
        const RecurrentSizes& s = layer.sizes;
        const Index hidden = s.hidden;
        auto* reset = reinterpret_cast<float*>(static_cast<std::byte*>(call.workspace) + panel.value());
        for (Index d = 0; d < s.directions; ++d) {
          const DirectionPass pass(layer, call, d);
          pass.from_x(call, output(call, 1), s.kept);
          for (Index k = 0; k < s.steps; ++k) {
            const Index position = s.position(d, k);
            float* gates = output(call, 1) + s.at(position, d, s.kept);
            const float* before = pass.before(output(call, 0), pass.h0, k);
            pass.from_h(before, 0, 2 * hidden, true, gates, s.kept);
            for (Index n = 0; n < s.batch; ++n) {
              float* gate = gates + n * s.kept;
              for (Index h = 0; h < 2 * hidden; ++h) gate[h] = sigmoid_of(gate[h] + pass.bias(h));
              for (Index h = 0; h < hidden; ++h) {
                const float old = before == nullptr ? 0.0F : before[n * hidden + h];
                reset[n * hidden + h] = gate[hidden + h] * old;
              }
            }
            if (linear_first) {
              pass.from_h(before, 2 * hidden, hidden, false, gates + 3 * hidden, s.kept);
            } else {
              pass.from_h(reset, 2 * hidden, hidden, true, gates + 2 * hidden, s.kept);
            }
            for (Index n = 0; n < s.batch; ++n) {
              float* gate = gates + n * s.kept;
              float* y = output(call, 0) + s.at(position, d, hidden) + n * hidden;
              for (Index h = 0; h < hidden; ++h) {
                float sum = gate[2 * hidden + h];
                if (linear_first) {
                  float& product = gate[3 * hidden + h];
                  product += pass.bias(2 * hidden + h);
                  sum += gate[hidden + h] * product;
                } else {
                  sum += pass.bias(2 * hidden + h);
                }
                const float candidate = std::tanh(sum);
                const float old = before == nullptr ? 0.0F : before[n * hidden + h];
                gate[2 * hidden + h] = candidate;
                y[h] = (1.0F - gate[h]) * candidate + gate[h] * old;
              }
            }
          }
        }
      },
      panel + reset_states);
}

std::unique_ptr<Kernel> rnn(const OpReader& op) {
  const bool relu = op.text("activation") == "relu";
  const Layer layer(op, 1, 0, false);
  return loop_kernel(
      [=](const KernelCall& call) {
        const RecurrentSizes& s = layer.sizes;
        for (Index d = 0; d < s.directions; ++d) {
          const DirectionPass pass(layer, call, d);
          pass.from_x(call, output(call, 0), s.hidden);
          for (Index k = 0; k < s.steps; ++k) {
            float* y = output(call, 0) + s.at(s.position(d, k), d, s.hidden);
            pass.from_h(pass.before(output(call, 0), pass.h0, k), 0, s.hidden, true, y, s.hidden);
            for (Index n = 0; n < s.batch; ++n) {
              for (Index h = 0; h < s.hidden; ++h) {
                float& at = y[n * s.hidden + h];
                const float sum = at + pass.bias(h);
                at = !relu ? std::tanh(sum) : sum < 0.0F ? 0.0F : sum;
              }
            }
          }
        }
      },
      layer.panel());
}

}  // namespace

void add_recurrent_kernels(ReferenceTable& table) {
  table["lstm"] = {lstm};
  table["lstm_backward"] = {make_lstm_backward};
  table["gru"] = {gru};
  table["gru_backward"] = {make_gru_backward};
  table["rnn"] = {rnn};
  table["rnn_backward"] = {make_rnn_backward};
}

}  // namespace poet::runtime
