// Average pools and their gradients. Of a maximum poet keeps the place within its window, which oneDNN does
// not tell.

#include <dnnl.hpp>
#include <optional>

#include "poet/runtime/kernels/onednn/families.h"
#include "poet/runtime/kernels/onednn/sequence.h"

namespace poet::runtime::onednn {
namespace {

using dnnl::algorithm;
using dnnl::memory;
using dnnl::prop_kind;

struct PoolWindows {
  memory::dims kernel;
  memory::dims stride;
  memory::dims dilation;  // 0: dense
  memory::dims padding;
  memory::dims padding_end;
  algorithm what;
};

// `x` and `y` are the forward op's. Nothing where oneDNN divides by another number: it counts all places of a
// window, poet only those in the padded image.
std::optional<PoolWindows> windows(const Subject& subject, const Shape& x, const Shape& y) {
  const std::size_t axes = x.size() - 2;
  if (subject.op().kind.starts_with("global_")) {
    const memory::dims image(x.begin() + 2, x.end());
    return PoolWindows{image,
                       memory::dims(axes, 1),
                       memory::dims(axes, 0),
                       memory::dims(axes, 0),
                       memory::dims(axes, 0),
                       algorithm::pooling_avg_include_padding};
  }
  PoolWindows w{subject.list("kernel"),
                subject.list("stride"),
                memory::dims(axes, 0),
                subject.list("padding"),
                {},
                algorithm::pooling_avg_include_padding};
  const bool counts_padding = !subject.has("count_include_pad") || subject.integer("count_include_pad") != 0;
  if (!counts_padding) w.what = algorithm::pooling_avg_exclude_padding;
  w.padding_end = subject.has("padding_end") ? subject.list("padding_end") : w.padding;
  if (subject.has("dilation")) w.dilation = subject.list("dilation");
  if (subject.has("dilation")) {
    for (std::int64_t& d : w.dilation) --d;
  }
  for (std::size_t i = 0; i < axes; ++i) {
    const std::int64_t reach = (w.kernel[i] - 1) * (w.dilation[i] + 1) + 1;
    const std::int64_t needed = (y[i + 2] - 1) * w.stride[i] + reach - x[i + 2] - w.padding[i];
    if (needed > w.padding_end[i]) {  // rounded up
      if (counts_padding) return std::nullopt;
      w.padding_end[i] = needed;
    }
  }
  return w;
}

}  // namespace

std::unique_ptr<Kernel> make_average_pool(const Subject& subject) {
  if (!subject.plain()) return nullptr;
  const bool backward = subject.op().kind.ends_with("_backward");
  const Shape& x = backward ? subject.output(0).shape : subject.input(0).shape;
  const Shape& y = backward ? subject.input(0).shape : subject.output(0).shape;
  const std::optional<PoolWindows> w = windows(subject, x, y);
  if (!w) return nullptr;
  const dnnl::pooling_v2_forward::primitive_desc forward(
      {prop_kind::forward_training, w->what, row_major(x), row_major(y), w->stride, w->kernel, w->dilation,
       w->padding, w->padding_end},
      scratchpad_by_user(), engine(), true);
  if (!forward) return nullptr;
  auto sequence = std::make_unique<Sequence>();
  if (!backward) {
    if (!is_fast(forward)) return nullptr;
    sequence->add(dnnl::pooling_v2_forward(forward), forward,
                  {{DNNL_ARG_SRC, sequence->input(0, row_major(x))},
                   {DNNL_ARG_DST, sequence->output(0, row_major(y))}});
    return Sequence::finished(std::move(sequence));
  }
  const dnnl::pooling_v2_backward::primitive_desc description(
      {w->what, row_major(x), row_major(y), w->stride, w->kernel, w->dilation, w->padding, w->padding_end},
      scratchpad_by_user(), engine(), forward, true);
  if (!description || !is_fast(description)) return nullptr;
  sequence->add(dnnl::pooling_v2_backward(description), description,
                {{DNNL_ARG_DIFF_DST, sequence->input(0, row_major(y))},
                 {DNNL_ARG_DIFF_SRC, sequence->output(0, row_major(x))}});
  return Sequence::finished(std::move(sequence));
}

}  // namespace poet::runtime::onednn
