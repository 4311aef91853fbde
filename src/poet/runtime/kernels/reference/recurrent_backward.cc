// The gradients of lstm, gru and rnn, from the last step to the first: the gradient of every gate's sum, then
// its products with what the gate multiplied.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "poet/runtime/kernels/reference/recurrent.h"

namespace poet::runtime {
namespace {

float sigmoid_slope(float y) { return y * (1.0F - y); }
float tanh_slope(float y) { return 1.0F - y * y; }

/// Positions of what a backward op reads and writes; -1: not there. Operands that only some gradients need
/// are there where those are written (docs/operators.md).
struct Gradients {
  int dy[2] = {-1, -1};
  int x = -1, weight_ih = -1, weight_hh = -1, h0 = -1, c0 = -1, y = -1, cells = -1, gates = -1;
  int dx = -1, dih = -1, dhh = -1, dh0 = -1, dc0 = -1, dbias = -1;

  enum class Kind { lstm, gru, rnn };

  Gradients(const OpReader& op, Kind kind) {
    const bool has_state = op.has("initial_state");
    const bool has_cells = kind == Kind::lstm;
    const std::vector<Index> all = {0, 1, 2, 3, 4, 5};
    dx = op.gradient(0, all);
    dih = op.gradient(1, all);
    dhh = op.gradient(2, all);
    if (has_state) dh0 = op.gradient(3, all);
    if (has_state && has_cells) dc0 = op.gradient(4, all);
    dbias = op.gradient(!has_state ? 3 : has_cells ? 5 : 4, all);
    int next = 0;
    std::vector<Index> arrived = {0};
    if (has_cells) arrived.push_back(1);
    if (op.has("output_gradients")) arrived = op.list("output_gradients");
    for (const Index i : arrived) dy[i] = next++;
    if (dih >= 0) x = next++;
    if (dx >= 0) weight_ih = next++;
    weight_hh = next++;
    if (has_state && (kind == Kind::gru || dhh >= 0)) h0 = next++;
    if (has_state && has_cells) c0 = next++;
    if (!has_cells || dhh >= 0) y = next++;
    if (has_cells) cells = next++;
    if (kind != Kind::rnn) gates = next++;
  }
};

const float* in_or_null(const KernelCall& call, int i, Index offset = 0) {
  return i < 0 ? nullptr : input(call, static_cast<std::size_t>(i)) + offset;
}
float* out_or_null(const KernelCall& call, int i, Index offset = 0) {
  return i < 0 ? nullptr : output(call, static_cast<std::size_t>(i)) + offset;
}

/// The workspace: matrices of a step's gradients, the sums of the bias's, and the panel of the products.
struct Scratch {
  Index batch = 0, rows = 0, hidden = 0;
  Bytes panel;

  [[nodiscard]] Index of_gates() const { return batch * rows; }
  [[nodiscard]] Index of_state() const { return batch * hidden; }
  [[nodiscard]] Bytes size() const {
    const Bytes sums(2 * rows * static_cast<Index>(sizeof(double)));
    const Bytes matrices((2 * of_gates() + 3 * of_state()) * static_cast<Index>(sizeof(float)));
    return rounded_up(panel, Bytes(64)) + sums + matrices;
  }
};

struct Buffers {
  float* panel;
  double* bias;    // two halves
  float* gates_x;  // of the sums, as weight_ih's products take part in them: (N, rows)
  float* gates_h;  // as weight_hh's do; where they are the same not used
  float* dh;       // of the state that is left behind: (N, H)
  float* dc;       // of the cells, or of the reset state
  float* state;    // a state that is found again

  Buffers(const Scratch& s, void* workspace) {
    auto* at = static_cast<std::byte*>(workspace);
    panel = reinterpret_cast<float*>(at);
    at += rounded_up(s.panel, Bytes(64)).value();
    bias = reinterpret_cast<double*>(at);
    gates_x = reinterpret_cast<float*>(bias + 2 * s.rows);
    gates_h = gates_x + s.of_gates();
    dh = gates_h + s.of_gates();
    dc = dh + s.of_state();
    state = dc + s.of_state();
  }
};

/// A layer's backward pass, one direction at a time.
struct LayerBackward {
  RecurrentSizes sizes;
  Gradients at;
  Scratch scratch;

  LayerBackward(const OpReader& op, Gradients::Kind kind, const Shape& states, Index gates, Index kept)
      : sizes(op, states, gates, kept), at(op, kind) {
    if (at.dx >= 0) sizes.inputs = op.out(static_cast<std::size_t>(at.dx))[2];
    if (at.dih >= 0) sizes.inputs = op.out(static_cast<std::size_t>(at.dih))[2];
    scratch = {sizes.batch, sizes.rows(), sizes.hidden, Bytes(0)};
    for (const Index columns : {sizes.inputs, sizes.hidden}) {
      for (const Index depth : {sizes.rows(), sizes.batch}) {
        scratch.panel = std::max(scratch.panel, gemm::workspace(columns, depth));
      }
    }
  }

  void begin(const KernelCall& call, Index d, const Buffers& b) const {
    std::fill_n(b.bias, 2 * sizes.rows(), 0.0);
    std::fill_n(b.dh, scratch.of_state(), 0.0F);
    std::fill_n(b.dc, scratch.of_state(), 0.0F);
    if (float* dih = dih_of(call, d)) std::fill_n(dih, sizes.rows() * sizes.inputs, 0.0F);
    if (float* dhh = dhh_of(call, d)) std::fill_n(dhh, sizes.rows() * sizes.hidden, 0.0F);
  }

  /// The gradient of the sums (N, rows) at a position reaches x, weight_ih and the bias's first half.
  void into_x(const KernelCall& call, Index d, Index position, const Buffers& b) const {
    const Index inputs = sizes.inputs;
    const StridedRows gates{b.gates_x, sizes.rows()};
    if (float* dx = out_or_null(call, at.dx, position * sizes.batch * inputs)) {
      multiply_rows(sizes.batch, inputs, sizes.rows(), gates,
                    in_or_null(call, at.weight_ih, d * sizes.rows() * inputs), d > 0, dx, inputs, b.panel);
    }
    if (float* dih = dih_of(call, d)) {
      add_transposed_product(sizes.rows(), inputs, sizes.batch, gates,
                             {in_or_null(call, at.x, position * sizes.batch * inputs), inputs}, dih, b.panel);
    }
    if (at.dbias >= 0) add_to_bias(b.gates_x, b.bias);
  }

  void add_to_bias(const float* gates, double* sum) const {
    for (Index n = 0; n < sizes.batch; ++n) {
      for (Index r = 0; r < sizes.rows(); ++r) sum[r] += static_cast<double>(gates[n * sizes.rows() + r]);
    }
  }

  /// Gates [first, first + count) of `gates` (N, rows) reach the rows of weight_hh, given the state `h` that
  /// they multiplied (null: zero), and `dh`, its gradient.
  void into_h(const KernelCall& call, Index d, const float* gates, Index first, Index count, const float* h,
              bool add, float* dh, const Buffers& b) const {
    const Index hidden = sizes.hidden;
    const StridedRows some{gates + first, sizes.rows()};
    multiply_rows(sizes.batch, hidden, count, some,
                  in_or_null(call, at.weight_hh, (d * sizes.rows() + first) * hidden), add, dh, hidden,
                  b.panel);
    float* dhh = dhh_of(call, d);
    if (dhh != nullptr && h != nullptr) {
      add_transposed_product(count, hidden, sizes.batch, some, {h, hidden}, dhh + first * hidden, b.panel);
    }
  }

  void end(const KernelCall& call, Index d, const Buffers& b) const {
    const Index state = scratch.of_state();
    if (float* dh0 = out_or_null(call, at.dh0, d * state)) std::copy_n(b.dh, state, dh0);
    if (float* dc0 = out_or_null(call, at.dc0, d * state)) std::copy_n(b.dc, state, dc0);
    if (float* dbias = out_or_null(call, at.dbias, d * 2 * sizes.rows())) {
      for (Index i = 0; i < 2 * sizes.rows(); ++i) dbias[i] = static_cast<float>(b.bias[i]);
    }
  }

  /// The states before the k-th step, in a tensor of all and an initial one.
  [[nodiscard]] const float* before(const KernelCall& call, int all, int initial, Index d, Index k) const {
    if (k == 0) return in_or_null(call, initial, d * scratch.of_state());
    return in_or_null(call, all, sizes.at(sizes.position(d, k - 1), d, sizes.hidden));
  }

 private:
  [[nodiscard]] float* dih_of(const KernelCall& call, Index d) const {
    return out_or_null(call, at.dih, d * sizes.rows() * sizes.inputs);
  }
  [[nodiscard]] float* dhh_of(const KernelCall& call, Index d) const {
    return out_or_null(call, at.dhh, d * sizes.rows() * sizes.hidden);
  }
};

/// Runs `step(direction, k, buffers)` for every step of every direction, last first.
template <class Step>
std::unique_ptr<Kernel> through_time(const LayerBackward& plan, const Step& step) {
  return loop_kernel(
      [plan, step](const KernelCall& call) {
        const Buffers b(plan.scratch, call.workspace);
        for (Index d = 0; d < plan.sizes.directions; ++d) {
          plan.begin(call, d, b);
          for (Index k = plan.sizes.steps; k-- > 0;) step(plan, call, d, k, b);
          plan.end(call, d, b);
        }
      },
      plan.scratch.size());
}

float value_or_zero(const float* at, Index i) { return at == nullptr ? 0.0F : at[i]; }

void lstm_step(const LayerBackward& plan, const KernelCall& call, Index d, Index k, const Buffers& b) {
  const RecurrentSizes& s = plan.sizes;
  const Index hidden = s.hidden;
  const Index position = s.position(d, k);
  const Index here = s.at(position, d, hidden);
  const float* dy = in_or_null(call, plan.at.dy[0], here);
  const float* dcells = in_or_null(call, plan.at.dy[1], here);
  const float* cells = in_or_null(call, plan.at.cells, here);
  const float* gates = in_or_null(call, plan.at.gates, s.at(position, d, s.kept));
  const float* cells_before = plan.before(call, plan.at.cells, plan.at.c0, d, k);
  for (Index n = 0; n < s.batch; ++n) {
    const float* gate = gates + n * s.kept;
    float* sums = b.gates_x + n * s.rows();
    for (Index h = 0; h < hidden; ++h) {
      const Index e = n * hidden + h;
      const float i = gate[h];
      const float o = gate[hidden + h];
      const float f = gate[2 * hidden + h];
      const float g = gate[3 * hidden + h];
      const float squashed = std::tanh(cells[e]);
      const float dh = b.dh[e] + value_or_zero(dy, e);
      const float dc = b.dc[e] + value_or_zero(dcells, e) + dh * o * tanh_slope(squashed);
      sums[h] = dc * g * sigmoid_slope(i);
      sums[hidden + h] = dh * squashed * sigmoid_slope(o);
      sums[2 * hidden + h] = dc * value_or_zero(cells_before, e) * sigmoid_slope(f);
      sums[3 * hidden + h] = dc * i * tanh_slope(g);
      b.dc[e] = dc * f;
    }
  }
  plan.into_x(call, d, position, b);
  const float* before = plan.before(call, plan.at.y, plan.at.h0, d, k);
  plan.into_h(call, d, b.gates_x, 0, s.rows(), before, false, b.dh, b);
  if (plan.at.dbias >= 0) plan.add_to_bias(b.gates_x, b.bias + s.rows());
}

template <bool linear_first>
void gru_step(const LayerBackward& plan, const KernelCall& call, Index d, Index k, const Buffers& b) {
  const RecurrentSizes& s = plan.sizes;
  const Index hidden = s.hidden;
  const Index position = s.position(d, k);
  const float* dy = in_or_null(call, plan.at.dy[0], s.at(position, d, hidden));
  const float* gates = in_or_null(call, plan.at.gates, s.at(position, d, s.kept));
  const float* before = plan.before(call, plan.at.y, plan.at.h0, d, k);
  // Everything but the reset gate, whose gradient comes through the candidate's product.
  for (Index n = 0; n < s.batch; ++n) {
    const float* gate = gates + n * s.kept;
    float* of_x = b.gates_x + n * s.rows();
    float* of_h = b.gates_h + n * s.rows();
    for (Index h = 0; h < hidden; ++h) {
      const Index e = n * hidden + h;
      const float z = gate[h];
      const float r = gate[hidden + h];
      const float candidate = gate[2 * hidden + h];
      const float old = value_or_zero(before, e);
      const float dh = b.dh[e] + value_or_zero(dy, e);
      const float dz = dh * (old - candidate) * sigmoid_slope(z);
      const float dn = dh * (1.0F - z) * tanh_slope(candidate);
      of_x[h] = of_h[h] = dz;
      of_x[2 * hidden + h] = dn;
      of_h[2 * hidden + h] = linear_first ? dn * r : dn;
      if (linear_first) of_x[hidden + h] = dn * gate[3 * hidden + h] * sigmoid_slope(r);
      b.dh[e] = dh * z;
      b.state[e] = r * old;
    }
  }
  const Index last = 2 * hidden;
  if (!linear_first) {
    // The candidate's product is with the reset state.
    plan.into_h(call, d, b.gates_h, last, hidden, b.state, false, b.dc, b);
    for (Index n = 0; n < s.batch; ++n) {
      for (Index h = 0; h < hidden; ++h) {
        const Index e = n * hidden + h;
        const float r = gates[n * s.kept + hidden + h];
        b.gates_x[n * s.rows() + hidden + h] = b.dc[e] * value_or_zero(before, e) * sigmoid_slope(r);
        b.dh[e] += b.dc[e] * r;
      }
    }
  }
  for (Index n = 0; n < s.batch; ++n) {
    std::copy_n(b.gates_x + n * s.rows() + hidden, hidden, b.gates_h + n * s.rows() + hidden);
  }
  plan.into_x(call, d, position, b);
  plan.into_h(call, d, b.gates_h, 0, linear_first ? s.rows() : last, before, true, b.dh, b);
  if (plan.at.dbias >= 0) plan.add_to_bias(b.gates_h, b.bias + s.rows());
}

template <bool relu>
void rnn_step(const LayerBackward& plan, const KernelCall& call, Index d, Index k, const Buffers& b) {
  const RecurrentSizes& s = plan.sizes;
  const Index position = s.position(d, k);
  const Index here = s.at(position, d, s.hidden);
  const float* dy = in_or_null(call, plan.at.dy[0], here);
  const float* y = in_or_null(call, plan.at.y, here);
  for (Index e = 0; e < s.batch * s.hidden; ++e) {
    const float slope = !relu ? tanh_slope(y[e]) : y[e] > 0.0F ? 1.0F : 0.0F;
    b.gates_x[e] = (b.dh[e] + value_or_zero(dy, e)) * slope;
  }
  plan.into_x(call, d, position, b);
  const float* before = plan.before(call, plan.at.y, plan.at.h0, d, k);
  plan.into_h(call, d, b.gates_x, 0, s.rows(), before, false, b.dh, b);
  if (plan.at.dbias >= 0) plan.add_to_bias(b.gates_x, b.bias + s.rows());
}

const Shape& input_shape(const OpReader& op, int i) { return op.in(static_cast<std::size_t>(i)); }

}  // namespace

std::unique_ptr<Kernel> make_lstm_backward(const OpReader& op) {
  const Gradients at(op, Gradients::Kind::lstm);
  return through_time(LayerBackward(op, Gradients::Kind::lstm, input_shape(op, at.cells), 4, 4), lstm_step);
}

std::unique_ptr<Kernel> make_gru_backward(const OpReader& op) {
  const Gradients at(op, Gradients::Kind::gru);
  const Shape& states = input_shape(op, at.y);
  if (op.integer("linear_before_reset") != 0) {
    return through_time(LayerBackward(op, Gradients::Kind::gru, states, 3, 4), gru_step<true>);
  }
  return through_time(LayerBackward(op, Gradients::Kind::gru, states, 3, 3), gru_step<false>);
}

std::unique_ptr<Kernel> make_rnn_backward(const OpReader& op) {
  const Gradients at(op, Gradients::Kind::rnn);
  const LayerBackward plan(op, Gradients::Kind::rnn, input_shape(op, at.y), 1, 0);
  return op.text("activation") == "relu" ? through_time(plan, rnn_step<true>)
                                         : through_time(plan, rnn_step<false>);
}

}  // namespace poet::runtime
