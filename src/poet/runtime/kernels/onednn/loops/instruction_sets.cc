#include "poet/runtime/kernels/onednn/loops/instruction_sets.h"

#include <dnnl.hpp>

namespace poet::runtime::onednn {

Instructions instructions() {
#if defined(__x86_64__)
  // The bits of an instruction set's value contain those of the sets that it includes.
  static const auto isa = static_cast<unsigned>(dnnl::get_effective_cpu_isa());
  const auto has = [](dnnl::cpu_isa wanted) {
    return (isa & static_cast<unsigned>(wanted)) == static_cast<unsigned>(wanted);
  };
  if (has(dnnl::cpu_isa::avx512_core)) return Instructions::avx512;
  if (has(dnnl::cpu_isa::avx2)) return Instructions::avx2;
#endif
  return Instructions::baseline;
}

}  // namespace poet::runtime::onednn
