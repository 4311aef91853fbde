// Fully connected layers: all axes of x but the last are one long batch.

#include <dnnl.hpp>

#include "poet/runtime/kernels/onednn/families.h"
#include "poet/runtime/kernels/onednn/program.h"

namespace poet::runtime::onednn {
namespace {

using dnnl::memory;
using dnnl::prop_kind;

Shape rows(const Shape& shape) { return {element_count(shape) / shape.back(), shape.back()}; }

dnnl::inner_product_forward::primitive_desc forward(const Shape& x, const Shape& weight, const Shape& y,
                                                    bool bias) {
  return {{prop_kind::forward_training, row_major(x), row_major(weight),
           bias ? row_major({y.back()}) : memory::desc(), row_major(y)},
          scratchpad_by_user(),
          engine(),
          true};
}

}  // namespace

std::unique_ptr<Kernel> make_linear(const Subject& subject) {
  if (!subject.plain()) return nullptr;
  const Shape x = rows(subject.input(0).shape);
  const Shape y = rows(subject.output(0).shape);
  const bool bias = subject.inputs() == 3;
  const auto description = forward(x, subject.input(1).shape, y, bias);
  if (!description || !is_fast(description)) return nullptr;
  auto program = std::make_unique<Program>();
  std::vector<std::pair<int, Slot>> arguments = {
      {DNNL_ARG_SRC, program->input(0, description.src_desc())},
      {DNNL_ARG_WEIGHTS, program->input(1, description.weights_desc())},
      {DNNL_ARG_DST, program->output(0, description.dst_desc())}};
  if (bias) arguments.emplace_back(DNNL_ARG_BIAS, program->input(2, description.bias_desc()));
  program->add(dnnl::inner_product_forward(description), description, arguments);
  return Program::finished(std::move(program));
}

std::unique_ptr<Kernel> make_linear_backward_input(const Subject& subject) {
  if (!subject.plain()) return nullptr;
  const Shape dy = rows(subject.input(0).shape);
  const Shape dx = rows(subject.output(0).shape);
  const Shape& weight = subject.input(1).shape;
  const auto hint = forward(dx, weight, dy, false);
  if (!hint) return nullptr;
  const dnnl::inner_product_backward_data::primitive_desc description(
      {row_major(dx), row_major(weight), row_major(dy)}, scratchpad_by_user(), engine(), hint, true);
  if (!description || !is_fast(description)) return nullptr;
  auto program = std::make_unique<Program>();
  program->add(dnnl::inner_product_backward_data(description), description,
               {{DNNL_ARG_DIFF_DST, program->input(0, description.diff_dst_desc())},
                {DNNL_ARG_WEIGHTS, program->input(1, description.weights_desc())},
                {DNNL_ARG_DIFF_SRC, program->output(0, description.diff_src_desc())}});
  return Program::finished(std::move(program));
}

std::unique_ptr<Kernel> make_linear_backward_weight(const Subject& subject) {
  if (!subject.plain()) return nullptr;
  const Shape dy = rows(subject.input(0).shape);
  const Shape x = rows(subject.input(1).shape);
  const Shape& weight = subject.output(0).shape;
  const bool bias = subject.outputs() == 2;
  const auto hint = forward(x, weight, dy, bias);
  if (!hint) return nullptr;
  const dnnl::inner_product_backward_weights::primitive_desc description(
      {row_major(x), row_major(weight), bias ? row_major({dy.back()}) : memory::desc(), row_major(dy)},
      scratchpad_by_user(), engine(), hint, true);
  if (!description || !is_fast(description)) return nullptr;
  auto program = std::make_unique<Program>();
  std::vector<std::pair<int, Slot>> arguments = {
      {DNNL_ARG_DIFF_DST, program->input(0, description.diff_dst_desc())},
      {DNNL_ARG_SRC, program->input(1, description.src_desc())},
      {DNNL_ARG_DIFF_WEIGHTS, program->output(0, description.diff_weights_desc())}};
  if (bias) arguments.emplace_back(DNNL_ARG_DIFF_BIAS, program->output(1, description.diff_bias_desc()));
  program->add(dnnl::inner_product_backward_weights(description), description, arguments);
  return Program::finished(std::move(program));
}

}  // namespace poet::runtime::onednn
