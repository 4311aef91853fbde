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
using BufferId = std::size_t;

/// Works on the addresses of all buffers.
using Loop = std::function<void(void* const* buffers)>;

/// For loops: the numbers of a buffer.
inline const float* read(void* const* buffers, BufferId id) { return static_cast<const float*>(buffers[id]); }
inline float* written(void* const* buffers, BufferId id) { return static_cast<float*>(buffers[id]); }

class Sequence final : public Kernel {
 public:
  Sequence() = default;

  /// Operands in their layout in storage.
  BufferId input(std::size_t position, const dnnl::memory::desc& layout);
  BufferId output(std::size_t position, const dnnl::memory::desc& layout);
  /// Operands that only loops see.
  BufferId input(std::size_t position);
  BufferId output(std::size_t position);
  BufferId update(std::size_t position);
  BufferId scratch(const dnnl::memory::desc& layout);
  BufferId scratch(std::size_t bytes);

  /// `buffer` itself where its layout is `wanted`; else a scratch that it is copied to here.
  BufferId in_layout(BufferId buffer, const dnnl::memory::desc& wanted);
  /// Where something is to be written in the layout `wanted` that belongs in `buffer`: itself or a scratch.
  BufferId result_for(BufferId buffer, const dnnl::memory::desc& wanted);
  /// Copies a result to where it belongs, unless it is there.
  void deliver(BufferId result, BufferId buffer);

  /// Executes a primitive with DNNL_ARG_... -> buffer. Its scratchpad, which the attributes must leave to the
  /// user (scratchpad_by_user()), is added.
  void add(const dnnl::primitive& primitive, const dnnl::primitive_desc_base& description,
           const std::vector<std::pair<int, BufferId>>& arguments);
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
  struct Operation {
    dnnl::primitive primitive;  // or a loop
    Loop loop;
    std::vector<std::pair<int, BufferId>> arguments;
    std::vector<dnnl_exec_arg_t> prepared;
  };

  BufferId place(Space space, std::size_t index, const dnnl::memory::desc& layout);
  void reorder(BufferId from, BufferId to);

  std::vector<Buffer> buffers_;
  std::vector<Operation> operations_;
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
