#pragma once

// Training steps of a layer or two each, of random shapes and attributes, with every operator kind among
// them: what kernels are tested on. The same seed gives the same graph.

#include <cstdint>
#include <functional>
#include <ostream>
#include <random>
#include <string>
#include <vector>

#include "poet/autodiff/differentiate.h"
#include "poet/graph/builder.h"

namespace poet::test {

struct KernelGraphFamily {
  std::string name;
  int seeds;  // enough of them to meet the corners
  std::function<Graph(std::uint64_t seed)> make;

  friend void PrintTo(const KernelGraphFamily& family, std::ostream* out) { *out << family.name; }
};

[[nodiscard]] const std::vector<KernelGraphFamily>& kernel_graph_families();

/// Numbers of a generator that gives the same ones everywhere.
class Draws {
 public:
  explicit Draws(std::uint64_t seed) : random_(seed) {}
  /// In [low, high], which must not be empty.
  std::int64_t operator()(std::int64_t low, std::int64_t high) {
    // NOLINTNEXTLINE(clang-analyzer-core.DivideZero)
    return low + static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(high - low + 1));
  }
  std::vector<std::int64_t> list(std::size_t n, std::int64_t low, std::int64_t high) {
    std::vector<std::int64_t> numbers(n);
    for (std::int64_t& number : numbers) number = (*this)(low, high);
    return numbers;
  }
  /// A shape of `least` to `most` axes, of sizes 1 to 6.
  Shape shape(std::int64_t least, std::int64_t most) {
    return list(static_cast<std::size_t>((*this)(least, most)), 1, 6);
  }
  bool half() { return (*this)(0, 1) == 1; }

 private:
  std::mt19937_64 random_;
};

/// The training step whose loss is the mean square of y less targets; what `trains` says trains.
[[nodiscard]] Graph training_step(GraphBuilder& g, ValueId y,
                                  const std::function<bool(const std::string&)>& trains = nullptr,
                                  Optimizer optimizer = Optimizer::sgd);

// Parts of the list above.
void add_layer_families(std::vector<KernelGraphFamily>& families);
void add_elementwise_families(std::vector<KernelGraphFamily>& families);
void add_copy_families(std::vector<KernelGraphFamily>& families);
void add_recurrent_families(std::vector<KernelGraphFamily>& families);

}  // namespace poet::test
