// Convolutions of one channel per group, plane by plane.

#include <omp.h>

#include <optional>
#include <string>
#include <utility>

#include "poet/runtime/kernels/onednn/convolution_product.h"
#include "poet/runtime/kernels/onednn/loops/depthwise.h"

namespace poet::runtime::onednn {

bool is_depthwise(const Subject& subject) {
  const Shape& weight = is_weight_gradient(subject) ? subject.output(0).shape : subject.input(1).shape;
  return weight.size() == 4 && weight[0] == subject.integer("groups") && weight[1] == 1 &&
         weight[2] * weight[3] <= 25 && weight[0] > 1;
}

namespace {

struct Depthwise {
  Plane plane{};
  std::int64_t images = 0;
  std::int64_t channels = 0;
  std::int64_t taps = 0;
  std::int64_t plane_x = 0;  // numbers of a channel
  std::int64_t plane_y = 0;
  std::int64_t scratch = 0;  // numbers per thread
};

/// Returns nothing for geometries that the loops do not treat.
std::optional<Depthwise> depthwise_of(const Subject& subject) {
  const bool input = is_input_gradient(subject);
  const bool weights = is_weight_gradient(subject);
  const Shape& x = input ? subject.output(0).shape : subject.input(weights ? 1 : 0).shape;
  const Shape& y = input || weights ? subject.input(0).shape : subject.output(0).shape;
  const Shape& weight = weights ? subject.output(0).shape : subject.input(1).shape;
  if (x[1] != weight[0]) return std::nullopt;
  Depthwise d;
  Plane& p = d.plane;
  for (std::size_t i = 0; i < 2; ++i) {
    p.x[i] = x[i + 2];
    p.y[i] = y[i + 2];
    p.taps[i] = weight[i + 2];
    p.stride[i] = subject.list("stride")[i];
    p.dilation[i] = subject.list("dilation")[i];
    p.padding[i] = subject.list("padding")[i];
    if (p.padding[i] > (p.taps[i] - 1) * p.dilation[i]) return std::nullopt;
  }
  d.images = x[0];
  d.channels = x[1];
  d.taps = p.taps[0] * p.taps[1];
  d.plane_x = p.x[0] * p.x[1];
  d.plane_y = p.y[0] * p.y[1];
  d.scratch = rounded_up(Bytes(depthwise_scratch(p)), Bytes(16)).value();
  return d;
}

void add_weight_gradient(Sequence& sequence, const Depthwise& d, BufferId dy, BufferId x, int threads) {
  const BufferId result = sequence.output(0);
  const BufferId scratch = sequence.scratch(static_cast<std::size_t>(d.scratch * threads) * sizeof(float));
  sequence.add(
      [=, &loops = depthwise_loops()](void* const* buffers) {
#pragma omp parallel for schedule(static) num_threads(threads) if (threads > 1)
        for (std::int64_t c = 0; c < d.channels; ++c) {
          loops.backward_weight(d.plane, d.images, read(buffers, x) + c * d.plane_x, d.channels * d.plane_x,
                                read(buffers, dy) + c * d.plane_y, d.channels * d.plane_y,
                                written(buffers, result) + c * d.taps,
                                written(buffers, scratch) + d.scratch * omp_get_thread_num());
        }
      },
      "wide loops");
}

/// The forward pass, or with `input` the gradient of its input, of every plane.
void add_planes(Sequence& sequence, const Depthwise& d, BufferId from, BufferId weight,
                std::optional<BufferId> bias, bool input, int threads) {
  const BufferId result = sequence.output(0);
  const BufferId scratch = sequence.scratch(static_cast<std::size_t>(d.scratch * threads) * sizeof(float));
  sequence.add(
      [=, &loops = depthwise_loops()](void* const* buffers) {
#pragma omp parallel for schedule(static) num_threads(threads) if (threads > 1)
        for (std::int64_t i = 0; i < d.images * d.channels; ++i) {
          const std::int64_t c = i % d.channels;
          const float* weight_of = read(buffers, weight) + c * d.taps;
          float* scratch_of = written(buffers, scratch) + d.scratch * omp_get_thread_num();
          if (input) {
            loops.backward_input(d.plane, read(buffers, from) + i * d.plane_y, weight_of,
                                 written(buffers, result) + i * d.plane_x, scratch_of);
          } else {
            loops.forward(d.plane, read(buffers, from) + i * d.plane_x, weight_of,
                          bias ? read(buffers, *bias)[c] : 0.0F, written(buffers, result) + i * d.plane_y,
                          scratch_of);
          }
        }
      },
      "wide loops");
}

}  // namespace

std::unique_ptr<Kernel> make_depthwise(const Subject& subject) {
  if (!subject.plain()) return nullptr;
  const std::optional<Depthwise> d = depthwise_of(subject);
  if (!d) return nullptr;
  auto sequence = std::make_unique<Sequence>();
  const BufferId a = sequence->input(0);
  const BufferId b = sequence->input(1);
  if (is_weight_gradient(subject)) {
    add_weight_gradient(*sequence, *d, a, b, subject.threads);
    if (subject.outputs() == 2) add_bias_gradient(*sequence, subject.input(0).shape, a, sequence->output(1));
    return Sequence::finished(std::move(sequence));
  }
  const bool input = is_input_gradient(subject);
  std::optional<BufferId> bias;
  if (!input && subject.inputs() == 3) bias = sequence->input(2);
  add_planes(*sequence, *d, a, b, bias, input, subject.threads);
  return Sequence::finished(std::move(sequence));
}

}  // namespace poet::runtime::onednn
