#pragma once

// What a reference kernel gets: shared by the files of kernels, not by tests.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "poet/graph/graph.h"
#include "tests/support/reference_kernels.h"

namespace poet::reference {

using Index = std::int64_t;

/// One op at work: a kernel reads `in` and writes `out` and `updated`.
struct Call {
  const Op& op;
  std::vector<Array> in;
  std::vector<Array> out;      // zeros
  std::vector<Array> updated;  // the values before
  Index step;

  [[nodiscard]] double real(const char* name) const { return std::get<double>(op.attributes.at(name)); }
  /// `absent` where the op has none.
  [[nodiscard]] double real_or(const char* name, double absent) const {
    return op.attributes.contains(name) ? real(name) : absent;
  }
  [[nodiscard]] Index integer_or(const char* name, Index absent) const {
    return op.attributes.contains(name) ? integer(name) : absent;
  }
  [[nodiscard]] Index integer(const char* name) const { return std::get<Index>(op.attributes.at(name)); }
  [[nodiscard]] const std::vector<Index>& list(const char* name) const {
    return std::get<std::vector<Index>>(op.attributes.at(name));
  }

  /// The output that is the gradient of forward input `position`, if this op writes it. `all`: the positions
  /// when no attribute says otherwise.
  [[nodiscard]] Array* gradient(Index position, const std::vector<Index>& all) {
    const auto subset = op.attributes.find("gradients");
    const std::vector<Index>& positions =
        subset == op.attributes.end() ? all : std::get<std::vector<Index>>(subset->second);
    const auto found = std::find(positions.begin(), positions.end(), position);
    const auto place = static_cast<std::size_t>(found - positions.begin());
    return found != positions.end() && place < out.size() ? &out[place] : nullptr;
  }
};

inline double& at(std::vector<double>& data, Index i) { return data[static_cast<std::size_t>(i)]; }
inline double at(const Array& a, Index i) { return a.data[static_cast<std::size_t>(i)]; }
inline Index dim(const Array& a, std::size_t axis) { return a.shape.at(axis); }
inline Index count(const Array& a) { return static_cast<Index>(a.data.size()); }

/// The element of an operand that element `i` of a tensor `whole` meets when the operand is stretched to it.
inline Index met(const Shape& operand, const Shape& whole, Index i) {
  Index result = 0;
  Index stride = 1;
  for (std::size_t back = 1; back <= whole.size(); ++back) {
    const Index size = whole[whole.size() - back];
    const Index position = i % size;
    i /= size;
    if (back > operand.size()) continue;
    const Index own = operand[operand.size() - back];
    if (own != 1) result += position * stride;
    stride *= own;
  }
  return result;
}

using Kernel = std::function<void(Call&)>;

/// Kernels of the operators that move elements (concat, slice, pad, transpose), and of group and local
/// response normalisation.
void add_layout_kernels(std::map<std::string, Kernel>& table);

/// Kernels of functions of one element, of arithmetic with broadcasting, and of sums along axes.
void add_elementwise_kernels(std::map<std::string, Kernel>& table);

/// Kernels of integers and truth values: comparisons, logic, choice, gathering, stretching.
void add_integer_kernels(std::map<std::string, Kernel>& table);

/// Kernels of resizing, reversing and extremes along axes.
void add_resize_kernels(std::map<std::string, Kernel>& table);

/// Kernels of lstm, gru and rnn.
void add_recurrent_kernels(std::map<std::string, Kernel>& table);

/// Kernels of losses of numbers, of what is done to gradients, and of updates.
void add_training_kernels(std::map<std::string, Kernel>& table);

/// Kernels of convolutions and pools over any number of spatial axes.
void add_window_kernels(std::map<std::string, Kernel>& table);

}  // namespace poet::reference
