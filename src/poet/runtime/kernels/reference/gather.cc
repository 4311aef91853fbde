// Elements found by index: embedding, gather, gather_elements. Their gradients are summed in the order of the
// indices.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

#include "poet/base/error.h"
#include "poet/graph/loop_nest.h"
#include "poet/graph/parts.h"
#include "poet/runtime/kernels/reference/families.h"
#include "poet/runtime/kernels/reference/loop_kernel.h"
#include "poet/runtime/kernels/reference/op_reader.h"

namespace poet::runtime {
namespace {

/// An index into `size` elements, from the end where it is negative (where `wraps`). Throws InputError where
/// there is no such element.
Index checked(const std::string& op, Index index, Index size, bool wraps) {
  const Index place = wraps && index < 0 ? index + size : index;
  if (place < 0 || place >= size) {
    throw InputError(fmt::format("op \"{}\"", op),
                     fmt::format("index {} is not one of {} elements", index, size));
  }
  return place;
}

/// x seen as (outer, size, inner), indices along the middle axis.
struct Gather {
  std::string name;
  Index outer = 1, size = 1, inner = 1;
  Index indices = 0;
  bool wraps = true;
  Index first = 0, rows = 0;  // of a table in parts: the part's first row, and those of the whole
};

Gather gather_of(const OpReader& op, const Shape& x) {
  Gather g;
  g.name = op.op().name;
  g.indices = op.in_count(1);
  const auto axis = static_cast<std::size_t>(op.integer("axis"));
  for (std::size_t i = 0; i < axis; ++i) g.outer *= x[i];
  g.size = x[axis];
  for (std::size_t i = axis + 1; i < x.size(); ++i) g.inner *= x[i];
  return g;
}

Gather embedding_of(const OpReader& op, const Value& table, Index indices) {
  const Shape& shape = table.shape;
  return {op.op().name,          1, shape[0], shape[1], indices, false, table.part ? table.part->begin[0] : 0,
          tensor_shape(table)[0]};
}

void copy_rows(const Gather& g, const void* x, const std::int32_t* indices, void* y, Index element_size) {
  const auto* from = static_cast<const std::byte*>(x);
  auto* to = static_cast<std::byte*>(y);
  const Index row = g.inner * element_size;
  for (Index o = 0; o < g.outer; ++o) {
    for (Index i = 0; i < g.indices; ++i, to += row) {
      const Index place = checked(g.name, indices[i], g.size, g.wraps);
      std::memcpy(to, from + (o * g.size + place) * row, static_cast<std::size_t>(row));
    }
  }
}

void add_rows(const Gather& g, const float* dy, const std::int32_t* indices, float* dx) {
  std::fill_n(dx, g.outer * g.size * g.inner, 0.0F);
  for (Index o = 0; o < g.outer; ++o) {
    for (Index i = 0; i < g.indices; ++i, dy += g.inner) {
      float* __restrict to = dx + (o * g.size + checked(g.name, indices[i], g.size, g.wraps)) * g.inner;
      const float* __restrict from = dy;
      for (Index k = 0; k < g.inner; ++k) to[k] += from[k];
    }
  }
}

/// Calls f(number of the index, row of the table's part) for the indices that are rows of this part.
template <class F>
void for_each_row_found(const Gather& g, const std::int32_t* indices, const F& f) {
  for (Index i = 0; i < g.indices; ++i) {
    const Index row = checked(g.name, indices[i], g.rows, g.wraps) - g.first;
    if (row >= 0 && row < g.size) f(i, row);
  }
}

/// Rows that are not in this part of the table are what the accumulator has, or zero.
std::unique_ptr<Kernel> embedding(const OpReader& op) {
  return loop_kernel([g = embedding_of(op, op.input(1), op.in_count(0)), accumulator = op.accumulator(0),
                      count = op.out_count(0)](const KernelCall& call) {
    float* to = output(call, 0);
    if (!goes_on(call, accumulator, 0, count) && g.size < g.rows) std::fill_n(to, count, 0.0F);
    for_each_row_found(g, input<std::int32_t>(call, 0), [&](Index i, Index row) {
      std::copy_n(input(call, 1) + row * g.inner, g.inner, to + i * g.inner);
    });
  });
}
std::unique_ptr<Kernel> embedding_backward(const OpReader& op) {
  return loop_kernel([g = embedding_of(op, op.output(0), op.in_count(1)), accumulator = op.accumulator(0),
                      count = op.out_count(0)](const KernelCall& call) {
    float* table = output(call, 0);
    if (!goes_on(call, accumulator, 0, count)) std::fill_n(table, count, 0.0F);
    for_each_row_found(g, input<std::int32_t>(call, 1), [&](Index i, Index row) {
      const float* __restrict from = input(call, 0) + i * g.inner;
      float* __restrict to = table + row * g.inner;
      for (Index k = 0; k < g.inner; ++k) to[k] += from[k];
    });
  });
}

/// For each id the place of the first one like it.
std::unique_ptr<Kernel> first_occurrences(const OpReader& op) {
  return loop_kernel([whole = op.output(0)](const KernelCall& call) {
    const auto* ids = input<std::int32_t>(call, 0);
    for_each_run_of_part(whole, [&](Index first, Index at, Index count) {
      for (Index i = first; i < first + count; ++i, ++at)
        output<std::int32_t>(call, 0)[at] = static_cast<std::int32_t>(std::find(ids, ids + i, ids[i]) - ids);
    });
  });
}

std::unique_ptr<Kernel> gather(const OpReader& op) {
  return loop_kernel(
      [g = gather_of(op, op.in(0)), size = size_of(op.input(0).dtype).value()](const KernelCall& call) {
        copy_rows(g, call.inputs[0], input<std::int32_t>(call, 1), call.outputs[0], size);
      });
}
std::unique_ptr<Kernel> gather_backward(const OpReader& op) {
  return loop_kernel([g = gather_of(op, op.out(0))](const KernelCall& call) {
    add_rows(g, input(call, 0), input<std::int32_t>(call, 1), output(call, 0));
  });
}

// ---- gather_elements

/// The elements of the indices' shape, whose own place in x is without what `axis` adds.
struct Pick {
  std::string name;
  LoopNest<2> nest;  // indices, x
  Index size = 1;    // of x along the axis
  Index stride = 1;
};

Pick pick_of(const OpReader& op, const Value& x) {
  const auto axis = static_cast<std::size_t>(op.integer("axis"));
  Shape own = strides_of(x);
  Pick p{op.op().name, {}, x.shape[axis], own[axis]};
  own[axis] = 0;
  p.nest = make_loop_nest(loop_axes<2>(op.in(1), {strides_of(op.input(1)), own}));
  return p;
}

/// Calls f(element of the indices, element of x).
template <class F>
void for_each_pick(const Pick& p, const std::int32_t* indices, const F& f) {
  for_each_run(p.nest, [&](const std::array<Index, 2>& at) {
    for (Index k = 0; k < p.nest.count; ++k) {
      const Index i = at[0] + k * p.nest.step[0];
      f(i, at[1] + k * p.nest.step[1] + checked(p.name, indices[i], p.size, true) * p.stride);
    }
  });
}

template <class T>
std::unique_ptr<Kernel> pick_copies(const Pick& p) {
  return loop_kernel([p](const KernelCall& call) {
    const T* x = input<T>(call, 0);
    T* y = output<T>(call, 0);
    for_each_pick(p, input<std::int32_t>(call, 1), [=](Index i, Index from) { y[i] = x[from]; });
  });
}

std::unique_ptr<Kernel> gather_elements(const OpReader& op) {
  const Pick p = pick_of(op, op.input(0));
  const Index size = size_of(op.input(0).dtype).value();
  if (size == 1) return pick_copies<std::uint8_t>(p);
  return size == 4 ? pick_copies<std::uint32_t>(p) : pick_copies<std::uint64_t>(p);
}

std::unique_ptr<Kernel> gather_elements_backward(const OpReader& op) {
  return loop_kernel([p = pick_of(op, op.output(0)), n = op.out_count(0)](const KernelCall& call) {
    const float* dy = input(call, 0);
    float* dx = output(call, 0);
    std::fill_n(dx, n, 0.0F);
    for_each_pick(p, input<std::int32_t>(call, 1), [=](Index i, Index to) { dx[to] += dy[i]; });
  });
}

}  // namespace

void add_gather_kernels(ReferenceTable& table) {
  table["embedding"] = {embedding};
  table["embedding_backward"] = {embedding_backward};
  table["first_occurrences"] = {first_occurrences};
  table["gather"] = {gather};
  table["gather_backward"] = {gather_backward};
  table["gather_elements"] = {gather_elements};
  table["gather_elements_backward"] = {gather_elements_backward};
}

}  // namespace poet::runtime
