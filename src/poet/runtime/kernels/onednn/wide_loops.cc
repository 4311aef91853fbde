#include "poet/runtime/kernels/onednn/wide_loops.h"

#include <cmath>
#include <dnnl.hpp>

namespace poet::runtime::onednn {
namespace {

// Sixteen numbers at any address; the compiler makes of them what the instruction set has.
using Lanes = float __attribute__((vector_size(64), aligned(4), may_alias));
constexpr std::int64_t kLanes = 16;

}  // namespace

#define POET_LOAD(address) (*reinterpret_cast<const Lanes*>(address))
#define POET_STORE(address) (*reinterpret_cast<Lanes*>(address))

#define POET_INSTRUCTIONS
#define POET_LOOPS baseline
#include "poet/runtime/kernels/onednn/wide_loops.inc"

#if defined(__x86_64__)
#define POET_INSTRUCTIONS __attribute__((target("avx2,fma")))
#define POET_LOOPS avx2
#include "poet/runtime/kernels/onednn/wide_loops.inc"

#define POET_INSTRUCTIONS __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma")))
#define POET_LOOPS avx512
#include "poet/runtime/kernels/onednn/wide_loops.inc"
#endif

const WideLoops& wide_loops() {
#if defined(__x86_64__)
  // The bits of an instruction set's value contain those of the sets that it includes.
  const auto has = [isa = static_cast<unsigned>(dnnl::get_effective_cpu_isa())](dnnl::cpu_isa wanted) {
    return (isa & static_cast<unsigned>(wanted)) == static_cast<unsigned>(wanted);
  };
  if (has(dnnl::cpu_isa::avx512_core)) return avx512::kLoops;
  if (has(dnnl::cpu_isa::avx2)) return avx2::kLoops;
#endif
  return baseline::kLoops;
}

}  // namespace poet::runtime::onednn
