#pragma once

// The op that a kernel is to be made for, and how its values look to oneDNN.

#include <dnnl.hpp>

#include "poet/graph/graph.h"
#include "poet/graph/operators/op_reader.h"
#include "poet/runtime/kernels/kernel.h"

namespace poet::runtime::onednn {

struct Subject : operators::OpReader {
  Subject(const Graph& graph, OpId id, const KernelOptions& options)
      : OpReader(graph, id), library(options.library), threads(options.threads) {}

  KernelLibrary library;
  int threads;

  [[nodiscard]] bool lean() const { return library == KernelLibrary::lean; }
  /// All operands are float32, row-major and have elements.
  [[nodiscard]] bool plain() const;
};

/// float32, row-major.
[[nodiscard]] dnnl::memory::desc row_major(const Shape& shape);
/// float32, in any layout that a primitive likes.
[[nodiscard]] dnnl::memory::desc any_layout(const Shape& shape);

}  // namespace poet::runtime::onednn
