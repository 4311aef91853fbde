// Convolutions. `fast` lets the primitive choose its layouts and copies operands into them; `lean` computes
// in row-major ones.

#include <algorithm>
#include <dnnl.hpp>
#include <string_view>

#include "poet/runtime/kernels/onednn/convolution_product.h"
#include "poet/runtime/kernels/onednn/families.h"
#include "poet/runtime/kernels/onednn/sequence.h"

namespace poet::runtime::onednn {
namespace {

using dnnl::algorithm;
using dnnl::memory;
using dnnl::prop_kind;

// What oneDNN is told about a convolution: its weight has an axis for groups where there are several.
struct Geometry {
  Shape weight;
  memory::dims stride;
  memory::dims dilation;  // 0: dense
  memory::dims padding;
  memory::dims padding_end;
};

Geometry geometry(const Subject& subject, const Shape& weight) {
  Geometry g{weight, subject.list("stride"), subject.list("dilation"), subject.list("padding"), {}};
  g.padding_end = subject.has("padding_end") ? subject.list("padding_end") : g.padding;
  for (std::int64_t& d : g.dilation) --d;
  if (const std::int64_t groups = subject.integer("groups"); groups > 1) {
    g.weight.front() /= groups;
    g.weight.insert(g.weight.begin(), groups);
  }
  return g;
}

// A product of matrices as it stands: one tap, no steps. In planes that are large enough it is as fast as in
// any other layout, and there is nothing to copy.
bool is_large_and_pointwise(const Subject& subject, const Shape& weight, const Shape& y) {
  constexpr std::int64_t kLarge = 128;
  const auto all = [&subject](const char* attribute, std::int64_t wanted) {
    const std::vector<std::int64_t>& list = subject.list(attribute);
    return std::all_of(list.begin(), list.end(), [wanted](std::int64_t i) { return i == wanted; });
  };
  const std::int64_t plane = element_count(y) / (y[0] * y[1]);
  return plane >= kLarge && element_count(weight) == weight[0] * weight[1] &&
         subject.integer("groups") == 1 && all("stride", 1) && all("padding", 0) &&
         (!subject.has("padding_end") || all("padding_end", 0));
}

// A channel at a time, where the copy of a plane is cheaper than copies of the tensors.
bool is_large_and_depthwise(const Subject& subject, const Shape& y) {
  constexpr std::int64_t kLarge = 2048;
  return is_depthwise(subject) && y[2] * y[3] >= kLarge;
}

// Whether to compute in row-major layouts from the start.
bool stays_row_major(const Subject& subject, const Shape& weight, const Shape& y) {
  return subject.lean() || is_large_and_depthwise(subject, y) || is_large_and_pointwise(subject, weight, y);
}

std::unique_ptr<Kernel> make_row_major(const Subject& subject) {
  if (is_depthwise(subject)) {
    if (std::unique_ptr<Kernel> kernel = make_depthwise(subject)) return kernel;
  }
  return make_convolution_product(subject);
}

// Where oneDNN blocks channels; otherwise it has only its product.
bool is_direct(const dnnl::primitive_desc_base& description) {
  return description && is_fast(description) &&
         std::string_view(description.impl_info_str()).find("gemm") == std::string_view::npos;
}

dnnl::convolution_forward::primitive_desc forward(const Shape& x, const Geometry& g, const Shape& y,
                                                  bool bias) {
  const memory::desc bias_layout = bias ? row_major({y.at(1)}) : memory::desc();
  return {{prop_kind::forward_training, algorithm::convolution_direct, any_layout(x), any_layout(g.weight),
           bias_layout, any_layout(y), g.stride, g.dilation, g.padding, g.padding_end},
          scratchpad_by_user(),
          engine(),
          true};
}

}  // namespace

std::unique_ptr<Kernel> make_convolution(const Subject& subject) {
  if (!subject.plain()) return nullptr;
  const Shape& x = subject.input(0).shape;
  const Shape& y = subject.output(0).shape;
  const Geometry g = geometry(subject, subject.input(1).shape);
  if (stays_row_major(subject, subject.input(1).shape, y)) return make_row_major(subject);
  const bool bias = subject.inputs() == 3;
  const auto description = forward(x, g, y, bias);
  if (!is_direct(description)) return make_row_major(subject);

  auto sequence = std::make_unique<Sequence>();
  const BufferId out = sequence->output(0, row_major(y));
  const BufferId source = sequence->in_layout(sequence->input(0, row_major(x)), description.src_desc());
  const BufferId weight =
      sequence->in_layout(sequence->input(1, row_major(g.weight)), description.weights_desc());
  const BufferId result = sequence->result_for(out, description.dst_desc());
  std::vector<std::pair<int, BufferId>> arguments = {
      {DNNL_ARG_SRC, source}, {DNNL_ARG_WEIGHTS, weight}, {DNNL_ARG_DST, result}};
  if (bias) arguments.emplace_back(DNNL_ARG_BIAS, sequence->input(2, description.bias_desc()));
  sequence->add(dnnl::convolution_forward(description), description, arguments);
  sequence->deliver(result, out);
  return Sequence::finished(std::move(sequence));
}

std::unique_ptr<Kernel> make_convolution_backward_input(const Subject& subject) {
  if (!subject.plain()) return nullptr;
  const Shape& dy = subject.input(0).shape;
  const Shape& dx = subject.output(0).shape;
  if (stays_row_major(subject, subject.input(1).shape, dy)) return make_row_major(subject);
  const Geometry g = geometry(subject, subject.input(1).shape);
  const auto hint = forward(dx, g, dy, false);
  if (!hint) return make_row_major(subject);
  const dnnl::convolution_backward_data::primitive_desc description(
      {algorithm::convolution_direct, any_layout(dx), any_layout(g.weight), any_layout(dy), g.stride,
       g.dilation, g.padding, g.padding_end},
      scratchpad_by_user(), engine(), hint, true);
  if (!is_direct(description)) return make_row_major(subject);

  auto sequence = std::make_unique<Sequence>();
  const BufferId out = sequence->output(0, row_major(dx));
  const BufferId gradient =
      sequence->in_layout(sequence->input(0, row_major(dy)), description.diff_dst_desc());
  const BufferId weight =
      sequence->in_layout(sequence->input(1, row_major(g.weight)), description.weights_desc());
  const BufferId result = sequence->result_for(out, description.diff_src_desc());
  sequence->add(dnnl::convolution_backward_data(description), description,
                {{DNNL_ARG_DIFF_DST, gradient}, {DNNL_ARG_WEIGHTS, weight}, {DNNL_ARG_DIFF_SRC, result}});
  sequence->deliver(result, out);
  return Sequence::finished(std::move(sequence));
}

std::unique_ptr<Kernel> make_convolution_backward_weight(const Subject& subject) {
  if (!subject.plain()) return nullptr;
  const Shape& dy = subject.input(0).shape;
  const Shape& x = subject.input(1).shape;
  if (stays_row_major(subject, subject.output(0).shape, dy)) return make_row_major(subject);
  const Geometry g = geometry(subject, subject.output(0).shape);
  const bool bias = subject.outputs() == 2;
  const memory::desc bias_layout = bias ? row_major({dy.at(1)}) : memory::desc();
  const auto hint = forward(x, g, dy, bias);
  if (!hint) return make_row_major(subject);
  const dnnl::convolution_backward_weights::primitive_desc description(
      {algorithm::convolution_direct, any_layout(x), any_layout(g.weight), bias_layout, any_layout(dy),
       g.stride, g.dilation, g.padding, g.padding_end},
      scratchpad_by_user(), engine(), hint, true);
  if (!is_direct(description)) return make_row_major(subject);

  auto sequence = std::make_unique<Sequence>();
  const BufferId out = sequence->output(0, row_major(g.weight));
  const BufferId gradient =
      sequence->in_layout(sequence->input(0, row_major(dy)), description.diff_dst_desc());
  const BufferId source = sequence->in_layout(sequence->input(1, row_major(x)), description.src_desc());
  const BufferId result = sequence->result_for(out, description.diff_weights_desc());
  std::vector<std::pair<int, BufferId>> arguments = {
      {DNNL_ARG_DIFF_DST, gradient}, {DNNL_ARG_SRC, source}, {DNNL_ARG_DIFF_WEIGHTS, result}};
  if (bias) arguments.emplace_back(DNNL_ARG_DIFF_BIAS, sequence->output(1, description.diff_bias_desc()));
  sequence->add(dnnl::convolution_backward_weights(description), description, arguments);
  sequence->deliver(result, out);
  return Sequence::finished(std::move(sequence));
}

std::unique_ptr<Kernel> make_transposed_convolution(const Subject& subject) {
  return make_convolution_product(subject);
}

}  // namespace poet::runtime::onednn
