#include "poet/runtime/kernels/reference/strided.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "poet/base/error.h"
#include "poet/runtime/kernels/reference/copies.h"

namespace poet::runtime {
namespace {

constexpr Bytes kAlignment(64);

/// One operand: its place in the list of its sort, and in the workspace.
struct Detour {
  std::size_t operand;
  Index offset;
  BoxCopy copy;
};

class RowMajorOperands final : public Kernel {
 public:
  RowMajorOperands(const OpReader& op, std::unique_ptr<Kernel> kernel) : kernel_(std::move(kernel)) {
    size_ = rounded_up(kernel_->workspace(), kAlignment);
    for (std::size_t i = 0; i < op.op().inputs.size(); ++i) {
      const bool is_updated = std::ranges::count(op.op().updates, op.op().inputs[i]) > 0;
      ensure(!is_updated || op.input(i).strides.empty(), "what is updated in place is row-major");
      add(in_, op.input(i), i, true);
    }
    for (std::size_t i = 0; i < op.outputs(); ++i) add(out_, op.output(i), i, false);
    inputs_.resize(op.op().inputs.size());
    outputs_.resize(op.outputs());
  }

  void run(const KernelCall& call) override {
    auto* workspace = static_cast<std::byte*>(call.workspace);
    std::copy(call.inputs.begin(), call.inputs.end(), inputs_.begin());
    std::copy(call.outputs.begin(), call.outputs.end(), outputs_.begin());
    for (const Detour& d : in_) {
      inputs_[d.operand] = workspace + d.offset;
      d.copy.run(inputs_[d.operand], call.inputs[d.operand]);
    }
    for (const Detour& d : out_) outputs_[d.operand] = workspace + d.offset;
    KernelCall inner = call;
    inner.inputs = inputs_;
    inner.outputs = outputs_;
    kernel_->run(inner);
    for (const Detour& d : out_) d.copy.run(call.outputs[d.operand], outputs_[d.operand]);
  }

  [[nodiscard]] Bytes workspace() const override { return size_; }
  [[nodiscard]] std::string implementation() const override { return kernel_->implementation(); }

 private:
  void add(std::vector<Detour>& list, const Value& v, std::size_t operand, bool read) {
    if (v.strides.empty()) return;
    const Shape dense = row_major_strides(v.shape);
    list.push_back({operand, size_.value(),
                    read ? box_copy(v.dtype, v.shape, dense, 0, v.strides, 0)
                         : box_copy(v.dtype, v.shape, v.strides, 0, dense, 0)});
    size_ += rounded_up(byte_count(v.shape, v.dtype), kAlignment);
  }

  std::unique_ptr<Kernel> kernel_;
  std::vector<Detour> in_;
  std::vector<Detour> out_;
  Bytes size_;
  std::vector<void*> inputs_;  // of the run under way
  std::vector<void*> outputs_;
};

}  // namespace

std::unique_ptr<Kernel> with_row_major_operands(const OpReader& op, std::unique_ptr<Kernel> kernel) {
  bool strided = false;
  for (std::size_t i = 0; i < op.inputs(); ++i) strided = strided || !op.input(i).strides.empty();
  for (std::size_t i = 0; i < op.outputs(); ++i) strided = strided || !op.output(i).strides.empty();
  if (!strided) return kernel;
  return std::make_unique<RowMajorOperands>(op, std::move(kernel));
}

}  // namespace poet::runtime
