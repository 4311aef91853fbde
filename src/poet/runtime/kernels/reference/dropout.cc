#include <algorithm>
#include <cmath>
#include <cstdint>

#include "poet/graph/parts.h"
#include "poet/runtime/kernels/reference/elementwise.h"
#include "poet/runtime/kernels/reference/families.h"
#include "poet/runtime/kernels/reference/loop_kernel.h"
#include "poet/runtime/kernels/reference/random_bits.h"

namespace poet::runtime {
namespace {

/// An element is dropped when its random word is below p 2^32, p being in [0, 1).
std::uint32_t threshold_of(double p) {
  return static_cast<std::uint32_t>(std::min(std::ldexp(p, 32), 4294967295.0));
}

float kept_factor(const OpReader& op) { return static_cast<float>(1.0 / (1.0 - op.real("p"))); }

std::unique_ptr<Kernel> dropout(const OpReader& op) {
  return loop_kernel([whole = op.output(0), threshold = threshold_of(op.real("p")), factor = kept_factor(op),
                      seed = static_cast<std::uint64_t>(op.integer("seed"))](const KernelCall& call) {
    const float* x = input(call, 0);
    float* y = output(call, 0);
    auto* mask = output<std::uint8_t>(call, 1);
    // The word of an element is that of its place in the whole tensor.
    for_each_run_of_part(whole, [&](Index first, Index at, Index count) {
      const Index end = first + count;
      for (Index begin = first; begin < end;) {
        const Index block = begin / 4;
        const Philox4 words = dropout_words(call.seed, seed, static_cast<std::uint64_t>(call.step),
                                            static_cast<std::uint64_t>(block));
        for (; begin < std::min(end, 4 * block + 4); ++begin) {
          const Index i = at + begin - first;
          const bool kept = words[static_cast<std::size_t>(begin % 4)] >= threshold;
          mask[i] = kept ? 1 : 0;
          y[i] = kept ? x[i] * factor : 0.0F;
        }
      }
    });
  });
}

std::unique_ptr<Kernel> dropout_backward(const OpReader& op) {
  return elementwise<float, float, std::uint8_t>(
      op, [factor = kept_factor(op)](float dy, std::uint8_t kept) { return kept != 0 ? dy * factor : 0.0F; });
}

}  // namespace

void add_dropout_kernels(ReferenceTable& table) {
  table["dropout"] = {dropout};
  table["dropout_backward"] = {dropout_backward, true};
}

}  // namespace poet::runtime
