#pragma once

// What computes one op of a graph on this machine. Everything is decided when a kernel is made; running it
// allocates nothing (but for a few small blocks inside oneDNN), depends on nothing but its arguments, and
// gives the same bits every time.

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "poet/base/units.h"
#include "poet/graph/graph.h"
#include "poet/runtime/kernels/kernel_options.h"

namespace poet::runtime {

/// What one run of an op works on. Pointers are to the beginning of each value's storage, in the order of
/// Op::inputs, outputs and updates; a view's is its storage's. They are aligned to 4 bytes at least. Output 0
/// may be at the address of an input where graph/in_place.h allows it; otherwise nothing overlaps.
struct KernelCall {
  std::span<void* const> inputs;
  std::span<void* const> outputs;
  std::span<void* const> updates;
  void* workspace = nullptr;  // workspace() bytes, aligned to 64; contents are lost between runs
  std::int64_t step = 1;      // training steps so far, this one included: Adam's t, dropout's counter
  double rate_factor = 1.0;   // on the learning rate, by its schedule
  std::uint64_t seed = 0;     // of the whole run: dropout's key
};

class Kernel {
 public:
  Kernel() = default;
  Kernel(const Kernel&) = delete;
  Kernel& operator=(const Kernel&) = delete;
  Kernel(Kernel&&) = delete;
  Kernel& operator=(Kernel&&) = delete;
  virtual ~Kernel() = default;

  virtual void run(const KernelCall& call) = 0;

  /// Scratch memory that a run needs.
  [[nodiscard]] virtual Bytes workspace() const { return Bytes(0); }

  /// For people: "reference", "oneDNN jit:avx512_core".
  [[nodiscard]] virtual std::string implementation() const = 0;
};

/// The kernel of an op of a verified graph. Shapes, strides, attributes and element types are taken from the
/// graph, which need not outlive the kernel. Throws InputError naming the op where no kernel treats its kind.
[[nodiscard]] std::unique_ptr<Kernel> make_kernel(const Graph& graph, OpId op, const KernelOptions& options);

}  // namespace poet::runtime
