// Batch and layer normalisation, and the sums that are the gradients of biases: channel by channel, row by
// row. oneDNN 2 has plain loops for row-major images, several times slower than these.

#include <algorithm>
#include <string>

#include "poet/runtime/kernels/onednn/families.h"
#include "poet/runtime/kernels/onednn/loops/wide_loops.h"
#include "poet/runtime/kernels/onednn/sequence.h"

namespace poet::runtime::onednn {
namespace {

ChannelPlanes channel_of(const Shape& shape) {
  const std::int64_t plane = element_count(shape) / (shape.at(0) * shape.at(1));
  return {shape.at(0), plane, shape.at(1) * plane};
}

std::unique_ptr<Kernel> finished_loop(std::unique_ptr<Sequence> sequence, Loop loop) {
  sequence->add(std::move(loop), "wide loops");
  return Sequence::finished(std::move(sequence));
}

constexpr BufferId kNone = ~BufferId{0};

// The output that is the gradient of x, weight or bias (0, 1, 2).
BufferId gradient_slot(const Subject& subject, Sequence& sequence, std::int64_t position) {
  const int output = subject.gradient(position, {0, 1, 2});
  return output < 0 ? kNone : sequence.output(static_cast<std::size_t>(output));
}

// Both normalisations have the same operands. `scale` is 1 / the deviation, of a channel or a row.
struct Forward {
  BufferId x, weight, bias, y, mean, scale;
};

Forward forward_operands(Sequence& sequence) {
  return {sequence.input(0),  sequence.input(1),  sequence.input(2),
          sequence.output(0), sequence.output(1), sequence.output(2)};
}

// Gradients that are not wanted are kNone.
struct Backward {
  BufferId dy, x, weight, mean, scale, dx, dweight, dbias;

  [[nodiscard]] float* gradient(void* const* buffers, BufferId slot) const {
    return slot == kNone ? nullptr : written(buffers, slot);
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
                        threads = subject.threads, eps = subject.real("eps")](void* const* buffers) {
#pragma omp parallel for schedule(static) num_threads(threads) if (threads > 1)
                         for (std::int64_t c = 0; c < channels; ++c) {
                           const std::int64_t first = c * channel.plane;
                           loops.batch_norm(channel, read(buffers, of.x) + first, read(buffers, of.weight)[c],
                                            read(buffers, of.bias)[c], eps, written(buffers, of.y) + first,
                                            written(buffers, of.mean) + c, written(buffers, of.scale) + c);
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
                            threads = subject.threads](void* const* buffers) {
#pragma omp parallel for schedule(static) num_threads(threads) if (threads > 1)
        for (std::int64_t c = 0; c < channels; ++c) {
          const std::int64_t first = c * channel.plane;
          float* dx = of.gradient(buffers, of.dx);
          float* dweight = of.gradient(buffers, of.dweight);
          float* dbias = of.gradient(buffers, of.dbias);
          loops.batch_norm_backward(
              channel, read(buffers, of.dy) + first, read(buffers, of.x) + first, read(buffers, of.weight)[c],
              read(buffers, of.mean)[c], read(buffers, of.scale)[c], dx == nullptr ? nullptr : dx + first,
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
                                             threads = subject.threads](void* const* buffers) {
#pragma omp parallel for schedule(static) num_threads(threads) if (threads > 1)
    for (std::int64_t row = 0; row < rows; ++row) {
      loops.layer_norm(size, read(buffers, of.x) + row * size, read(buffers, of.weight),
                       read(buffers, of.bias), eps, written(buffers, of.y) + row * size,
                       written(buffers, of.mean) + row, written(buffers, of.scale) + row);
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
                                             threads = subject.threads](void* const* buffers) {
    if (of.dx != kNone) {
#pragma omp parallel for schedule(static) num_threads(threads) if (threads > 1)
      for (std::int64_t row = 0; row < rows; ++row) {
        loops.layer_norm_backward(size, read(buffers, of.dy) + row * size, read(buffers, of.x) + row * size,
                                  read(buffers, of.weight), read(buffers, of.mean)[row],
                                  read(buffers, of.scale)[row], written(buffers, of.dx) + row * size);
      }
    }
    if (of.dweight == kNone && of.dbias == kNone) return;
    constexpr std::int64_t kPart = 128;
#pragma omp parallel for schedule(static) num_threads(threads) if (threads > 1)
    for (std::int64_t part = 0; part < (size + kPart - 1) / kPart; ++part) {
      loops.layer_norm_sums(rows, size, part * kPart, std::min(size, (part + 1) * kPart),
                            read(buffers, of.dy), read(buffers, of.x), read(buffers, of.mean),
                            read(buffers, of.scale), of.gradient(buffers, of.dweight),
                            of.gradient(buffers, of.dbias));
    }
  });
}

std::unique_ptr<Kernel> make_channel_sum(const Subject& subject) {
  if (!subject.plain()) return nullptr;
  const Shape& shape = subject.input(0).shape;
  auto sequence = std::make_unique<Sequence>();
  const BufferId dy = sequence->input(0);
  const BufferId dbias = sequence->output(0);
  return finished_loop(
      std::move(sequence), [=, &loops = wide_loops(), channel = channel_of(shape), channels = shape[1],
                            threads = subject.threads](void* const* buffers) {
#pragma omp parallel for schedule(static) num_threads(threads) if (threads > 1)
        for (std::int64_t c = 0; c < channels; ++c) {
          written(buffers, dbias)[c] = loops.channel_sum(channel, read(buffers, dy) + c * channel.plane);
        }
      });
}

std::unique_ptr<Kernel> make_column_sums(const Subject& subject) {
  if (!subject.plain()) return nullptr;
  const std::int64_t columns = subject.input(0).shape.back();
  const std::int64_t rows = element_count(subject.input(0).shape) / columns;
  auto sequence = std::make_unique<Sequence>();
  const BufferId dy = sequence->input(0);
  const BufferId dbias = sequence->output(0);
  return finished_loop(std::move(sequence), [=, &loops = wide_loops()](void* const* buffers) {
    loops.column_sums(rows, columns, read(buffers, dy), written(buffers, dbias));
  });
}

}  // namespace poet::runtime::onednn
