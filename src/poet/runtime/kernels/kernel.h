#pragma once

// A kernel computes one op of a graph on this machine. All decisions are made when it is constructed; a run
// allocates nothing (except a few small blocks inside oneDNN), depends on its arguments only, and is
// deterministic to the bit.

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "poet/base/units.h"
#include "poet/graph/graph.h"
#include "poet/runtime/kernels/kernel_options.h"

namespace poet::runtime {

/// The operands of one run of an op: addresses of the values' storages in the order of Op::inputs, outputs
/// and updates, aligned to at least 4 bytes. Output 0 may have the address of an input if graph/in_place.h
/// allows it; otherwise nothing overlaps.
struct KernelCall {
  std::span<void* const> inputs;
  std::span<void* const> outputs;
  std::span<void* const> updates;
  void* workspace = nullptr;  // workspace() bytes, aligned to 64; contents are lost between runs
  std::int64_t step = 1;      // training steps so far, this one included: Adam's t, dropout's counter
  double rate_factor = 1.0;   // of the learning rate, from its schedule
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

  /// Throws InputError naming the value for elements that are not allowed: an index beyond its table, a
  /// target beyond the classes, a division by zero. Outputs are then undefined.
  virtual void run(const KernelCall& call) = 0;

  /// Returns the scratch memory of a run.
  [[nodiscard]] virtual Bytes workspace() const { return Bytes(0); }

  /// For display: "reference", "oneDNN jit:avx512_core".
  [[nodiscard]] virtual std::string implementation() const = 0;
};

/// Returns the kernel of an op of a verified graph, which need not outlive the kernel. Throws InputError
/// naming the op if there is no kernel for its kind.
[[nodiscard]] std::unique_ptr<Kernel> make_kernel(const Graph& graph, OpId op, const KernelOptions& options);

}  // namespace poet::runtime
