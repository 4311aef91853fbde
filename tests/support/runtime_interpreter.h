#pragma once

// Runs a graph op by op with the kernels of the runtime, every value in a buffer of its own with guard bytes
// around it: what a kernel computes, without plans, arenas and paging.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "poet/graph/graph.h"
#include "poet/runtime/kernels/kernel.h"

namespace poet::test {

/// Memory between guard bytes, at an address that is `offset` modulo 64.
class GuardedBuffer {
 public:
  GuardedBuffer(std::size_t size, std::size_t offset);
  [[nodiscard]] std::byte* data() { return data_; }
  [[nodiscard]] const std::byte* data() const { return data_; }
  [[nodiscard]] std::size_t size() const { return size_; }
  /// Nobody has written outside.
  [[nodiscard]] bool intact() const;

 private:
  std::vector<std::byte> memory_;
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

using MakeKernel = std::function<std::unique_ptr<runtime::Kernel>(const Graph&, OpId)>;

/// The reference kernel, which must be there.
[[nodiscard]] std::unique_ptr<runtime::Kernel> reference_kernel(const Graph& graph, OpId op);

class RuntimeInterpreter {
 public:
  /// A kernel for every op but `input` ops. `offset`: of all buffers but workspaces, modulo 64. `graph`
  /// outlives this.
  explicit RuntimeInterpreter(const Graph& graph, const MakeKernel& make = reference_kernel,
                              std::size_t offset = 0);

  /// From now on `v` lies where `other` does, as a plan may let an op write over an operand.
  void share(ValueId v, ValueId other);

  /// In the value's row-major order, whatever its strides; rounded to its element type.
  void set(ValueId v, const std::vector<double>& data);
  [[nodiscard]] std::vector<double> get(ValueId v) const;
  /// The storage of the value.
  [[nodiscard]] std::vector<std::byte> bytes(ValueId v) const;

  /// What the op's kernel is run with; until the next call. The workspace is filled with NaN.
  [[nodiscard]] runtime::KernelCall call(OpId op, std::int64_t step = 1, std::uint64_t seed = 0);
  /// Does nothing for an `input` op. `step` counts from 1.
  void run_op(OpId op, std::int64_t step = 1, std::uint64_t seed = 0);
  void run(std::int64_t step = 1, std::uint64_t seed = 0);

  /// No kernel has written outside of any buffer.
  [[nodiscard]] bool intact() const;
  [[nodiscard]] runtime::Kernel& kernel(OpId op) { return *kernels_[op]; }

 private:
  [[nodiscard]] GuardedBuffer& buffer(ValueId v) { return *buffers_[storage(graph_, v)]; }
  [[nodiscard]] const GuardedBuffer& buffer(ValueId v) const { return *buffers_[storage(graph_, v)]; }

  const Graph& graph_;
  IdVector<ValueId, std::shared_ptr<GuardedBuffer>> buffers_;  // by storage
  IdVector<OpId, std::shared_ptr<runtime::Kernel>> kernels_;
  std::unique_ptr<GuardedBuffer> workspace_;
  std::vector<void*> inputs_;  // of the call under way
  std::vector<void*> outputs_;
  std::vector<void*> updates_;
};

/// A graph of that op alone: what it reads comes from `input` ops unless it is persistent, and views are
/// values of their own with the same strides. The op is the last one.
[[nodiscard]] Graph lone_op(const Graph& graph, OpId op);

}  // namespace poet::test
