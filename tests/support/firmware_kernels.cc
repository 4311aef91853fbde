#include "tests/support/firmware_kernels.h"

#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <utility>
#include <vector>

#include "poet/base/error.h"
#include "poet/firmware/calls.h"
#include "poet/graph/float32_copies.h"
#include "tests/support/runtime_interpreter.h"

namespace poet::test {
namespace {

using Buffer = std::vector<std::uint64_t>;  // aligned for any number

class BothKernels final : public runtime::Kernel {
 public:
  BothKernels(const Graph& graph, OpId op)
      : portable_(reference_kernel(graph, op)),
        calls_(firmware::calls_of(graph, op)),
        copies_(static_cast<std::size_t>(float32_copies(graph, op).bytes.value()), sizeof(float)),
        name_(graph.ops[op].name) {
    const auto sizes = [&](const std::vector<ValueId>& values) {
      std::vector<std::size_t> bytes;
      for (const ValueId v : values)
        bytes.push_back(static_cast<std::size_t>(graph.values[storage(graph, v)].bytes.value()));
      return bytes;
    };
    sizes_ = {sizes(graph.ops[op].inputs), sizes(graph.ops[op].outputs), sizes(graph.ops[op].updates)};
  }

  void run(const runtime::KernelCall& call) override {
    const std::vector<std::span<void* const>> lists = {call.inputs, call.outputs, call.updates};
    std::map<void*, Buffer> copies;  // what is shared stays so
    std::vector<std::vector<void*>> of_copies(3);
    for (std::size_t l = 0; l < lists.size(); ++l) {
      for (std::size_t i = 0; i < lists[l].size(); ++i) {
        Buffer& copy = copies[lists[l][i]];
        copy.resize(std::max(copy.size(), (sizes_[l][i] + 7) / 8));
        std::memcpy(copy.data(), lists[l][i], sizes_[l][i]);
      }
    }
    for (std::size_t l = 0; l < lists.size(); ++l)
      for (void* at : lists[l]) of_copies[l].push_back(copies[at].data());
    runtime::KernelCall portable = call;
    portable.inputs = of_copies[0];
    portable.outputs = of_copies[1];
    portable.updates = of_copies[2];
    portable_->run(portable);

    const poet_run run = {static_cast<std::uint32_t>(call.step), static_cast<std::uint32_t>(call.seed),
                          static_cast<std::uint32_t>(call.seed >> 32U), call.rate_factor};
    for (const firmware::Call& next : calls_) {
      std::vector<void*> operands;
      for (const firmware::CallOperand& operand : next.operands)
        operands.push_back(operand.place == firmware::CallOperand::Place::workspace
                               ? copies_.data() + operand.offset
                               : lists[static_cast<std::size_t>(operand.place)][operand.position]);
      ASSERT_EQ(next.lowered.kernel->here(next.lowered.shape.data(), operands.data(), &run), POET_KERNEL_OK)
          << name_;
    }
    EXPECT_TRUE(copies_.intact()) << name_ << " writes beside its float32 copies";
    for (std::size_t l = 1; l < lists.size(); ++l)
      for (std::size_t i = 0; i < lists[l].size(); ++i)
        EXPECT_EQ(std::memcmp(lists[l][i], of_copies[l][i], sizes_[l][i]), 0)
            << name_ << ": the calls in C have other bits in result " << i;
  }
  [[nodiscard]] Bytes workspace() const override { return portable_->workspace(); }
  [[nodiscard]] std::string implementation() const override { return "both"; }

 private:
  std::unique_ptr<runtime::Kernel> portable_;
  std::vector<firmware::Call> calls_;
  GuardedBuffer copies_;  // of exactly the size that a plan has for them
  std::string name_;
  std::vector<std::vector<std::size_t>> sizes_;
};

}  // namespace

bool has_firmware_kernel(const Graph& graph, OpId op) {
  try {
    return !firmware::calls_of(graph, op).empty();
  } catch (const InputError&) {
    return false;
  }
}

std::unique_ptr<runtime::Kernel> both_kernels(const Graph& graph, OpId op) {
  if (has_firmware_kernel(graph, op)) return std::make_unique<BothKernels>(graph, op);
  return reference_kernel(graph, op);
}

}  // namespace poet::test
