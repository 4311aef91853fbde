#include "tests/support/reference_kernels.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <numeric>
#include <utility>

#include "poet/base/error.h"
#include "tests/support/reference_call.h"

namespace poet::reference {
namespace {

/// All axes but the last, and the last.
std::pair<Index, Index> rows_and_columns(const Array& a) {
  const Index columns = a.shape.back();
  return {count(a) / columns, columns};
}

void pointwise(Array& out, const Array& a, const Array& b, const std::function<double(double, double)>& f) {
  std::transform(a.data.begin(), a.data.end(), b.data.begin(), out.data.begin(), f);
}

// ---- matrices
// -------------------------------------------------------------------------------------------------------

void linear(Call& c) {
  const auto [rows, in] = rows_and_columns(c.in[0]);
  const Index out = dim(c.in[1], 0);
  for (Index r = 0; r < rows; ++r) {
    for (Index o = 0; o < out; ++o) {
      double sum = c.in.size() > 2 ? at(c.in[2], o) : 0.0;
      for (Index i = 0; i < in; ++i) sum += at(c.in[0], r * in + i) * at(c.in[1], o * in + i);
      at(c.out[0].data, r * out + o) = sum;
    }
  }
}

void linear_backward_input(Call& c) {
  const auto [rows, out] = rows_and_columns(c.in[0]);
  const Index in = dim(c.in[1], 1);
  for (Index r = 0; r < rows; ++r) {
    for (Index i = 0; i < in; ++i) {
      for (Index o = 0; o < out; ++o) {
        at(c.out[0].data, r * in + i) += at(c.in[0], r * out + o) * at(c.in[1], o * in + i);
      }
    }
  }
}

void bias_of_columns(const Array& dy, Array& dbias) {
  const Index columns = dy.shape.back();
  for (Index i = 0; i < count(dy); ++i) at(dbias.data, i % columns) += at(dy, i);
}

void linear_backward_weight(Call& c) {
  const auto [rows, out] = rows_and_columns(c.in[0]);
  const Index in = c.in[1].shape.back();
  Array& dw = *c.gradient(1, {1, 2});
  for (Index r = 0; r < rows; ++r) {
    for (Index o = 0; o < out; ++o) {
      for (Index i = 0; i < in; ++i)
        at(dw.data, o * in + i) += at(c.in[0], r * out + o) * at(c.in[1], r * in + i);
    }
  }
  if (Array* dbias = c.gradient(2, {1, 2})) bias_of_columns(c.in[0], *dbias);
}

/// The matrix of an operand that matrix `batch` of the leading axes `whole` meets.
Index met_matrix(const Shape& operand, const Shape& whole, Index batch) {
  Index place = 0;
  Index stride = 1;
  for (std::size_t back = 3; back < whole.size() + 3; ++back) {
    const Index size = whole[whole.size() + 2 - back];
    const Index position = batch % size;
    batch /= size;
    if (back > operand.size()) continue;
    const Index own = operand[operand.size() - back];
    if (own != 1) place += position * stride;
    stride *= own;
  }
  return place;
}

/// Leading axes broadcast; the result is summed over those that it does not have.
void matmul(Call& c) {
  const Shape& left = c.in[0].shape;
  const Shape& right = c.in[1].shape;
  const Index m = left[left.size() - 2];
  const Index k = left.back();
  const Index n = right.back();
  const double alpha = c.real("alpha");
  Shape whole(std::max(left.size(), right.size()) - 2, 1);
  for (const Shape* shape : {&left, &right}) {
    for (std::size_t back = 3; back <= shape->size(); ++back) {
      Index& size = whole[whole.size() + 2 - back];
      size = std::max(size, (*shape)[shape->size() - back]);
    }
  }
  for (Index batch = 0; batch < element_count(whole); ++batch) {
    const Index a = met_matrix(left, whole, batch);
    const Index b = met_matrix(right, whole, batch);
    const Index y = met_matrix(c.out[0].shape, whole, batch);
    for (Index i = 0; i < m; ++i) {
      for (Index j = 0; j < n; ++j) {
        double sum = 0.0;
        for (Index l = 0; l < k; ++l)
          sum += at(c.in[0], (a * m + i) * k + l) * at(c.in[1], (b * k + l) * n + j);
        at(c.out[0].data, (y * m + i) * n + j) += alpha * sum;
      }
    }
  }
}

void embedding(Call& c) {
  const Index width = c.in[1].shape.back();
  for (Index i = 0; i < count(c.out[0]); ++i) {
    at(c.out[0].data, i) = at(c.in[1], static_cast<Index>(at(c.in[0], i / width)) * width + i % width);
  }
}

void embedding_backward(Call& c) {
  const Index width = c.out[0].shape.back();
  for (Index i = 0; i < count(c.in[0]); ++i) {
    at(c.out[0].data, static_cast<Index>(at(c.in[1], i / width)) * width + i % width) += at(c.in[0], i);
  }
}

void first_occurrences(Call& c) {
  for (Index i = 0; i < count(c.out[0]); ++i) {
    Index j = 0;
    while (at(c.in[0], j) != at(c.in[0], i)) ++j;
    at(c.out[0].data, i) = static_cast<double>(j);
  }
}

void select(Call& c) {
  const Index length = dim(c.in[0], 1);
  const Index width = dim(c.in[0], 2);
  for (Index i = 0; i < count(c.out[0]); ++i) {
    at(c.out[0].data, i) = at(c.in[0], (i / width * length + c.integer("index")) * width + i % width);
  }
}

void select_backward(Call& c) {
  const Index length = dim(c.out[0], 1);
  const Index width = dim(c.out[0], 2);
  for (Index i = 0; i < count(c.in[0]); ++i) {
    at(c.out[0].data, (i / width * length + c.integer("index")) * width + i % width) = at(c.in[0], i);
  }
}

// ---- normalisation
// --------------------------------------------------------------------------------------------------

/// Batch norm and layer norm are one formula over different sets: element i belongs to statistic `set(i)` and
/// to scale `scale(i)`.
struct Norm {
  std::function<Index(Index)> set;
  std::function<Index(Index)> scale;
};

Norm batch_sets(const Array& x) {
  const Index channels = dim(x, 1);
  const Index inner = count(x) / (dim(x, 0) * channels);
  const auto channel = [channels, inner](Index i) { return i / inner % channels; };
  return {channel, channel};
}

Norm layer_sets(const Array& x) {
  const Index width = x.shape.back();
  return {[width](Index i) { return i / width; }, [width](Index i) { return i % width; }};
}

void norm(Call& c, const Norm& s) {
  const Array& x = c.in[0];
  std::vector<double>& mean = c.out[1].data;
  std::vector<double>& inverse = c.out[2].data;  // of the standard deviation
  const double per_set = static_cast<double>(count(x)) / static_cast<double>(mean.size());
  std::vector<double> variance(mean.size(), 0.0);
  for (Index i = 0; i < count(x); ++i) at(mean, s.set(i)) += at(x, i) / per_set;
  for (Index i = 0; i < count(x); ++i) {
    at(variance, s.set(i)) += (at(x, i) - at(mean, s.set(i))) * (at(x, i) - at(mean, s.set(i))) / per_set;
  }
  for (std::size_t k = 0; k < inverse.size(); ++k) inverse[k] = 1.0 / std::sqrt(variance[k] + c.real("eps"));
  for (Index i = 0; i < count(x); ++i) {
    const double standard = (at(x, i) - at(mean, s.set(i))) * at(inverse, s.set(i));
    at(c.out[0].data, i) = standard * at(c.in[1], s.scale(i)) + at(c.in[2], s.scale(i));
  }
}

void norm_backward(Call& c, const Norm& s) {
  const Array& dy = c.in[0];
  const Array& x = c.in[1];
  const Array& weight = c.in[2];
  const Array& mean = c.in[3];
  const Array& inverse = c.in[4];
  const double per_set = static_cast<double>(count(x)) / static_cast<double>(count(mean));
  const auto standard = [&](Index i) { return (at(x, i) - at(mean, s.set(i))) * at(inverse, s.set(i)); };
  std::vector<double> sum(mean.data.size(), 0.0);         // of the gradient of the standardised x
  std::vector<double> projection(mean.data.size(), 0.0);  // of it on the standardised x
  for (Index i = 0; i < count(x); ++i) {
    const double d = at(dy, i) * at(weight, s.scale(i));
    at(sum, s.set(i)) += d / per_set;
    at(projection, s.set(i)) += d * standard(i) / per_set;
  }
  Array* dx = c.gradient(0, {0, 1, 2});
  Array* dweight = c.gradient(1, {0, 1, 2});
  Array* dbias = c.gradient(2, {0, 1, 2});
  for (Index i = 0; i < count(x); ++i) {
    const double d = at(dy, i) * at(weight, s.scale(i));
    if (dx != nullptr) {
      at(dx->data, i) =
          at(inverse, s.set(i)) * (d - at(sum, s.set(i)) - standard(i) * at(projection, s.set(i)));
    }
    if (dweight != nullptr) at(dweight->data, s.scale(i)) += at(dy, i) * standard(i);
    if (dbias != nullptr) at(dbias->data, s.scale(i)) += at(dy, i);
  }
}

void batch_norm_stats(Call& c) {
  const double momentum = c.real("momentum");
  const auto per_channel = static_cast<double>(c.integer("count"));
  for (Index i = 0; i < count(c.in[0]); ++i) {
    const double biased = 1.0 / (at(c.in[1], i) * at(c.in[1], i)) - c.real("eps");
    const double variance = biased * per_channel / (per_channel - 1.0);
    double& running_mean = at(c.updated[0].data, i);
    double& running_variance = at(c.updated[1].data, i);
    running_mean += momentum * (at(c.in[0], i) - running_mean);
    running_variance += momentum * (variance - running_variance);
  }
}

// ---- element by element
// ---------------------------------------------------------------------------------------------

/// In [0, 1), a function of its arguments alone (the finaliser of splitmix64).
double uniform(std::uint64_t seed, std::uint64_t step, std::uint64_t element) {
  std::uint64_t z = seed * 0x9E3779B97F4A7C15ULL + step * 0xD1B54A32D192ED03ULL + element;
  z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9ULL;
  z = (z ^ (z >> 27U)) * 0x94D049BB133111EBULL;
  z ^= z >> 31U;
  return static_cast<double>(z >> 11U) * 0x1.0p-53;
}

void dropout(Call& c) {
  const double p = c.real("p");
  const auto seed = static_cast<std::uint64_t>(c.integer("seed"));
  for (Index i = 0; i < count(c.in[0]); ++i) {
    const bool kept = uniform(seed, static_cast<std::uint64_t>(c.step), static_cast<std::uint64_t>(i)) >= p;
    at(c.out[1].data, i) = kept ? 1.0 : 0.0;
    at(c.out[0].data, i) = kept ? at(c.in[0], i) / (1.0 - p) : 0.0;
  }
}

void dropout_backward(Call& c) {
  const double p = c.real("p");
  pointwise(c.out[0], c.in[0], c.in[1], [p](double dy, double mask) { return dy * mask / (1.0 - p); });
}

void softmax_rows(const Array& x, Array& y) {
  const auto [rows, columns] = rows_and_columns(x);
  for (Index r = 0; r < rows; ++r) {
    const auto begin = x.data.begin() + r * columns;
    const double largest = *std::max_element(begin, begin + columns);
    double sum = 0.0;
    for (Index j = 0; j < columns; ++j)
      sum += at(y.data, r * columns + j) = std::exp(at(x, r * columns + j) - largest);
    for (Index j = 0; j < columns; ++j) at(y.data, r * columns + j) /= sum;
  }
}

void softmax_backward(Call& c) {
  const auto [rows, columns] = rows_and_columns(c.in[0]);
  for (Index r = 0; r < rows; ++r) {
    double dot = 0.0;
    for (Index i = r * columns; i < (r + 1) * columns; ++i) dot += at(c.in[0], i) * at(c.in[1], i);
    for (Index i = r * columns; i < (r + 1) * columns; ++i) {
      at(c.out[0].data, i) = at(c.in[1], i) * (at(c.in[0], i) - dot);
    }
  }
}

void softmax_cross_entropy(Call& c) {
  softmax_rows(c.in[0], c.out[1]);
  const auto [rows, columns] = rows_and_columns(c.in[0]);
  const double smoothing = c.real_or("label_smoothing", 0.0);
  for (Index r = 0; r < rows; ++r) {
    const Index target = static_cast<Index>(at(c.in[1], r));
    for (Index k = 0; k < columns; ++k) {
      const double wanted = (k == target ? 1.0 - smoothing : 0.0) + smoothing / static_cast<double>(columns);
      if (wanted != 0)
        c.out[0].data[0] -= wanted * std::log(at(c.out[1].data, r * columns + k)) / static_cast<double>(rows);
    }
  }
}

void softmax_cross_entropy_backward(Call& c) {
  const auto [rows, columns] = rows_and_columns(c.in[0]);
  for (Index i = 0; i < rows * columns; ++i) {
    const bool right = i % columns == static_cast<Index>(at(c.in[1], i / columns));
    const double smoothing = c.real_or("label_smoothing", 0.0);
    const double wanted = (right ? 1.0 - smoothing : 0.0) + smoothing / static_cast<double>(columns);
    at(c.out[0].data, i) = (at(c.in[0], i) - wanted) / static_cast<double>(rows);
  }
}

const std::map<std::string, Kernel>& own_kernels() {
  static const std::map<std::string, Kernel> table = {
      {"linear", linear},
      {"linear_backward_input", linear_backward_input},
      {"linear_backward_weight", linear_backward_weight},
      {"linear_backward_bias", [](Call& c) { bias_of_columns(c.in[0], c.out[0]); }},
      {"matmul", matmul},
      {"batch_norm", [](Call& c) { norm(c, batch_sets(c.in[0])); }},
      {"batch_norm_stats", batch_norm_stats},
      {"batch_norm_backward", [](Call& c) { norm_backward(c, batch_sets(c.in[1])); }},
      {"layer_norm", [](Call& c) { norm(c, layer_sets(c.in[0])); }},
      {"layer_norm_backward", [](Call& c) { norm_backward(c, layer_sets(c.in[1])); }},
      {"softmax", [](Call& c) { softmax_rows(c.in[0], c.out[0]); }},
      {"softmax_backward", softmax_backward},
      {"dropout", dropout},
      {"dropout_backward", dropout_backward},
      {"embedding", embedding},
      {"embedding_backward", embedding_backward},
      {"first_occurrences", first_occurrences},
      {"select", select},
      {"select_backward", select_backward},
      {"softmax_cross_entropy", softmax_cross_entropy},
      {"softmax_cross_entropy_backward", softmax_cross_entropy_backward},
  };
  return table;
}

const std::map<std::string, Kernel>& kernels() {
  static const std::map<std::string, Kernel> table = [] {
    std::map<std::string, Kernel> all = own_kernels();
    add_layout_kernels(all);
    add_elementwise_kernels(all);
    add_integer_kernels(all);
    add_resize_kernels(all);
    add_recurrent_kernels(all);
    add_window_kernels(all);
    add_training_kernels(all);
    return all;
  }();
  return table;
}

/// Where element i (row-major) of a value lies in its storage.
std::vector<std::size_t> offsets(const Value& value) {
  std::vector<std::size_t> result(static_cast<std::size_t>(element_count(value.shape)));
  for (std::size_t i = 0; i < result.size(); ++i) {
    if (value.strides.empty()) {
      result[i] = i;
      continue;
    }
    Index rest = static_cast<Index>(i);
    Index offset = 0;
    for (std::size_t axis = value.shape.size(); axis-- > 0;) {
      offset += rest % value.shape[axis] * value.strides[axis];
      rest /= value.shape[axis];
    }
    result[i] = static_cast<std::size_t>(offset);
  }
  return result;
}

}  // namespace

Interpreter::Interpreter(const Graph& graph)
    : graph_(graph), storage_(graph.values.size()), inputs_(graph.ops.size()) {}

void Interpreter::put(ValueId v, const std::vector<double>& dense) {
  const Value& value = graph_.values[v];
  std::vector<double>& data = storage_[storage(graph_, v)];
  data.resize(dense.size());
  const std::vector<std::size_t> places = offsets(value);
  ensure(places.size() == dense.size(), "reference kernels: a tensor has the elements of its shape");
  for (std::size_t i = 0; i < places.size(); ++i) data.at(places[i]) = dense[i];
}

void Interpreter::set(ValueId v, const std::vector<double>& data) { put(v, data); }

Array Interpreter::get(ValueId v) const {
  const Value& value = graph_.values[v];
  const std::vector<double>& data = storage_[storage(graph_, v)];
  if (data.empty())
    throw InternalError("reference kernels: '" + value.name + "' is read before it is written");
  Array result{value.shape, {}};
  for (const std::size_t place : offsets(value)) result.data.push_back(data.at(place));
  return result;
}

void Interpreter::run(std::int64_t step) {
  for (const OpId id : ids<OpId>(graph_.ops.size())) {
    const Op& op = graph_.ops[id];
    if (op.kind == "input") continue;
    Call call{op, {}, {}, {}, step};
    for (const ValueId v : op.inputs) call.in.push_back(get(v));
    for (const ValueId v : op.outputs) {
      const Shape& shape = graph_.values[v].shape;
      call.out.push_back({shape, std::vector<double>(static_cast<std::size_t>(element_count(shape)), 0.0)});
    }
    for (const ValueId v : op.updates) call.updated.push_back(get(v));
    const auto kernel = kernels().find(op.kind);
    if (kernel == kernels().end()) throw InternalError("reference kernels: no kernel for " + op.kind);
    kernel->second(call);
    for (std::size_t i = 0; i < op.outputs.size(); ++i) put(op.outputs[i], call.out[i].data);
    for (std::size_t i = 0; i < op.updates.size(); ++i) put(op.updates[i], call.updated[i].data);
    inputs_[id] = std::move(call.in);
  }
}

const Array& Interpreter::input_at_run(OpId op, std::size_t index) const { return inputs_[op].at(index); }

std::set<std::string> kernel_kinds() {
  std::set<std::string> result;
  for (const auto& entry : kernels()) result.insert(entry.first);
  return result;
}

}  // namespace poet::reference
