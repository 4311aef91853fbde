// Fully connected layers: all axes of x but the last are one long batch.

#include <string>

#include "poet/runtime/kernels/onednn/families.h"
#include "poet/runtime/kernels/onednn/loops/gemm.h"
#include "poet/runtime/kernels/onednn/loops/wide_loops.h"
#include "poet/runtime/kernels/onednn/sequence.h"

namespace poet::runtime::onednn {
namespace {

std::int64_t rows(const Shape& shape) { return element_count(shape) / shape.back(); }

// Input 0 times input 1, with a bias per column where there is one.
std::unique_ptr<Sequence> product(const Gemm& p, bool bias, int threads) {
  auto sequence = std::make_unique<Sequence>();
  const BufferId a = sequence->input(0);
  const BufferId b = sequence->input(1);
  const BufferId added = bias ? sequence->input(2) : a;
  const BufferId c = sequence->output(0);
  const BufferId scratch = sequence->scratch(static_cast<std::size_t>(product_workspace(p, threads).value()));
  sequence->add(
      [=](void* const* buffers) {
        multiply(p, read(buffers, a), read(buffers, b), written(buffers, c),
                 {nullptr, bias ? read(buffers, added) : nullptr}, written(buffers, scratch), threads);
      },
      "wide product");
  return sequence;
}

}  // namespace

std::unique_ptr<Kernel> make_linear(const Subject& subject) {
  if (!subject.plain()) return nullptr;
  const std::int64_t in = subject.input(0).shape.back();
  const std::int64_t out = subject.output(0).shape.back();
  Gemm p;  // y = x weightT
  p.m = rows(subject.input(0).shape);
  p.n = out;
  p.k = in;
  p.a_rows = {in};
  p.b_columns = {in};
  p.c_rows = {out};
  return Sequence::finished(product(p, subject.inputs() == 3, subject.threads));
}

std::unique_ptr<Kernel> make_linear_backward_input(const Subject& subject) {
  if (!subject.plain()) return nullptr;
  const std::int64_t in = subject.output(0).shape.back();
  const std::int64_t out = subject.input(0).shape.back();
  Gemm p;  // dx = dy weight
  p.m = rows(subject.input(0).shape);
  p.n = in;
  p.k = out;
  p.a_rows = {out};
  p.b_rows = {in};
  p.c_rows = {in};
  return Sequence::finished(product(p, false, subject.threads));
}

std::unique_ptr<Kernel> make_linear_backward_weight(const Subject& subject) {
  if (!subject.plain()) return nullptr;
  const std::int64_t in = subject.input(1).shape.back();
  const std::int64_t out = subject.input(0).shape.back();
  Gemm p;  // dweight = dyT x
  p.m = out;
  p.n = in;
  p.k = rows(subject.input(0).shape);
  p.a_columns = {out};
  p.b_rows = {in};
  p.c_rows = {in};
  auto sequence = product(p, false, subject.threads);
  if (subject.outputs() == 2) {
    const BufferId dy = sequence->input(0);
    const BufferId dbias = sequence->output(1);
    sequence->add(
        [=, &loops = wide_loops()](void* const* buffers) {
          loops.column_sums(p.k, out, read(buffers, dy), written(buffers, dbias));
        },
        "");
  }
  return Sequence::finished(std::move(sequence));
}

}  // namespace poet::runtime::onednn
