#include "poet/runtime/kernels/bfloat16_operands.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "poet/graph/float32_copies.h"
#include "poet/runtime/kernels/bfloat16.h"

namespace poet::runtime {
namespace {

constexpr Bytes kAlignment(64);

class Bfloat16Operands final : public Kernel {
 public:
  Bfloat16Operands(const Graph& graph, OpId op, std::unique_ptr<Kernel> kernel)
      : kernel_(std::move(kernel)),
        first_(rounded_up(kernel_->workspace(), kAlignment)),
        copies_(float32_copies(graph, op, kAlignment)),
        inputs_(graph.ops[op].inputs.size()),
        outputs_(graph.ops[op].outputs.size()) {}

  void run(const KernelCall& call) override {
    auto* workspace = static_cast<std::byte*>(call.workspace) + first_.value();
    const auto at = [&](const Float32Copies::Copy& copy) {
      return reinterpret_cast<float*>(workspace + copy.offset);
    };
    std::copy(call.inputs.begin(), call.inputs.end(), inputs_.begin());
    std::copy(call.outputs.begin(), call.outputs.end(), outputs_.begin());
    for (const Float32Copies::Copy& copy : copies_.read)
      widen(static_cast<const std::uint16_t*>(call.inputs[copy.operand]), copy.count, at(copy));
    for (const Float32Copies::Copy& place : copies_.replaced) inputs_[place.operand] = at(place);
    for (const Float32Copies::Copy& copy : copies_.written) outputs_[copy.operand] = at(copy);
    KernelCall inner = call;
    inner.inputs = inputs_;
    inner.outputs = outputs_;
    kernel_->run(inner);
    for (const Float32Copies::Copy& copy : copies_.written)
      round_to_bfloat16(at(copy), copy.count, static_cast<std::uint16_t*>(call.outputs[copy.operand]));
  }

  [[nodiscard]] Bytes workspace() const override { return first_ + copies_.bytes; }
  [[nodiscard]] std::string implementation() const override {
    return kernel_->implementation() + ", stored as bfloat16";
  }

 private:
  std::unique_ptr<Kernel> kernel_;
  Bytes first_;  // of the workspace: the kernel's own
  Float32Copies copies_;
  std::vector<void*> inputs_;  // of the run under way
  std::vector<void*> outputs_;
};

}  // namespace

std::unique_ptr<Kernel> with_bfloat16_operands(const Graph& graph, OpId op, std::unique_ptr<Kernel> kernel) {
  return std::make_unique<Bfloat16Operands>(graph, op, std::move(kernel));
}

}  // namespace poet::runtime
