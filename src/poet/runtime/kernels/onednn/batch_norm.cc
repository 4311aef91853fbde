// Batch normalisation. oneDNN keeps the variance where poet keeps 1 / sqrt(variance + eps): C numbers are
// converted in the workspace.

#include <cmath>
#include <dnnl.hpp>

#include "poet/runtime/kernels/onednn/families.h"
#include "poet/runtime/kernels/onednn/program.h"

namespace poet::runtime::onednn {
namespace {

using dnnl::memory;
using dnnl::normalization_flags;
using dnnl::prop_kind;

const auto kFlags = normalization_flags::use_scale | normalization_flags::use_shift;

}  // namespace

std::unique_ptr<Kernel> make_batch_norm(const Subject& subject) {
  if (!subject.plain()) return nullptr;
  const memory::desc x = row_major(subject.input(0).shape);
  const float eps = static_cast<float>(subject.real("eps"));
  const dnnl::batch_normalization_forward::primitive_desc description(
      {prop_kind::forward_training, x, eps, kFlags}, scratchpad_by_user(), engine(), true);
  if (!description || !is_fast(description)) return nullptr;
  const std::int64_t channels = subject.input(0).shape.at(1);
  const memory::desc vector = row_major({channels});

  auto program = std::make_unique<Program>();
  const Slot invstd = program->output(2, vector);
  program->add(dnnl::batch_normalization_forward(description), description,
               {{DNNL_ARG_SRC, program->input(0, x)},
                {DNNL_ARG_SCALE, program->input(1, vector)},
                {DNNL_ARG_SHIFT, program->input(2, vector)},
                {DNNL_ARG_DST, program->output(0, x)},
                {DNNL_ARG_MEAN, program->output(1, vector)},
                {DNNL_ARG_VARIANCE, invstd}});
  program->add(
      [invstd, channels, eps](void* const* slots) {
        float* values = static_cast<float*>(slots[invstd]);
        for (std::int64_t c = 0; c < channels; ++c) values[c] = 1.0F / std::sqrt(values[c] + eps);
      },
      "");
  return Program::finished(std::move(program));
}

std::unique_ptr<Kernel> make_batch_norm_backward(const Subject& subject) {
  if (!subject.plain()) return nullptr;
  const memory::desc x = row_major(subject.input(1).shape);
  const float eps = static_cast<float>(subject.real("eps"));
  const dnnl::batch_normalization_forward::primitive_desc forward(
      {prop_kind::forward_training, x, eps, kFlags}, scratchpad_by_user(), engine(), true);
  if (!forward) return nullptr;
  const dnnl::batch_normalization_backward::primitive_desc description(
      {prop_kind::backward, x, x, eps, kFlags}, scratchpad_by_user(), engine(), forward, true);
  if (!description || !is_fast(description)) return nullptr;
  const std::int64_t channels = subject.input(1).shape.at(1);
  const memory::desc vector = row_major({channels});

  auto program = std::make_unique<Program>();
  const Slot invstd = program->input(4, vector);
  const Slot variance = program->scratch(vector);
  const Slot shift = program->scratch(vector);  // asked for, never read
  const auto gradient = [&](std::int64_t position, const memory::desc& layout) {
    const int output = subject.gradient(position, 3);
    return output < 0 ? program->scratch(layout) : program->output(static_cast<std::size_t>(output), layout);
  };
  program->add(
      [invstd, variance, shift, channels, eps](void* const* slots) {
        const float* from = static_cast<const float*>(slots[invstd]);
        float* to = static_cast<float*>(slots[variance]);
        float* zeros = static_cast<float*>(slots[shift]);
        for (std::int64_t c = 0; c < channels; ++c) {
          to[c] = 1.0F / (from[c] * from[c]) - eps;
          zeros[c] = 0.0F;
        }
      },
      "");
  program->add(dnnl::batch_normalization_backward(description), description,
               {{DNNL_ARG_DIFF_DST, program->input(0, x)},
                {DNNL_ARG_SRC, program->input(1, x)},
                {DNNL_ARG_SCALE, program->input(2, vector)},
                {DNNL_ARG_SHIFT, shift},
                {DNNL_ARG_MEAN, program->input(3, vector)},
                {DNNL_ARG_VARIANCE, variance},
                {DNNL_ARG_DIFF_SRC, gradient(0, x)},
                {DNNL_ARG_DIFF_SCALE, gradient(1, vector)},
                {DNNL_ARG_DIFF_SHIFT, gradient(2, vector)}});
  return Program::finished(std::move(program));
}

}  // namespace poet::runtime::onednn
