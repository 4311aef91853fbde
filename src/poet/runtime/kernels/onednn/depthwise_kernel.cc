// Convolutions of one channel per group, plane by plane.

#include <omp.h>

#include <string>

#include "poet/runtime/kernels/onednn/convolution_product.h"
#include "poet/runtime/kernels/onednn/loops/depthwise.h"
#include "poet/runtime/kernels/onednn/loops/wide_loops.h"
#include "poet/runtime/kernels/onednn/sequence.h"

namespace poet::runtime::onednn {

bool is_depthwise(const Subject& subject) {
  const bool weights = subject.op().kind.ends_with("_backward_weight");
  const Shape& weight = weights ? subject.output(0).shape : subject.input(1).shape;
  return weight.size() == 4 && weight[0] == subject.integer("groups") && weight[1] == 1 &&
         weight[2] * weight[3] <= 25 && weight[0] > 1;
}

std::unique_ptr<Kernel> make_depthwise(const Subject& subject) {
  if (!subject.plain()) return nullptr;
  const bool input = subject.op().kind.ends_with("_backward_input");
  const bool weights = subject.op().kind.ends_with("_backward_weight");
  const Shape& x = input ? subject.output(0).shape : subject.input(weights ? 1 : 0).shape;
  const Shape& y = input || weights ? subject.input(0).shape : subject.output(0).shape;
  const Shape& weight = weights ? subject.output(0).shape : subject.input(1).shape;
  if (x[1] != weight[0]) return nullptr;
  Plane p{};
  for (std::size_t i = 0; i < 2; ++i) {
    p.x[i] = x[i + 2];
    p.y[i] = y[i + 2];
    p.taps[i] = weight[i + 2];
    p.stride[i] = subject.list("stride")[i];
    p.dilation[i] = subject.list("dilation")[i];
    p.padding[i] = subject.list("padding")[i];
    if (p.padding[i] > (p.taps[i] - 1) * p.dilation[i]) return nullptr;
  }
  const std::int64_t images = x[0];
  const std::int64_t channels = x[1];
  const std::int64_t taps = p.taps[0] * p.taps[1];
  const std::int64_t plane_x = p.x[0] * p.x[1];
  const std::int64_t plane_y = p.y[0] * p.y[1];
  const std::int64_t own = rounded_up(Bytes(depthwise_scratch(p)), Bytes(16)).value();
  const int threads = subject.threads;

  auto sequence = std::make_unique<Sequence>();
  const BufferId a = sequence->input(0);
  const BufferId b = sequence->input(1);
  const BufferId result = sequence->output(0);
  const BufferId scratch = sequence->scratch(static_cast<std::size_t>(own * threads) * sizeof(float));
  const DepthwiseLoops& loops = depthwise_loops();
  if (weights) {
    sequence->add(
        [=, &loops](void* const* buffers) {
#pragma omp parallel for schedule(static) num_threads(threads) if (threads > 1)
          for (std::int64_t c = 0; c < channels; ++c) {
            loops.backward_weight(p, images, read(buffers, b) + c * plane_x, channels * plane_x,
                                  read(buffers, a) + c * plane_y, channels * plane_y,
                                  written(buffers, result) + c * taps,
                                  written(buffers, scratch) + own * omp_get_thread_num());
          }
        },
        "wide loops");
    if (subject.outputs() == 2) {
      const BufferId dbias = sequence->output(1);
      const ChannelPlanes channel{images, plane_y, channels * plane_y};
      sequence->add(
          [=, &sums = wide_loops()](void* const* buffers) {
            for (std::int64_t c = 0; c < channels; ++c) {
              written(buffers, dbias)[c] = sums.channel_sum(channel, read(buffers, a) + c * plane_y);
            }
          },
          "");
    }
    return Sequence::finished(std::move(sequence));
  }
  const bool has_bias = !input && subject.inputs() == 3;
  const BufferId bias = has_bias ? sequence->input(2) : a;
  sequence->add(
      [=, &loops](void* const* buffers) {
#pragma omp parallel for schedule(static) num_threads(threads) if (threads > 1)
        for (std::int64_t i = 0; i < images * channels; ++i) {
          const std::int64_t c = i % channels;
          const float* weight_of = read(buffers, b) + c * taps;
          float* own_scratch = written(buffers, scratch) + own * omp_get_thread_num();
          if (input) {
            loops.backward_input(p, read(buffers, a) + i * plane_y, weight_of,
                                 written(buffers, result) + i * plane_x, own_scratch);
          } else {
            loops.forward(p, read(buffers, a) + i * plane_x, weight_of,
                          has_bias ? read(buffers, bias)[c] : 0.0F, written(buffers, result) + i * plane_y,
                          own_scratch);
          }
        }
      },
      "wide loops");
  return Sequence::finished(std::move(sequence));
}

}  // namespace poet::runtime::onednn
