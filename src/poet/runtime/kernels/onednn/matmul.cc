// Products of matrices in any two layouts. Leading axes broadcast; the result is summed over those that it
// does not have.

#include <algorithm>
#include <vector>

#include "poet/graph/strides.h"
#include "poet/runtime/kernels/onednn/families.h"
#include "poet/runtime/kernels/onednn/loops/gemm.h"
#include "poet/runtime/kernels/onednn/sequence.h"

namespace poet::runtime::onednn {
namespace {

struct MatmulOperand {
  Shape shape;
  Shape strides;

  [[nodiscard]] std::int64_t size(std::size_t axis) const { return shape[axis]; }
  // 0 along axes that are stretched.
  [[nodiscard]] std::int64_t distance(std::size_t axis) const { return shape[axis] == 1 ? 0 : strides[axis]; }
};

// With leading axes of size 1 up to `rank`.
MatmulOperand operand(const Value& value, std::size_t rank) {
  MatmulOperand result{value.shape, value.strides.empty() ? row_major_strides(value.shape) : value.strides};
  while (result.shape.size() < rank) {
    result.shape.insert(result.shape.begin(), 1);
    result.strides.insert(result.strides.begin(), 0);
  }
  return result;
}

bool is_float32(const Value& value) {
  return value.dtype == DType::float32 && element_count(value.shape) > 0;
}

// One product of the batch: where its operands begin, and whether it is added to an earlier one's result.
struct Part {
  std::int64_t a = 0;
  std::int64_t b = 0;
  std::int64_t c = 0;
  bool accumulate = false;
};

// Axes along which c has no extent come last, so that all that is added to one result is neighbours.
std::vector<Part> parts(const MatmulOperand& a, const MatmulOperand& b, const MatmulOperand& c,
                        std::size_t leading) {
  std::vector<std::size_t> axes;
  for (const bool summed : {false, true}) {
    for (std::size_t axis = 0; axis < leading; ++axis) {
      if ((c.size(axis) == 1) == summed) axes.push_back(axis);
    }
  }
  std::vector<Part> result = {{}};
  for (const std::size_t axis : axes) {
    const std::int64_t size = std::max(a.size(axis), b.size(axis));
    std::vector<Part> longer;
    for (const Part& part : result) {
      for (std::int64_t i = 0; i < size; ++i) {
        longer.push_back({part.a + i * a.distance(axis), part.b + i * b.distance(axis),
                          part.c + i * c.distance(axis), part.accumulate || (c.size(axis) == 1 && i > 0)});
      }
    }
    result = std::move(longer);
  }
  return result;
}

}  // namespace

std::unique_ptr<Kernel> make_matmul(const Subject& subject) {
  const Value& value_a = subject.input(0);
  const Value& value_b = subject.input(1);
  const Value& value_c = subject.output(0);
  if (!is_float32(value_a) || !is_float32(value_b) || !is_float32(value_c)) return nullptr;
  const std::size_t rank = std::max({value_a.shape.size(), value_b.shape.size(), value_c.shape.size()});
  const MatmulOperand a = operand(value_a, rank);
  const MatmulOperand b = operand(value_b, rank);
  const MatmulOperand c = operand(value_c, rank);
  const std::size_t row = rank - 2;
  const std::size_t column = rank - 1;

  Gemm p;
  p.m = c.size(row);
  p.n = c.size(column);
  p.k = a.size(column);
  p.a_rows = {a.strides[row]};
  p.a_columns = {a.strides[column]};
  p.b_rows = {b.strides[row]};
  p.b_columns = {b.strides[column]};
  p.c_rows = {c.strides[row]};
  p.c_columns = {c.strides[column]};
  p.alpha = static_cast<float>(subject.real("alpha"));
  // Results are written row by row: of a transposed one, the transposed product.
  const bool transposed = c.strides[row] == 1 && c.strides[column] != 1;
  if (transposed) {
    std::swap(p.m, p.n);
    std::swap(p.a_rows, p.b_columns);
    std::swap(p.a_columns, p.b_rows);
    std::swap(p.c_rows, p.c_columns);
  }
  std::vector<Part> all = parts(a, b, c, row);
  // Rows that follow on one another through the whole batch, of one right operand, are one matrix.
  const auto follow = [&] {
    const auto size = static_cast<std::int64_t>(all.size());
    for (std::int64_t i = 0; i < size; ++i) {
      const Part& part = all[static_cast<std::size_t>(i)];
      if (part.accumulate || part.b != 0 || part.a != i * p.m * p.a_rows.stride ||
          part.c != i * p.m * p.c_rows.stride) {
        return false;
      }
    }
    return true;
  };
  if (!transposed && all.size() > 1 && follow()) {
    p.m *= static_cast<std::int64_t>(all.size());
    all = {{}};
  }

  auto sequence = std::make_unique<Sequence>();
  const BufferId left = sequence->input(transposed ? 1 : 0);
  const BufferId right = sequence->input(transposed ? 0 : 1);
  const BufferId result = sequence->output(0);
  const int threads = subject.threads;
  const BufferId scratch = sequence->scratch(static_cast<std::size_t>(product_workspace(p, threads).value()));
  sequence->add(
      [=](void* const* buffers) {
        Gemm one = p;
        for (const Part& part : all) {
          one.accumulate = part.accumulate;
          multiply(one, read(buffers, left) + (transposed ? part.b : part.a),
                   read(buffers, right) + (transposed ? part.a : part.b), written(buffers, result) + part.c,
                   {}, written(buffers, scratch), threads);
        }
      },
      "wide product");
  return Sequence::finished(std::move(sequence));
}

}  // namespace poet::runtime::onednn
