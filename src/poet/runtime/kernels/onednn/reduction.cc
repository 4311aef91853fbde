// Sums, means and extremes along axes.

#include <dnnl.hpp>
#include <map>
#include <string_view>

#include "poet/runtime/kernels/onednn/families.h"
#include "poet/runtime/kernels/onednn/sequence.h"

namespace poet::runtime::onednn {
namespace {

using dnnl::algorithm;

const std::map<std::string_view, algorithm>& reductions() {
  static const std::map<std::string_view, algorithm> table = {{"reduce_sum", algorithm::reduction_sum},
                                                              {"reduce_mean", algorithm::reduction_mean},
                                                              {"reduce_max", algorithm::reduction_max},
                                                              {"reduce_min", algorithm::reduction_min}};
  return table;
}

}  // namespace

std::unique_ptr<Kernel> make_reduction(const Subject& subject) {
  const auto found = reductions().find(subject.op().kind);
  if (found == reductions().end() || !subject.plain()) return nullptr;
  const Shape& from = subject.input(0).shape;
  Shape to = from;
  for (const std::int64_t axis : subject.list("axes")) to.at(static_cast<std::size_t>(axis)) = 1;
  if (to == from) return nullptr;  // a copy
  const dnnl::reduction::primitive_desc description(
      {found->second, row_major(from), row_major(to), 0.0F, 0.0F}, scratchpad_by_user(), engine(), true);
  if (!description || !is_fast(description)) return nullptr;
  auto sequence = std::make_unique<Sequence>();
  sequence->add(dnnl::reduction(description), description,
                {{DNNL_ARG_SRC, sequence->input(0, row_major(from))},
                 {DNNL_ARG_DST, sequence->output(0, row_major(to))}});
  return Sequence::finished(std::move(sequence));
}

}  // namespace poet::runtime::onednn
