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
std::unique_ptr<Sequence> product(const Product& p, bool bias, int threads) {
  auto sequence = std::make_unique<Sequence>();
  const Slot a = sequence->input(0);
  const Slot b = sequence->input(1);
  const Slot added = bias ? sequence->input(2) : a;
  const Slot c = sequence->output(0);
  const Slot scratch = sequence->scratch(static_cast<std::size_t>(product_workspace(p, threads).value()));
  sequence->add(
      [=](void* const* slots) {
        multiply(p, read(slots, a), read(slots, b), written(slots, c),
                 {nullptr, bias ? read(slots, added) : nullptr}, written(slots, scratch), threads);
      },
      "wide product");
  return sequence;
}

}  // namespace

std::unique_ptr<Kernel> make_linear(const Subject& subject) {
  if (!subject.plain()) return nullptr;
  const std::int64_t in = subject.input(0).shape.back();
  const std::int64_t out = subject.output(0).shape.back();
  Product p;  // y = x weightT
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
  Product p;  // dx = dy weight
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
  Product p;  // dweight = dyT x
  p.m = out;
  p.n = in;
  p.k = rows(subject.input(0).shape);
  p.a_columns = {out};
  p.b_rows = {in};
  p.c_rows = {in};
  auto sequence = product(p, false, subject.threads);
  if (subject.outputs() == 2) {
    const Slot dy = sequence->input(0);
    const Slot dbias = sequence->output(1);
    sequence->add(
        [=, &loops = wide_loops()](void* const* slots) {
          loops.column_sums(p.k, out, read(slots, dy), written(slots, dbias));
        },
        "");
  }
  return Sequence::finished(std::move(sequence));
}

}  // namespace poet::runtime::onednn
