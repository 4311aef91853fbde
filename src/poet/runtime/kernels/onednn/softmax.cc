// softmax and log_softmax over the last axis, and their gradients, which read y.

#include <dnnl.hpp>

#include "poet/runtime/kernels/onednn/families.h"
#include "poet/runtime/kernels/onednn/sequence.h"

namespace poet::runtime::onednn {
namespace {

using dnnl::memory;
using dnnl::prop_kind;

// softmax or log_softmax; logsoftmax has descriptors of its own in oneDNN 2.
template <class Forward, class Backward>
std::unique_ptr<Kernel> make(const Subject& subject, bool backward) {
  const Shape& shape = subject.output(0).shape;
  const memory::desc rows = row_major({element_count(shape) / shape.back(), shape.back()});
  const typename Forward::primitive_desc forward({prop_kind::forward_training, rows, 1}, scratchpad_by_user(),
                                                 engine(), true);
  if (!forward) return nullptr;
  auto sequence = std::make_unique<Sequence>();
  if (!backward) {
    if (!is_fast(forward)) return nullptr;
    sequence->add(Forward(forward), forward,
                  {{DNNL_ARG_SRC, sequence->input(0, rows)}, {DNNL_ARG_DST, sequence->output(0, rows)}});
    return Sequence::finished(std::move(sequence));
  }
  const typename Backward::primitive_desc description({rows, rows, 1}, scratchpad_by_user(), engine(),
                                                      forward, true);
  if (!description || !is_fast(description)) return nullptr;
  sequence->add(Backward(description), description,
                {{DNNL_ARG_DIFF_DST, sequence->input(0, rows)},
                 {DNNL_ARG_DST, sequence->input(1, rows)},
                 {DNNL_ARG_DIFF_SRC, sequence->output(0, rows)}});
  return Sequence::finished(std::move(sequence));
}

}  // namespace

std::unique_ptr<Kernel> make_softmax(const Subject& subject) {
  if (!subject.plain()) return nullptr;
  const bool backward = subject.op().kind.ends_with("_backward");
  if (subject.op().kind.starts_with("log_")) {
    return make<dnnl::logsoftmax_forward, dnnl::logsoftmax_backward>(subject, backward);
  }
  return make<dnnl::softmax_forward, dnnl::softmax_backward>(subject, backward);
}

}  // namespace poet::runtime::onednn
