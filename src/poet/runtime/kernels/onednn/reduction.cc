// Sums and means along axes. Extremes are left to the plain loops: of -infinity alone, oneDNN's maximum is
// the lowest finite number.

#include <dnnl.hpp>

#include "poet/runtime/kernels/onednn/families.h"
#include "poet/runtime/kernels/onednn/sequence.h"

namespace poet::runtime::onednn {

std::unique_ptr<Kernel> make_reduction(const Subject& subject) {
  if (!subject.plain()) return nullptr;
  const auto algorithm =
      subject.op().kind == "reduce_sum" ? dnnl::algorithm::reduction_sum : dnnl::algorithm::reduction_mean;
  const Shape& from = subject.input(0).shape;
  Shape to = from;
  for (const std::int64_t axis : subject.list("axes")) to.at(static_cast<std::size_t>(axis)) = 1;
  if (to == from) return nullptr;  // a copy
  const dnnl::reduction::primitive_desc description({algorithm, row_major(from), row_major(to), 0.0F, 0.0F},
                                                    scratchpad_by_user(), engine(), true);
  if (!description || !is_fast(description)) return nullptr;
  auto sequence = std::make_unique<Sequence>();
  sequence->add(dnnl::reduction(description), description,
                {{DNNL_ARG_SRC, sequence->input(0, row_major(from))},
                 {DNNL_ARG_DST, sequence->output(0, row_major(to))}});
  return Sequence::finished(std::move(sequence));
}

}  // namespace poet::runtime::onednn
