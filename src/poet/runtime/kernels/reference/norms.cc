// Batch, layer and group norms. Statistics are summed in double, in two passes.

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "poet/runtime/kernels/reference/families.h"
#include "poet/runtime/kernels/reference/fold.h"
#include "poet/runtime/kernels/reference/loop_kernel.h"
#include "poet/runtime/kernels/reference/windows.h"

namespace poet::runtime {
namespace {

/// Where the elements of one set lie, all of which have the same mean: `runs` runs of `run` elements.
struct Set {
  Index first, runs, run, stride;
};

template <class F>
double sum_over(const Set& s, const F& f) {
  double sum = 0.0;
  for (Index r = 0; r < s.runs; ++r) {
    sum += sum_of(s.run, [&, base = s.first + r * s.stride](Index i) { return f(base + i); });
  }
  return sum;
}

struct Statistics {
  double mean, inverse;
};
Statistics statistics(const float* x, const Set& s, double eps) {
  const auto n = static_cast<double>(s.runs * s.run);
  const double mean = sum_over(s, [x](Index i) { return x[i]; }) / n;
  const double variance = sum_over(s,
                                   [x, mean](Index i) {
                                     const double d = static_cast<double>(x[i]) - mean;
                                     return d * d;
                                   }) /
                          n;
  return {mean, 1.0 / std::sqrt(variance + eps)};
}

// ---- batch norm

struct Batch {
  Index images, channels, plane;

  explicit Batch(const Shape& x) : images(x[0]), channels(x[1]), plane(1) {
    for (std::size_t axis = 2; axis < x.size(); ++axis) plane *= x[axis];
  }
  [[nodiscard]] Set channel(Index c) const { return {c * plane, images, plane, channels * plane}; }
};

std::unique_ptr<Kernel> batch_norm(const OpReader& op) {
  const Batch b(op.in(0));
  const double eps = op.real("eps");
  return loop_kernel([=](const KernelCall& call) {
    const float* x = input(call, 0);
    for (Index c = 0; c < b.channels; ++c) {
      const Set set = b.channel(c);
      const Statistics s = statistics(x, set, eps);
      const auto mean = static_cast<float>(s.mean);
      const auto inverse = static_cast<float>(s.inverse);
      output(call, 1)[c] = mean;
      output(call, 2)[c] = inverse;
      const float factor = inverse * input(call, 1)[c];
      const float bias = input(call, 2)[c];
      for (Index n = 0; n < b.images; ++n) {
        const float* __restrict from = x + set.first + n * set.stride;
        float* __restrict to = output(call, 0) + set.first + n * set.stride;
        for (Index i = 0; i < b.plane; ++i) to[i] = (from[i] - mean) * factor + bias;
      }
    }
  });
}

std::unique_ptr<Kernel> batch_norm_backward(const OpReader& op) {
  const Batch b(op.in(1));
  const int dx = op.gradient(0, {0, 1, 2});
  const int dweight = op.gradient(1, {0, 1, 2});
  const int dbias = op.gradient(2, {0, 1, 2});
  const auto count = static_cast<double>(b.images * b.plane);
  return loop_kernel([=](const KernelCall& call) {
    const float* dy = input(call, 0);
    const float* x = input(call, 1);
    for (Index c = 0; c < b.channels; ++c) {
      const Set set = b.channel(c);
      const float mean = input(call, 3)[c];
      const float inverse = input(call, 4)[c];
      const double sum = sum_over(set, [dy](Index i) { return dy[i]; });
      const double projection = static_cast<double>(inverse) * sum_over(set, [=](Index i) {
                                  return static_cast<double>(dy[i]) * static_cast<double>(x[i] - mean);
                                });
      if (dweight >= 0) output(call, static_cast<std::size_t>(dweight))[c] = static_cast<float>(projection);
      if (dbias >= 0) output(call, static_cast<std::size_t>(dbias))[c] = static_cast<float>(sum);
      if (dx < 0) continue;
      const float factor = inverse * input(call, 2)[c];
      const auto of_all = static_cast<float>(sum / count);
      const auto of_x = static_cast<float>(static_cast<double>(inverse) * projection / count);
      for (Index n = 0; n < b.images; ++n) {
        const Index begin = set.first + n * set.stride;
        const float* __restrict gradient = dy + begin;
        const float* __restrict from = x + begin;
        float* __restrict to = output(call, static_cast<std::size_t>(dx)) + begin;
        for (Index i = 0; i < b.plane; ++i) {
          to[i] = factor * ((gradient[i] - of_all) - (from[i] - mean) * of_x);
        }
      }
    }
  });
}

/// The unbiased variance is found again from invstd.
std::unique_ptr<Kernel> batch_norm_stats(const OpReader& op) {
  const Index channels = op.in_count(0);
  const double momentum = op.real("momentum");
  const double eps = op.real("eps");
  const auto n = static_cast<double>(op.integer("count"));
  return loop_kernel([=](const KernelCall& call) {
    const float* mean = input(call, 0);
    const float* inverse = input(call, 1);
    float* running_mean = updated(call, 0);
    float* running_variance = updated(call, 1);
    for (Index c = 0; c < channels; ++c) {
      const auto i = static_cast<double>(inverse[c]);
      const double variance = (1.0 / (i * i) - eps) * n / (n - 1.0);
      const auto move = [momentum](float& running, double to) {
        running = static_cast<float>((1.0 - momentum) * static_cast<double>(running) + momentum * to);
      };
      move(running_mean[c], static_cast<double>(mean[c]));
      move(running_variance[c], variance);
    }
  });
}

// ---- layer norm

std::unique_ptr<Kernel> layer_norm(const OpReader& op) {
  const Index width = op.in(0).back();
  const Index rows = op.in_count(0) / width;
  const double eps = op.real("eps");
  return loop_kernel([=](const KernelCall& call) {
    const float* __restrict weight = input(call, 1);
    const float* __restrict bias = input(call, 2);
    for (Index r = 0; r < rows; ++r) {
      const float* __restrict x = input(call, 0) + r * width;
      float* __restrict y = output(call, 0) + r * width;
      const Statistics s = statistics(x, {0, 1, width, 0}, eps);
      const auto mean = static_cast<float>(s.mean);
      const auto inverse = static_cast<float>(s.inverse);
      output(call, 1)[r] = mean;
      output(call, 2)[r] = inverse;
      for (Index i = 0; i < width; ++i) y[i] = (x[i] - mean) * inverse * weight[i] + bias[i];
    }
  });
}

/// A gradient of `width` numbers, sums of columns: row after row, so that some rows can go on where others
/// have stopped. f(place in x, row) is what is added.
template <class F>
void sum_rows(const KernelCall& call, int gradient, int accumulator, Index rows, Index width, const F& f) {
  if (gradient < 0) return;
  const auto at = static_cast<std::size_t>(gradient);
  float* __restrict to = output(call, at);
  if (!goes_on(call, accumulator, at, width)) std::fill_n(to, width, 0.0F);
  for (Index r = 0; r < rows; ++r) {
    for (Index i = 0; i < width; ++i) to[i] += f(r * width + i, r);
  }
}

std::unique_ptr<Kernel> layer_norm_backward(const OpReader& op) {
  const Index width = op.in(1).back();
  const Index rows = op.in_count(1) / width;
  const int dx = op.gradient(0, {0, 1, 2});
  const int dweight = op.gradient(1, {0, 1, 2});
  const int dbias = op.gradient(2, {0, 1, 2});
  const auto accumulator = [&op](int i) { return i < 0 ? -1 : op.accumulator(static_cast<std::size_t>(i)); };
  const int from_weight = accumulator(dweight);
  const int from_bias = accumulator(dbias);
  return loop_kernel([=](const KernelCall& call) {
    const float* __restrict weight = input(call, 2);
    for (Index r = 0; dx >= 0 && r < rows; ++r) {
      const float* __restrict dy = input(call, 0) + r * width;
      const float* __restrict x = input(call, 1) + r * width;
      float* __restrict to = output(call, static_cast<std::size_t>(dx)) + r * width;
      const float mean = input(call, 3)[r];
      const float inverse = input(call, 4)[r];
      const auto n = static_cast<double>(width);
      const double sum = sum_of(width, [=](Index i) { return dy[i] * weight[i]; });
      const double projection = sum_of(width, [=](Index i) {
        return static_cast<double>(dy[i] * weight[i]) * static_cast<double>(x[i] - mean);
      });
      const auto of_all = static_cast<float>(sum / n);
      const auto of_x =
          static_cast<float>(static_cast<double>(inverse) * static_cast<double>(inverse) * projection / n);
      for (Index i = 0; i < width; ++i) {
        to[i] = inverse * ((dy[i] * weight[i] - of_all) - (x[i] - mean) * of_x);
      }
    }
    const float* __restrict dy = input(call, 0);
    const float* __restrict x = input(call, 1);
    const float* __restrict mean = input(call, 3);
    const float* __restrict inverse = input(call, 4);
    sum_rows(call, dweight, from_weight, rows, width,
             [=](Index i, Index r) { return dy[i] * ((x[i] - mean[r]) * inverse[r]); });
    sum_rows(call, dbias, from_bias, rows, width, [=](Index i, Index) { return dy[i]; });
  });
}

// ---- group norm

struct Groups {
  Index images, groups, channels, plane;  // channels: of a group

  Groups(const Shape& x, Index count)
      : images(x[0]), groups(count), channels(x[1] / count), plane(Batch(x).plane) {}
  [[nodiscard]] Index size() const { return channels * plane; }
};

std::unique_ptr<Kernel> group_norm(const OpReader& op) {
  const Groups g(op.in(0), op.integer("groups"));
  const double eps = op.real("eps");
  return loop_kernel([=](const KernelCall& call) {
    for (Index s = 0; s < g.images * g.groups; ++s) {
      const Statistics found = statistics(input(call, 0), {s * g.size(), 1, g.size(), 0}, eps);
      const auto mean = static_cast<float>(found.mean);
      const auto inverse = static_cast<float>(found.inverse);
      output(call, 1)[s] = mean;
      output(call, 2)[s] = inverse;
      for (Index k = 0; k < g.channels; ++k) {
        const Index channel = s % g.groups * g.channels + k;
        const float factor = inverse * input(call, 1)[channel];
        const float bias = input(call, 2)[channel];
        const float* __restrict x = input(call, 0) + s * g.size() + k * g.plane;
        float* __restrict y = output(call, 0) + s * g.size() + k * g.plane;
        for (Index i = 0; i < g.plane; ++i) y[i] = (x[i] - mean) * factor + bias;
      }
    }
  });
}

std::unique_ptr<Kernel> group_norm_backward(const OpReader& op) {
  const Groups g(op.in(1), op.integer("groups"));
  const int dx = op.gradient(0, {0, 1, 2});
  const int dweight = op.gradient(1, {0, 1, 2});
  const int dbias = op.gradient(2, {0, 1, 2});
  return loop_kernel([=](const KernelCall& call) {
    const float* dy = input(call, 0);
    const float* x = input(call, 1);
    // Sums over a plane of dy and of dy times the standardised x.
    const auto of_plane = [&](Index set, Index k, double& sum, double& projection) {
      const float* a = dy + set * g.size() + k * g.plane;
      const float* b = x + set * g.size() + k * g.plane;
      const float mean = input(call, 3)[set];
      sum = sum_of(g.plane, [a](Index i) { return a[i]; });
      projection = static_cast<double>(input(call, 4)[set]) * sum_of(g.plane, [=](Index i) {
                     return static_cast<double>(a[i]) * static_cast<double>(b[i] - mean);
                   });
    };
    for (Index s = 0; dx >= 0 && s < g.images * g.groups; ++s) {
      const float* weight = input(call, 2) + s % g.groups * g.channels;
      const float mean = input(call, 3)[s];
      const float inverse = input(call, 4)[s];
      double all = 0.0;
      double along_x = 0.0;
      for (Index k = 0; k < g.channels; ++k) {
        double sum = 0.0;
        double projection = 0.0;
        of_plane(s, k, sum, projection);
        all += static_cast<double>(weight[k]) * sum;
        along_x += static_cast<double>(weight[k]) * projection;
      }
      const auto n = static_cast<double>(g.size());
      const auto of_all = static_cast<float>(all / n);
      const auto of_x = static_cast<float>(static_cast<double>(inverse) * along_x / n);
      for (Index k = 0; k < g.channels; ++k) {
        const Index begin = s * g.size() + k * g.plane;
        float* to = output(call, static_cast<std::size_t>(dx));
        for (Index i = begin; i < begin + g.plane; ++i) {
          to[i] = inverse * ((dy[i] * weight[k] - of_all) - (x[i] - mean) * of_x);
        }
      }
    }
    for (Index channel = 0; (dweight >= 0 || dbias >= 0) && channel < g.groups * g.channels; ++channel) {
      double all = 0.0;
      double along_x = 0.0;
      for (Index n = 0; n < g.images; ++n) {
        double sum = 0.0;
        double projection = 0.0;
        of_plane(n * g.groups + channel / g.channels, channel % g.channels, sum, projection);
        all += sum;
        along_x += projection;
      }
      if (dweight >= 0)
        output(call, static_cast<std::size_t>(dweight))[channel] = static_cast<float>(along_x);
      if (dbias >= 0) output(call, static_cast<std::size_t>(dbias))[channel] = static_cast<float>(all);
    }
  });
}

}  // namespace

void add_norm_kernels(ReferenceTable& table) {
  table["batch_norm"] = {batch_norm};
  table["batch_norm_backward"] = {batch_norm_backward};
  table["batch_norm_stats"] = {batch_norm_stats};
  table["layer_norm"] = {layer_norm};
  table["layer_norm_backward"] = {layer_norm_backward};
  table["group_norm"] = {group_norm};
  table["group_norm_backward"] = {group_norm_backward};
}

}  // namespace poet::runtime
