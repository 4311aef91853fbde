#pragma once

// A kernel as a short sequence: primitives of oneDNN, reorders and loops, one after another, on the operands
// of a call and on pieces of its workspace. Everything is prepared when it is finished; a run sets the
// addresses and executes.

#include <cstddef>
#include <cstdint>
#include <dnnl.hpp>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "poet/runtime/kernels/kernel.h"

namespace poet::runtime::onednn {

/// The CPU, and the stream that everything runs in.
[[nodiscard]] const dnnl::engine& engine();
[[nodiscard]] const dnnl::stream& stream();

/// A buffer that a sequence works on: an operand of the op or a piece of the workspace.
using Slot = std::size_t;

/// Works on the addresses of all slots.
using Loop = std::function<void(void* const* slots)>;

/// For loops: the numbers of a slot.
inline const float* read(void* const* slots, Slot slot) { return static_cast<const float*>(slots[slot]); }
inline float* written(void* const* slots, Slot slot) { return static_cast<float*>(slots[slot]); }

class Sequence final : public Kernel {
 public:
  Sequence() = default;

  /// Operands in their layout in storage.
  Slot input(std::size_t position, const dnnl::memory::desc& layout);
  Slot output(std::size_t position, const dnnl::memory::desc& layout);
  /// Operands that only loops see.
  Slot input(std::size_t position);
  Slot output(std::size_t position);
  Slot update(std::size_t position);
  Slot scratch(const dnnl::memory::desc& layout);
  Slot scratch(std::size_t bytes);

  /// `slot` itself where its layout is `wanted`; else a scratch that it is copied to here.
  Slot in_layout(Slot slot, const dnnl::memory::desc& wanted);
  /// Where something is to be written in the layout `wanted` that belongs in `slot`: itself or a scratch.
  Slot result_for(Slot slot, const dnnl::memory::desc& wanted);
  /// Copies a result to where it belongs, unless it is there.
  void deliver(Slot result, Slot slot);

  /// Executes a primitive with DNNL_ARG_... -> slot. Its scratchpad, which the attributes must leave to the
  /// user (scratchpad_by_user()), is added.
  void add(const dnnl::primitive& primitive, const dnnl::primitive_desc_base& description,
           const std::vector<std::pair<int, Slot>>& arguments);
  void add(Loop loop, std::string name);

  /// The kernel, which cannot change any more. Pieces of the workspace are aligned to 64.
  [[nodiscard]] static std::unique_ptr<Kernel> finished(std::unique_ptr<Sequence> sequence);

  void run(const KernelCall& call) override;
  [[nodiscard]] Bytes workspace() const override { return Bytes(workspace_); }
  [[nodiscard]] std::string implementation() const override;

 private:
  enum class Space { input, output, update, workspace, scratchpad };
  struct Buffer {
    Space space;
    std::size_t index;  // position, or bytes from the beginning of the workspace
    dnnl::memory::desc layout;
    dnnl::memory memory;  // where primitives see it
  };
  struct Step {
    dnnl::primitive primitive;  // or a loop
    Loop loop;
    std::vector<std::pair<int, Slot>> arguments;
    std::vector<dnnl_exec_arg_t> prepared;
  };

  Slot place(Space space, std::size_t index, const dnnl::memory::desc& layout);
  void reorder(Slot from, Slot to);

  std::vector<Buffer> buffers_;
  std::vector<Step> steps_;
  std::vector<void*> addresses_;
  std::int64_t workspace_ = 0;
  std::int64_t scratchpad_ = 0;  // the largest; primitives take turns in it
  std::string name_;
  int reorders_ = 0;
};

/// Attributes of every primitive here.
[[nodiscard]] dnnl::primitive_attr scratchpad_by_user();

/// False for the loops that oneDNN calls "ref": slower than anything else.
[[nodiscard]] bool is_fast(const dnnl::primitive_desc_base& description);

}  // namespace poet::runtime::onednn
