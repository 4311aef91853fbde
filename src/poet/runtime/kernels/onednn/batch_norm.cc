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
  const int output = subject.gradient(position, {0, 1, 2});
  return output < 0 ? kNone : sequence.output(static_cast<std::size_t>(output));
}

// Both normalisations have the same operands. `scale` is 1 / the deviation, of a channel or a row.
struct Forward {
  Slot x, weight, bias, y, mean, scale;
};

Forward forward_operands(Sequence& sequence) {
  return {sequence.input(0),  sequence.input(1),  sequence.input(2),
          sequence.output(0), sequence.output(1), sequence.output(2)};
}

// Gradients that are not wanted are kNone.
struct Backward {
  Slot dy, x, weight, mean, scale, dx, dweight, dbias;

  [[nodiscard]] float* gradient(void* const* slots, Slot slot) const {
    return slot == kNone ? nullptr : written(slots, slot);
  }
};

Backward backward_operands(const Subject& subject, Sequence& sequence) {
  Backward all{};
  all.dy = sequence.input(0);
  all.x = sequence.input(1);
  all.weight = sequence.input(2);
  all.mean = sequence.input(3);
  all.scale = sequence.input(4);
  all.dx = gradient_slot(subject, sequence, 0);
  all.dweight = gradient_slot(subject, sequence, 1);
  all.dbias = gradient_slot(subject, sequence, 2);
  return all;
}

}  // namespace

std::unique_ptr<Kernel> make_batch_norm(const Subject& subject) {
  if (!subject.plain()) return nullptr;
  const Shape& shape = subject.input(0).shape;
  auto sequence = std::make_unique<Sequence>();
  const Forward of = forward_operands(*sequence);
  return finished_loop(std::move(sequence),
                       [=, &loops = wide_loops(), channel = channel_of(shape), channels = shape[1],
                        threads = subject.threads, eps = subject.real("eps")](void* const* slots) {
#pragma omp parallel for schedule(static) num_threads(threads) if (threads > 1)
                         for (std::int64_t c = 0; c < channels; ++c) {
                           const std::int64_t first = c * channel.plane;
                           loops.batch_norm(channel, read(slots, of.x) + first, read(slots, of.weight)[c],
                                            read(slots, of.bias)[c], eps, written(slots, of.y) + first,
                                            written(slots, of.mean) + c, written(slots, of.scale) + c);
                         }
                       });
}

std::unique_ptr<Kernel> make_batch_norm_backward(const Subject& subject) {
  if (!subject.plain()) return nullptr;
  const Shape& shape = subject.input(1).shape;
  auto sequence = std::make_unique<Sequence>();
  const Backward of = backward_operands(subject, *sequence);
  return finished_loop(
      std::move(sequence), [=, &loops = wide_loops(), channel = channel_of(shape), channels = shape[1],
                            threads = subject.threads](void* const* slots) {
#pragma omp parallel for schedule(static) num_threads(threads) if (threads > 1)
        for (std::int64_t c = 0; c < channels; ++c) {
          const std::int64_t first = c * channel.plane;
          float* dx = of.gradient(slots, of.dx);
          float* dweight = of.gradient(slots, of.dweight);
          float* dbias = of.gradient(slots, of.dbias);
          loops.batch_norm_backward(
              channel, read(slots, of.dy) + first, read(slots, of.x) + first, read(slots, of.weight)[c],
              read(slots, of.mean)[c], read(slots, of.scale)[c], dx == nullptr ? nullptr : dx + first,
              dweight == nullptr ? nullptr : dweight + c, dbias == nullptr ? nullptr : dbias + c);
        }
      });
}

std::unique_ptr<Kernel> make_layer_norm(const Subject& subject) {
  if (!subject.plain()) return nullptr;
  const std::int64_t size = subject.input(0).shape.back();
  const std::int64_t rows = element_count(subject.input(0).shape) / size;
  auto sequence = std::make_unique<Sequence>();
  const Forward of = forward_operands(*sequence);
  return finished_loop(std::move(sequence), [=, &loops = wide_loops(), eps = subject.real("eps"),
                                             threads = subject.threads](void* const* slots) {
#pragma omp parallel for schedule(static) num_threads(threads) if (threads > 1)
    for (std::int64_t row = 0; row < rows; ++row) {
      loops.layer_norm(size, read(slots, of.x) + row * size, read(slots, of.weight), read(slots, of.bias),
                       eps, written(slots, of.y) + row * size, written(slots, of.mean) + row,
                       written(slots, of.scale) + row);
    }
  });
}

std::unique_ptr<Kernel> make_layer_norm_backward(const Subject& subject) {
  if (!subject.plain()) return nullptr;
  const std::int64_t size = subject.input(1).shape.back();
  const std::int64_t rows = element_count(subject.input(1).shape) / size;
  auto sequence = std::make_unique<Sequence>();
  const Backward of = backward_operands(subject, *sequence);
  return finished_loop(std::move(sequence), [=, &loops = wide_loops(),
                                             threads = subject.threads](void* const* slots) {
    if (of.dx != kNone) {
#pragma omp parallel for schedule(static) num_threads(threads) if (threads > 1)
      for (std::int64_t row = 0; row < rows; ++row) {
        loops.layer_norm_backward(size, read(slots, of.dy) + row * size, read(slots, of.x) + row * size,
                                  read(slots, of.weight), read(slots, of.mean)[row],
                                  read(slots, of.scale)[row], written(slots, of.dx) + row * size);
      }
    }
    if (of.dweight == kNone && of.dbias == kNone) return;
    constexpr std::int64_t kPart = 128;
#pragma omp parallel for schedule(static) num_threads(threads) if (threads > 1)
    for (std::int64_t part = 0; part < (size + kPart - 1) / kPart; ++part) {
      loops.layer_norm_sums(rows, size, part * kPart, std::min(size, (part + 1) * kPart), read(slots, of.dy),
                            read(slots, of.x), read(slots, of.mean), read(slots, of.scale),
                            of.gradient(slots, of.dweight), of.gradient(slots, of.dbias));
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
