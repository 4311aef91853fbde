#include "poet/runtime/kernels/onednn/accumulating.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace poet::runtime::onednn {
namespace {

constexpr Bytes kLine(64);

class Accumulating final : public Kernel {
 public:
  Accumulating(const Subject& subject, std::unique_ptr<Kernel> kernel) : kernel_(std::move(kernel)) {
    size_ = rounded_up(kernel_->workspace(), kLine);
    for (const std::int64_t i : subject.accumulated()) {
      const auto output = static_cast<std::size_t>(i);
      const std::int64_t count = subject.out_count(output);
      sums_.push_back({output, static_cast<std::size_t>(subject.accumulator(output)), count, size_});
      size_ += rounded_up(Bytes(count * static_cast<std::int64_t>(sizeof(float))), kLine);
    }
    outputs_.resize(subject.outputs());
  }

  void run(const KernelCall& call) override {
    std::copy(call.outputs.begin(), call.outputs.end(), outputs_.begin());
    auto* workspace = static_cast<std::byte*>(call.workspace);
    for (const Sum& sum : sums_) outputs_[sum.output] = workspace + sum.at.value();
    KernelCall inner = call;
    inner.outputs = outputs_;
    kernel_->run(inner);
    for (const Sum& sum : sums_) {
      const auto* from = static_cast<const float*>(call.inputs[sum.accumulator]);
      const auto* terms = static_cast<const float*>(outputs_[sum.output]);
      auto* to = static_cast<float*>(call.outputs[sum.output]);  // may lie over `from`
#pragma GCC ivdep
      for (std::int64_t k = 0; k < sum.count; ++k) to[k] = from[k] + terms[k];
    }
  }

  [[nodiscard]] Bytes workspace() const override { return size_; }
  [[nodiscard]] std::string implementation() const override { return kernel_->implementation(); }

 private:
  struct Sum {
    std::size_t output, accumulator;
    std::int64_t count;
    Bytes at;  // in the workspace
  };
  std::unique_ptr<Kernel> kernel_;
  std::vector<Sum> sums_;
  Bytes size_;
  std::vector<void*> outputs_;  // of the run under way
};

}  // namespace

std::unique_ptr<Kernel> with_accumulators(const Subject& subject, std::unique_ptr<Kernel> kernel) {
  if (!kernel || subject.accumulated().empty()) return kernel;
  return std::make_unique<Accumulating>(subject, std::move(kernel));
}

}  // namespace poet::runtime::onednn
