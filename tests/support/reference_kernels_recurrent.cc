// Reference kernels of lstm, gru and rnn: the equations of the ONNX specification, step by step.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>

#include "tests/support/reference_call.h"

namespace poet::reference {
namespace {

double logistic(double x) { return 1.0 / (1.0 + std::exp(-x)); }
double sigmoid_slope(double y) { return y * (1.0 - y); }
double tanh_slope(double y) { return 1.0 - y * y; }

const std::string& text(const Call& c, const char* name) {
  return std::get<std::string>(c.op.attributes.at(name));
}

/// Sizes, and where things are in (S, D, N, width), (D, N, H), (D, rows, columns).
struct Sizes {
  Index steps, directions, batch, hidden;

  explicit Sizes(const Array& states)
      : steps(dim(states, 0)), directions(dim(states, 1)), batch(dim(states, 2)), hidden(dim(states, 3)) {}

  /// Element k of sample n's vector.
  [[nodiscard]] Index of_step(Index s, Index d, Index n, Index width, Index k) const {
    return ((s * directions + d) * batch + n) * width + k;
  }
  [[nodiscard]] Index of_state(Index d, Index n, Index k) const { return (d * batch + n) * hidden + k; }
};

/// One sequence: a direction of a sample, in the order in which the layer goes through it.
struct Sequence {
  const Sizes& sizes;
  Index d, n;
  bool reverse;

  [[nodiscard]] Index position(Index k) const { return reverse ? sizes.steps - 1 - k : k; }
  /// The states before step k: `all` one step earlier, or the initial ones, or zeros.
  [[nodiscard]] double before(const Array& all, const Array* initial, Index k, Index h) const {
    if (k > 0) return at(all, sizes.of_step(position(k - 1), d, n, sizes.hidden, h));
    return initial == nullptr ? 0.0 : at(*initial, sizes.of_state(d, n, h));
  }
};

template <class F>
void for_each_sequence(const Call& c, const Sizes& sizes, const F& f) {
  for (Index d = 0; d < sizes.directions; ++d) {
    const bool reverse = text(c, "direction") == "reverse" || d == 1;
    for (Index n = 0; n < sizes.batch; ++n) f(Sequence{sizes, d, n, reverse});
  }
}

/// The forward op's inputs: x, weights, initial states, bias.
struct Inputs {
  const Array& x;
  const Array& ih;
  const Array& hh;
  const Array* h0 = nullptr;
  const Array* c0 = nullptr;
  const Array* bias = nullptr;

  Inputs(const Call& c, bool has_cells) : x(c.in[0]), ih(c.in[1]), hh(c.in[2]) {
    std::size_t next = 3;
    if (c.op.attributes.count("initial_state") == 1) {
      h0 = &c.in[next++];
      if (has_cells) c0 = &c.in[next++];
    }
    if (next < c.in.size()) bias = &c.in[next];
  }

  /// Row `row` of weight_ih times x at position s, with its bias.
  [[nodiscard]] double from_x(const Sequence& q, Index s, Index row) const {
    const Index width = dim(x, 2);
    double sum = bias == nullptr ? 0.0 : at(*bias, q.d * dim(*bias, 1) + row);
    for (Index i = 0; i < width; ++i) {
      sum += at(ih, (q.d * dim(ih, 1) + row) * width + i) * at(x, (s * q.sizes.batch + q.n) * width + i);
    }
    return sum;
  }
  /// Row `row` of weight_hh times a hidden state, with its bias.
  [[nodiscard]] double from_h(const Sequence& q, const std::vector<double>& h, Index row) const {
    const Index width = q.sizes.hidden;
    double sum = bias == nullptr ? 0.0 : at(*bias, q.d * dim(*bias, 1) + dim(ih, 1) + row);
    for (Index i = 0; i < width; ++i) {
      sum += at(hh, (q.d * dim(hh, 1) + row) * width + i) * h[static_cast<std::size_t>(i)];
    }
    return sum;
  }
};

std::vector<double> state_before(const Sequence& q, const Array& all, const Array* initial, Index k) {
  std::vector<double> state;
  for (Index h = 0; h < q.sizes.hidden; ++h) state.push_back(q.before(all, initial, k, h));
  return state;
}

void lstm(Call& c) {
  const Inputs in(c, true);
  const Sizes sizes(c.out[0]);
  const Index hidden = sizes.hidden;
  for_each_sequence(c, sizes, [&](const Sequence& q) {
    for (Index k = 0; k < sizes.steps; ++k) {
      const Index s = q.position(k);
      const std::vector<double> before = state_before(q, c.out[0], in.h0, k);
      for (Index h = 0; h < hidden; ++h) {
        const auto gate = [&](Index g) {
          return in.from_x(q, s, g * hidden + h) + in.from_h(q, before, g * hidden + h);
        };
        const double i = logistic(gate(0));
        const double o = logistic(gate(1));
        const double f = logistic(gate(2));
        const double g = std::tanh(gate(3));
        const double cell = f * q.before(c.out[1], in.c0, k, h) + i * g;
        at(c.out[0].data, sizes.of_step(s, q.d, q.n, hidden, h)) = o * std::tanh(cell);
        at(c.out[1].data, sizes.of_step(s, q.d, q.n, hidden, h)) = cell;
        const double gates[] = {i, o, f, g};
        for (Index j = 0; j < 4; ++j)
          at(c.out[2].data, sizes.of_step(s, q.d, q.n, 4 * hidden, j * hidden + h)) = gates[j];
      }
    }
  });
}

void gru(Call& c) {
  const Inputs in(c, false);
  const Sizes sizes(c.out[0]);
  const Index hidden = sizes.hidden;
  const bool linear_first = c.integer("linear_before_reset") != 0;
  const Index kept = dim(c.out[1], 3);
  for_each_sequence(c, sizes, [&](const Sequence& q) {
    for (Index k = 0; k < sizes.steps; ++k) {
      const Index s = q.position(k);
      const std::vector<double> before = state_before(q, c.out[0], in.h0, k);
      const auto keep = [&](Index j, Index h, double value) {
        at(c.out[1].data, sizes.of_step(s, q.d, q.n, kept, j * hidden + h)) = value;
      };
      std::vector<double> z;
      std::vector<double> r;
      std::vector<double> reset;
      for (Index h = 0; h < hidden; ++h) {
        z.push_back(logistic(in.from_x(q, s, h) + in.from_h(q, before, h)));
        r.push_back(logistic(in.from_x(q, s, hidden + h) + in.from_h(q, before, hidden + h)));
        keep(0, h, z.back());
        keep(1, h, r.back());
        reset.push_back(r.back() * before[static_cast<std::size_t>(h)]);
      }
      for (Index h = 0; h < hidden; ++h) {
        const double product = in.from_h(q, linear_first ? before : reset, 2 * hidden + h);
        const double n =
            std::tanh(in.from_x(q, s, 2 * hidden + h) + (linear_first ? at(r, h) : 1.0) * product);
        keep(2, h, n);
        if (linear_first) keep(3, h, product);
        at(c.out[0].data, sizes.of_step(s, q.d, q.n, hidden, h)) =
            (1.0 - at(z, h)) * n + at(z, h) * before[static_cast<std::size_t>(h)];
      }
    }
  });
}

void rnn(Call& c) {
  const Inputs in(c, false);
  const Sizes sizes(c.out[0]);
  const bool relu = text(c, "activation") == "relu";
  for_each_sequence(c, sizes, [&](const Sequence& q) {
    for (Index k = 0; k < sizes.steps; ++k) {
      const Index s = q.position(k);
      const std::vector<double> before = state_before(q, c.out[0], in.h0, k);
      for (Index h = 0; h < sizes.hidden; ++h) {
        const double sum = in.from_x(q, s, h) + in.from_h(q, before, h);
        at(c.out[0].data, sizes.of_step(s, q.d, q.n, sizes.hidden, h)) =
            relu ? std::max(sum, 0.0) : std::tanh(sum);
      }
    }
  });
}

/// What a backward op reads and writes: the operands that only some gradients need are there where those are
/// written.
struct Backward {
  Call& c;
  bool has_state;
  std::size_t next = 0;
  std::vector<const Array*> dy;  // of the outputs 0 and 1; null: none has arrived
  const Array* x = nullptr;
  const Array* ih = nullptr;
  const Array* hh = nullptr;
  const Array* h0 = nullptr;
  Array* dx = nullptr;
  Array* dih = nullptr;
  Array* dhh = nullptr;
  Array* dh0 = nullptr;
  Array* dc0 = nullptr;
  Array* dbias = nullptr;

  Backward(Call& call, bool has_cells, bool state_always)
      : c(call), has_state(call.op.attributes.count("initial_state") == 1), dy(2, nullptr) {
    const Index states = !has_state ? 0 : has_cells ? 2 : 1;
    const std::vector<Index> all = {0, 1, 2, 3, 4, 5};
    dx = c.gradient(0, all);
    dih = c.gradient(1, all);
    dhh = c.gradient(2, all);
    if (has_state) dh0 = c.gradient(3, all);
    if (states == 2) dc0 = c.gradient(4, all);
    dbias = c.gradient(3 + states, all);
    std::vector<Index> arrived = {0};
    if (has_cells) arrived.push_back(1);
    if (c.op.attributes.count("output_gradients") == 1) arrived = c.list("output_gradients");
    for (const Index output : arrived) dy.at(static_cast<std::size_t>(output)) = take();
    if (dih != nullptr) x = take();
    if (dx != nullptr) ih = take();
    hh = take();
    if (has_state && (state_always || dhh != nullptr)) h0 = take();
  }

  const Array* take() { return &c.in.at(next++); }

  [[nodiscard]] double arriving(std::size_t output, Index element) const {
    return dy[output] == nullptr ? 0.0 : at(*dy[output], element);
  }

  /// The gradient of row `row`'s sum at position s reaches x, weight_ih and its bias.
  void into_x(const Sequence& q, Index s, Index rows, Index row, double d) const {
    if (dbias != nullptr) at(dbias->data, q.d * 2 * rows + row) += d;
    const Index width = dx != nullptr ? dim(*dx, 2) : dih != nullptr ? dim(*dih, 2) : 0;
    for (Index i = 0; i < width; ++i) {
      const Index of_x = (s * q.sizes.batch + q.n) * width + i;
      const Index of_weight = (q.d * rows + row) * width + i;
      if (dx != nullptr) at(dx->data, of_x) += d * at(*ih, of_weight);
      if (dih != nullptr) at(dih->data, of_weight) += d * at(*x, of_x);
    }
  }
  /// That of a row of weight_hh reaches `dh`, the gradient of the state that it multiplied, weight_hh and its
  /// bias. `h`: that state, there when weight_hh trains.
  void into_h(const Sequence& q, const std::vector<double>& h, Index rows, Index row, double d,
              std::vector<double>& dh) const {
    if (dbias != nullptr) at(dbias->data, q.d * 2 * rows + rows + row) += d;
    const Index width = q.sizes.hidden;
    for (Index i = 0; i < width; ++i) {
      const Index of_weight = (q.d * rows + row) * width + i;
      at(dh, i) += d * at(*hh, of_weight);
      if (dhh != nullptr) at(dhh->data, of_weight) += d * h[static_cast<std::size_t>(i)];
    }
  }
  static void leave(const Sequence& q, Array* state, const std::vector<double>& d) {
    if (state == nullptr) return;
    for (Index h = 0; h < q.sizes.hidden; ++h)
      at(state->data, q.sizes.of_state(q.d, q.n, h)) = d[static_cast<std::size_t>(h)];
  }
};

void lstm_backward(Call& c) {
  Backward b(c, true, false);
  const Array* c0 = b.has_state ? b.take() : nullptr;
  const Array* y = b.dhh != nullptr ? b.take() : nullptr;
  const Array& cells = *b.take();
  const Array& gates = *b.take();
  const Sizes sizes(cells);
  const Index hidden = sizes.hidden;
  for_each_sequence(c, sizes, [&](const Sequence& q) {
    std::vector<double> dh(static_cast<std::size_t>(hidden), 0.0);
    std::vector<double> dc(static_cast<std::size_t>(hidden), 0.0);
    for (Index k = sizes.steps; k-- > 0;) {
      const Index s = q.position(k);
      std::vector<double> before(static_cast<std::size_t>(hidden), 0.0);
      if (y != nullptr) before = state_before(q, *y, b.h0, k);
      std::vector<double> dh_before(static_cast<std::size_t>(hidden), 0.0);
      for (Index h = 0; h < hidden; ++h) {
        const auto gate = [&](Index j) {
          return at(gates, sizes.of_step(s, q.d, q.n, 4 * hidden, j * hidden + h));
        };
        const double i = gate(0);
        const double o = gate(1);
        const double f = gate(2);
        const double g = gate(3);
        const Index here = sizes.of_step(s, q.d, q.n, hidden, h);
        const double squashed = std::tanh(at(cells, here));
        const double d_h = at(dh, h) + b.arriving(0, here);
        const double d_c = at(dc, h) + b.arriving(1, here) + d_h * o * tanh_slope(squashed);
        const double d_sum[] = {d_c * g * sigmoid_slope(i), d_h * squashed * sigmoid_slope(o),
                                d_c * q.before(cells, c0, k, h) * sigmoid_slope(f), d_c * i * tanh_slope(g)};
        for (Index j = 0; j < 4; ++j) {
          b.into_x(q, s, 4 * hidden, j * hidden + h, d_sum[j]);
          b.into_h(q, before, 4 * hidden, j * hidden + h, d_sum[j], dh_before);
        }
        at(dc, h) = d_c * f;
      }
      dh = dh_before;
    }
    Backward::leave(q, b.dh0, dh);
    Backward::leave(q, b.dc0, dc);
  });
}

void gru_backward(Call& c) {
  Backward b(c, false, true);
  const Array& y = *b.take();
  const Array& gates = *b.take();
  const Sizes sizes(y);
  const Index hidden = sizes.hidden;
  const bool linear_first = c.integer("linear_before_reset") != 0;
  for_each_sequence(c, sizes, [&](const Sequence& q) {
    std::vector<double> dh(static_cast<std::size_t>(hidden), 0.0);
    for (Index k = sizes.steps; k-- > 0;) {
      const Index s = q.position(k);
      const auto gate = [&](Index j, Index h) {
        return at(gates, sizes.of_step(s, q.d, q.n, dim(gates, 3), j * hidden + h));
      };
      const std::vector<double> before = state_before(q, y, b.h0, k);
      std::vector<double> reset;
      for (Index h = 0; h < hidden; ++h) reset.push_back(gate(1, h) * before[static_cast<std::size_t>(h)]);
      std::vector<double> dh_before(static_cast<std::size_t>(hidden), 0.0);
      std::vector<double> d_reset(static_cast<std::size_t>(hidden), 0.0);
      std::vector<double> d_r(static_cast<std::size_t>(hidden), 0.0);
      for (Index h = 0; h < hidden; ++h) {
        const double d_h = at(dh, h) + b.arriving(0, sizes.of_step(s, q.d, q.n, hidden, h));
        const double z = gate(0, h);
        const double n = gate(2, h);
        at(dh_before, h) += d_h * z;
        const double d_z = d_h * (before[static_cast<std::size_t>(h)] - n) * sigmoid_slope(z);
        b.into_x(q, s, 3 * hidden, h, d_z);
        b.into_h(q, before, 3 * hidden, h, d_z, dh_before);
        const double d_n = d_h * (1.0 - z) * tanh_slope(n);
        b.into_x(q, s, 3 * hidden, 2 * hidden + h, d_n);
        if (linear_first) {
          at(d_r, h) += d_n * gate(3, h);
          b.into_h(q, before, 3 * hidden, 2 * hidden + h, d_n * gate(1, h), dh_before);
        } else {
          b.into_h(q, reset, 3 * hidden, 2 * hidden + h, d_n, d_reset);
        }
      }
      for (Index h = 0; h < hidden; ++h) {
        at(d_r, h) += at(d_reset, h) * before[static_cast<std::size_t>(h)];
        at(dh_before, h) += at(d_reset, h) * gate(1, h);
        const double d_sum = at(d_r, h) * sigmoid_slope(gate(1, h));
        b.into_x(q, s, 3 * hidden, hidden + h, d_sum);
        b.into_h(q, before, 3 * hidden, hidden + h, d_sum, dh_before);
      }
      dh = dh_before;
    }
    Backward::leave(q, b.dh0, dh);
  });
}

void rnn_backward(Call& c) {
  Backward b(c, false, false);
  const Array& y = *b.take();
  const Sizes sizes(y);
  const Index hidden = sizes.hidden;
  const bool relu = text(c, "activation") == "relu";
  for_each_sequence(c, sizes, [&](const Sequence& q) {
    std::vector<double> dh(static_cast<std::size_t>(hidden), 0.0);
    for (Index k = sizes.steps; k-- > 0;) {
      const Index s = q.position(k);
      const std::vector<double> before = state_before(q, y, b.h0, k);
      std::vector<double> dh_before(static_cast<std::size_t>(hidden), 0.0);
      for (Index h = 0; h < hidden; ++h) {
        const Index here = sizes.of_step(s, q.d, q.n, hidden, h);
        const double slope = relu ? (at(y, here) > 0.0 ? 1.0 : 0.0) : tanh_slope(at(y, here));
        const double d_sum = (at(dh, h) + b.arriving(0, here)) * slope;
        b.into_x(q, s, hidden, h, d_sum);
        b.into_h(q, before, hidden, h, d_sum, dh_before);
      }
      dh = dh_before;
    }
    Backward::leave(q, b.dh0, dh);
  });
}

}  // namespace

void add_recurrent_kernels(std::map<std::string, Kernel>& table) {
  table["lstm"] = lstm;
  table["lstm_backward"] = lstm_backward;
  table["gru"] = gru;
  table["gru_backward"] = gru_backward;
  table["rnn"] = rnn;
  table["rnn_backward"] = rnn_backward;
}

}  // namespace poet::reference
