// linear and its gradients; matmul on operands of any strides, whose leading axes broadcast.

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

#include "poet/graph/loop_nest.h"
#include "poet/runtime/kernels/reference/families.h"
#include "poet/runtime/kernels/reference/fold.h"
#include "poet/runtime/kernels/reference/gemm.h"
#include "poet/runtime/kernels/reference/loop_kernel.h"
#include "poet/runtime/kernels/reference/op_reader.h"

namespace poet::runtime {
namespace {

/// A matrix in memory.
struct Matrix {
  const float* at;
  Index row_stride, column_stride;
};

void multiply(const gemm::Product& p, Matrix a, Matrix b, float* c, Index row_stride, Index column_stride,
              void* panel) {
  gemm::multiply(
      p, [&](const gemm::LeftPanel& to) { to.copy(a.at, a.row_stride, a.column_stride); },
      [&](const gemm::RightPanel& to) { to.copy(b.at, b.row_stride, b.column_stride); }, c,
      [row_stride](Index m) { return m * row_stride; },
      [column_stride](Index n) { return n * column_stride; }, static_cast<float*>(panel));
}

std::unique_ptr<Kernel> linear(const OpReader& op) {
  const Index outs = op.in(1).at(0);
  const Index ins = op.in(1).at(1);
  const Index rows = op.in_count(0) / ins;
  const bool biased = op.inputs() > 2;
  const gemm::Panel panel = gemm::panel_of(op, outs, ins);
  return loop_kernel(
      [=, accumulator = op.accumulator(0)](const KernelCall& call) {
        gemm::Product p{rows, outs, ins};
        p.panel = panel;
        p.add = goes_on(call, accumulator, 0, rows * outs);
        if (biased) p.of_column = input(call, 2);
        multiply(p, {input(call, 0), ins, 1}, {input(call, 1), 1, ins}, output(call, 0), outs, 1,
                 call.workspace);
      },
      gemm::workspace(outs, ins, panel));
}

std::unique_ptr<Kernel> linear_backward_input(const OpReader& op) {
  const Index outs = op.in(1).at(0);
  const Index ins = op.in(1).at(1);
  const Index rows = op.in_count(0) / outs;
  const gemm::Panel panel = gemm::panel_of(op, ins, outs);
  return loop_kernel(
      [=, accumulator = op.accumulator(0)](const KernelCall& call) {
        gemm::Product p{rows, ins, outs};
        p.panel = panel;
        p.add = goes_on(call, accumulator, 0, rows * ins);
        multiply(p, {input(call, 0), outs, 1}, {input(call, 1), ins, 1}, output(call, 0), ins, 1,
                 call.workspace);
      },
      gemm::workspace(ins, outs, panel));
}

/// Sums of the columns of a matrix, row after row, so that some rows can go on where others have stopped.
void sum_columns(const float* __restrict from, Index rows, Index columns, bool add, float* __restrict to) {
  if (!add) std::fill_n(to, columns, 0.0F);
  for (Index r = 0; r < rows; ++r) {
    for (Index i = 0; i < columns; ++i) to[i] += from[r * columns + i];
  }
}

std::unique_ptr<Kernel> linear_backward_weight(const OpReader& op) {
  const Index outs = op.in(0).back();
  const Index ins = op.in(1).back();
  const Index rows = op.in_count(0) / outs;
  const int weight = op.gradient(1, {1, 2});
  const int bias = op.gradient(2, {1, 2});
  const std::array<int, 2> accumulators = {op.accumulator(0), op.accumulator(1)};
  const gemm::Panel panel = gemm::panel_of(op, ins, rows);
  return loop_kernel(
      [=](const KernelCall& call) {
        if (weight >= 0) {
          const auto at = static_cast<std::size_t>(weight);
          gemm::Product p{outs, ins, rows};
          p.panel = panel;
          p.add = goes_on(call, accumulators[at], at, outs * ins);
          multiply(p, {input(call, 0), 1, outs}, {input(call, 1), ins, 1}, output(call, at), ins, 1,
                   call.workspace);
        }
        if (bias >= 0) {
          const auto at = static_cast<std::size_t>(bias);
          const bool add = goes_on(call, accumulators[at], at, outs);
          sum_columns(input(call, 0), rows, outs, add, output(call, at));
        }
      },
      gemm::workspace(ins, rows, panel));
}

std::unique_ptr<Kernel> linear_backward_bias(const OpReader& op) {
  const Index outs = op.in(0).back();
  const Index rows = op.in_count(0) / outs;
  return loop_kernel([=, accumulator = op.accumulator(0)](const KernelCall& call) {
    const bool add = goes_on(call, accumulator, 0, outs);
    sum_columns(input(call, 0), rows, outs, add, output(call, 0));
  });
}

/// The strides of the leading axes of an operand, stretched to `whole`, which has leading axes only.
Shape leading_strides(const Value& operand, const Shape& whole) {
  Shape strides(whole.size(), 0);
  const Shape own = strides_of(operand);
  const std::size_t leading = own.size() - 2;
  for (std::size_t axis = 0; axis < leading; ++axis) {
    const std::size_t at = axis + whole.size() - leading;
    if (operand.shape[axis] != 1) strides[at] = own[axis];
  }
  return strides;
}

/// Matrices are multiplied one by one; those that go into one matrix of the result are added to it in order.
std::unique_ptr<Kernel> matmul(const OpReader& op) {
  const std::array<const Value*, 3> operands = {&op.input(0), &op.input(1), &op.output(0)};
  Shape whole;
  for (const Value* v : operands) {
    if (v->shape.size() > whole.size() + 2)
      whole.insert(whole.begin(), v->shape.size() - 2 - whole.size(), 1);
  }
  for (const Value* v : operands) {
    for (std::size_t back = 3; back <= v->shape.size(); ++back) {
      Index& size = whole[whole.size() + 2 - back];
      size = std::max(size, v->shape[v->shape.size() - back]);
    }
  }
  // Axes along which the result is summed come last.
  std::array<Shape, 3> strides;
  for (std::size_t i = 0; i < 3; ++i) strides[i] = leading_strides(*operands[i], whole);
  std::vector<LoopAxis<3>> kept;
  std::vector<LoopAxis<2>> summed;
  for (std::size_t axis = 0; axis < whole.size(); ++axis) {
    const std::array<Index, 3> s = {strides[2][axis], strides[0][axis], strides[1][axis]};
    if (s[0] != 0) {
      kept.push_back({whole[axis], s});
    } else {
      summed.push_back({whole[axis], {s[1], s[2]}});
    }
  }
  const LoopNest<3> products = make_loop_nest(std::move(kept));
  const LoopNest<2> terms = make_loop_nest(std::move(summed));
  const auto last_two = [](const Value& v) {
    const Shape all = strides_of(v);
    return std::array<Index, 2>{all[all.size() - 2], all.back()};
  };
  const auto of_a = last_two(op.input(0));
  const auto of_b = last_two(op.input(1));
  const auto of_c = last_two(op.output(0));
  const Shape& a = op.in(0);
  gemm::Product p{a[a.size() - 2], op.in(1).back(), a.back()};
  p.alpha = op.real32("alpha");
  p.panel = gemm::panel_of(op, p.n, p.k);
  return loop_kernel(
      [=, accumulator = op.accumulator(0), count = op.out_count(0)](const KernelCall& call) {
        const bool add = goes_on(call, accumulator, 0, count);
        for_each_run(products, [&](const std::array<Index, 3>& at) {
          for (Index i = 0; i < products.count; ++i) {
            gemm::Product next = p;
            next.add = add;
            for_each_run(terms, [&](const std::array<Index, 2>& from) {
              for (Index k = 0; k < terms.count; ++k) {
                const Index a_at = at[1] + i * products.step[1] + from[0] + k * terms.step[0];
                const Index b_at = at[2] + i * products.step[2] + from[1] + k * terms.step[1];
                multiply(next, {input(call, 0) + a_at, of_a[0], of_a[1]},
                         {input(call, 1) + b_at, of_b[0], of_b[1]},
                         output(call, 0) + at[0] + i * products.step[0], of_c[0], of_c[1], call.workspace);
                next.add = true;
              }
            });
          }
        });
      },
      gemm::workspace(p.n, p.k, p.panel));
}

}  // namespace

void add_product_kernels(ReferenceTable& table) {
  table["linear"] = {linear};
  table["linear_backward_input"] = {linear_backward_input};
  table["linear_backward_weight"] = {linear_backward_weight};
  table["linear_backward_bias"] = {linear_backward_bias};
  table["matmul"] = {matmul, true};
}

}  // namespace poet::runtime
