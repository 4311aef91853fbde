#pragma once

// A kernel is a loop with what it knows of its operands, captured by value.

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "poet/runtime/kernels/kernel.h"
#include "poet/runtime/kernels/reference/op_reader.h"

namespace poet::runtime {

template <class Loop>
class LoopKernel final : public Kernel {
 public:
  LoopKernel(Loop loop, Bytes workspace) : loop_(std::move(loop)), workspace_(workspace) {}

  void run(const KernelCall& call) override { loop_(call); }
  [[nodiscard]] Bytes workspace() const override { return workspace_; }
  [[nodiscard]] std::string implementation() const override { return "reference"; }

 private:
  Loop loop_;
  Bytes workspace_;
};

/// `loop` is called with the KernelCall; it neither allocates nor changes from run to run.
template <class Loop>
[[nodiscard]] std::unique_ptr<Kernel> loop_kernel(Loop loop, Bytes workspace = Bytes(0)) {
  return std::make_unique<LoopKernel<Loop>>(std::move(loop), workspace);
}

/// Operands by position, in their element type. Output 0 may lie where an input does.
template <class T = float>
[[nodiscard]] const T* input(const KernelCall& call, std::size_t i) {
  return static_cast<const T*>(call.inputs[i]);
}
template <class T = float>
[[nodiscard]] T* output(const KernelCall& call, std::size_t i) {
  return static_cast<T*>(call.outputs[i]);
}
template <class T = float>
[[nodiscard]] T* updated(const KernelCall& call, std::size_t i) {
  return static_cast<T*>(call.updates[i]);
}

/// Puts what output `i`, of `count` elements, goes on from where it goes. Whether there is anything:
/// otherwise `accumulator`, OpReader::accumulator(i), is negative.
[[nodiscard]] inline bool goes_on(const KernelCall& call, int accumulator, std::size_t i, Index count) {
  if (accumulator < 0) return false;
  const float* from = input(call, static_cast<std::size_t>(accumulator));
  if (from != output(call, i)) std::copy_n(from, count, output(call, i));
  return true;
}

}  // namespace poet::runtime
