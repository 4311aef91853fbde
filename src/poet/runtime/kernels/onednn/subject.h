#pragma once

// The op that a kernel is to be made for, and how its values look to oneDNN.

#include <dnnl.hpp>
#include <string>
#include <vector>

#include "poet/graph/graph.h"
#include "poet/runtime/kernels/kernel.h"

namespace poet::runtime::onednn {

struct Subject {
  const Graph& graph;
  const Op& op;
  KernelLibrary library;
  int threads;

  [[nodiscard]] bool lean() const { return library == KernelLibrary::lean; }
  [[nodiscard]] const Value& input(std::size_t i) const { return graph.values[op.inputs.at(i)]; }
  [[nodiscard]] const Value& output(std::size_t i) const { return graph.values[op.outputs.at(i)]; }
  [[nodiscard]] std::size_t inputs() const { return op.inputs.size(); }
  [[nodiscard]] std::size_t outputs() const { return op.outputs.size(); }

  [[nodiscard]] bool has(const char* attribute) const { return op.attributes.contains(attribute); }
  [[nodiscard]] std::int64_t integer(const char* attribute) const;
  [[nodiscard]] double real(const char* attribute) const;
  [[nodiscard]] const std::vector<std::int64_t>& list(const char* attribute) const;

  /// All operands are float32, row-major and have elements.
  [[nodiscard]] bool plain() const;
  /// The position of the output that is the gradient of forward input `position`; -1: it writes none. `count`
  /// outputs are there without the attribute `gradients`.
  [[nodiscard]] int gradient(std::int64_t position, std::int64_t count) const;
};

/// float32, row-major.
[[nodiscard]] dnnl::memory::desc row_major(const Shape& shape);
/// float32, in any layout that a primitive likes.
[[nodiscard]] dnnl::memory::desc any_layout(const Shape& shape);

}  // namespace poet::runtime::onednn
