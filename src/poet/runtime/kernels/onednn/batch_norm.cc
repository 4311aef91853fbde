// Batch and layer normalisation, and the sums that are the gradients of biases: channel by channel, row by
// row. oneDNN 2 has plain loops for row-major images, several times slower than these.

#include <algorithm>
#include <string>

#include "poet/runtime/kernels/onednn/families.h"
#include "poet/runtime/kernels/onednn/loops/wide_loops.h"
#include "poet/runtime/kernels/onednn/sequence.h"

namespace poet::runtime::onednn {
namespace {

Channel channel_of(const Shape& shape) {
  const std::int64_t plane = element_count(shape) / (shape.at(0) * shape.at(1));
  return {shape.at(0), plane, shape.at(1) * plane};
}

std::unique_ptr<Kernel> finished_loop(std::unique_ptr<Sequence> sequence, Loop loop) {
  sequence->add(std::move(loop), "wide loops");
  return Sequence::finished(std::move(sequence));
}

constexpr Slot kNone = ~Slot{0};

// The output that is the gradient of x, weight or bias (0, 1, 2).
Slot gradient_slot(const Subject& subject, Sequence& sequence, std::int64_t position) {
  const int output = subject.gradient(position, 3);
  return output < 0 ? kNone : sequence.output(static_cast<std::size_t>(output));
}

}  // namespace

std::unique_ptr<Kernel> make_batch_norm(const Subject& subject) {
  if (!subject.plain()) return nullptr;
  const Shape& shape = subject.input(0).shape;
  auto sequence = std::make_unique<Sequence>();
  const Slot x = sequence->input(0);
  const Slot weight = sequence->input(1);
  const Slot bias = sequence->input(2);
  const Slot y = sequence->output(0);
  const Slot mean = sequence->output(1);
  const Slot invstd = sequence->output(2);
  return finished_loop(
      std::move(sequence), [=, &loops = wide_loops(), channel = channel_of(shape), channels = shape[1],
                            threads = subject.threads, eps = subject.real("eps")](void* const* slots) {
#pragma omp parallel for schedule(static) num_threads(threads) if (threads > 1)
        for (std::int64_t c = 0; c < channels; ++c) {
          const std::int64_t first = c * channel.plane;
          loops.batch_norm(channel, read(slots, x) + first, read(slots, weight)[c], read(slots, bias)[c], eps,
                           written(slots, y) + first, written(slots, mean) + c, written(slots, invstd) + c);
        }
      });
}

std::unique_ptr<Kernel> make_batch_norm_backward(const Subject& subject) {
  if (!subject.plain()) return nullptr;
  const Shape& shape = subject.input(1).shape;
  auto sequence = std::make_unique<Sequence>();
  const Slot dy = sequence->input(0);
  const Slot x = sequence->input(1);
  const Slot weight = sequence->input(2);
  const Slot mean = sequence->input(3);
  const Slot invstd = sequence->input(4);
  const Slot dx = gradient_slot(subject, *sequence, 0);
  const Slot dweight = gradient_slot(subject, *sequence, 1);
  const Slot dbias = gradient_slot(subject, *sequence, 2);
  return finished_loop(
      std::move(sequence), [=, &loops = wide_loops(), channel = channel_of(shape), channels = shape[1],
                            threads = subject.threads](void* const* slots) {
#pragma omp parallel for schedule(static) num_threads(threads) if (threads > 1)
        for (std::int64_t c = 0; c < channels; ++c) {
          const std::int64_t first = c * channel.plane;
          loops.batch_norm_backward(channel, read(slots, dy) + first, read(slots, x) + first,
                                    read(slots, weight)[c], read(slots, mean)[c], read(slots, invstd)[c],
                                    dx == kNone ? nullptr : written(slots, dx) + first,
                                    dweight == kNone ? nullptr : written(slots, dweight) + c,
                                    dbias == kNone ? nullptr : written(slots, dbias) + c);
        }
      });
}

std::unique_ptr<Kernel> make_layer_norm(const Subject& subject) {
  if (!subject.plain()) return nullptr;
  const std::int64_t size = subject.input(0).shape.back();
  const std::int64_t rows = element_count(subject.input(0).shape) / size;
  auto sequence = std::make_unique<Sequence>();
  const Slot x = sequence->input(0);
  const Slot weight = sequence->input(1);
  const Slot bias = sequence->input(2);
  const Slot y = sequence->output(0);
  const Slot mean = sequence->output(1);
  const Slot rstd = sequence->output(2);
  return finished_loop(std::move(sequence), [=, &loops = wide_loops(), eps = subject.real("eps"),
                                             threads = subject.threads](void* const* slots) {
#pragma omp parallel for schedule(static) num_threads(threads) if (threads > 1)
    for (std::int64_t row = 0; row < rows; ++row) {
      loops.layer_norm(size, read(slots, x) + row * size, read(slots, weight), read(slots, bias), eps,
                       written(slots, y) + row * size, written(slots, mean) + row,
                       written(slots, rstd) + row);
    }
  });
}

std::unique_ptr<Kernel> make_layer_norm_backward(const Subject& subject) {
  if (!subject.plain()) return nullptr;
  const std::int64_t size = subject.input(1).shape.back();
  const std::int64_t rows = element_count(subject.input(1).shape) / size;
  auto sequence = std::make_unique<Sequence>();
  const Slot dy = sequence->input(0);
  const Slot x = sequence->input(1);
  const Slot weight = sequence->input(2);
  const Slot mean = sequence->input(3);
  const Slot rstd = sequence->input(4);
  const Slot dx = gradient_slot(subject, *sequence, 0);
  const Slot dweight = gradient_slot(subject, *sequence, 1);
  const Slot dbias = gradient_slot(subject, *sequence, 2);
  return finished_loop(
      std::move(sequence), [=, &loops = wide_loops(), threads = subject.threads](void* const* slots) {
        if (dx != kNone) {
#pragma omp parallel for schedule(static) num_threads(threads) if (threads > 1)
          for (std::int64_t row = 0; row < rows; ++row) {
            loops.layer_norm_backward(size, read(slots, dy) + row * size, read(slots, x) + row * size,
                                      read(slots, weight), read(slots, mean)[row], read(slots, rstd)[row],
                                      written(slots, dx) + row * size);
          }
        }
        if (dweight == kNone && dbias == kNone) return;
        constexpr std::int64_t kPart = 128;
#pragma omp parallel for schedule(static) num_threads(threads) if (threads > 1)
        for (std::int64_t part = 0; part < (size + kPart - 1) / kPart; ++part) {
          loops.layer_norm_sums(rows, size, part * kPart, std::min(size, (part + 1) * kPart), read(slots, dy),
                                read(slots, x), read(slots, mean), read(slots, rstd),
                                dweight == kNone ? nullptr : written(slots, dweight),
                                dbias == kNone ? nullptr : written(slots, dbias));
        }
      });
}

std::unique_ptr<Kernel> make_channel_sum(const Subject& subject) {
  if (!subject.plain()) return nullptr;
  const Shape& shape = subject.input(0).shape;
  auto sequence = std::make_unique<Sequence>();
  const Slot dy = sequence->input(0);
  const Slot dbias = sequence->output(0);
  return finished_loop(
      std::move(sequence), [=, &loops = wide_loops(), channel = channel_of(shape), channels = shape[1],
                            threads = subject.threads](void* const* slots) {
#pragma omp parallel for schedule(static) num_threads(threads) if (threads > 1)
        for (std::int64_t c = 0; c < channels; ++c) {
          written(slots, dbias)[c] = loops.channel_sum(channel, read(slots, dy) + c * channel.plane);
        }
      });
}

std::unique_ptr<Kernel> make_column_sums(const Subject& subject) {
  if (!subject.plain()) return nullptr;
  const std::int64_t columns = subject.input(0).shape.back();
  const std::int64_t rows = element_count(subject.input(0).shape) / columns;
  auto sequence = std::make_unique<Sequence>();
  const Slot dy = sequence->input(0);
  const Slot dbias = sequence->output(0);
  return finished_loop(std::move(sequence), [=, &loops = wide_loops()](void* const* slots) {
    loops.column_sums(rows, columns, read(slots, dy), written(slots, dbias));
  });
}

}  // namespace poet::runtime::onednn
