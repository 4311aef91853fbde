// Pools over two or three spatial axes, or over all there are.

#include <algorithm>
#include <utility>

#include "poet/graph/operators/families.h"
#include "poet/graph/operators/windows.h"

namespace poet::operators {
namespace {

/// Places of one window.
constexpr Index kMostWindowPlaces = Index{1} << 24;

Index places(const std::vector<Index>& kernel) {
  Index product = 1;
  for (const Index k : kernel) product = std::min(product * k, kMostSize);
  return product;
}

/// x and y are the forward op's. Every window holds an element.
void need_pool(const Checker& op, std::size_t axes, const Shape& x, const Shape& y) {
  need_image(op, "x", x, axes);
  need_image(op, "y", y, axes);
  const std::vector<Index>& kernel = op.list("kernel", axes, 1, kMostSize);
  op.need(places(kernel) <= kMostWindowPlaces, "windows of at most {} places, not {}", kMostWindowPlaces,
          text_of(kernel));
  const std::vector<WindowAxis> windows = windows_of(op, kernel, true);
  for (std::size_t i = 0; i < axes; ++i) {
    const WindowAxis& w = windows[i];
    const Index size = x[i + 2];
    const Index whole = windows_in(op, size, w);
    const Index left_over = (size + w.before + w.after - w.reach() - 1) % w.stride;
    op.need(y[i + 2] == whole || (y[i + 2] == whole + 1 && left_over > 0),
            "y of size {} (or one more where windows are left over) along axis {}, not {}", whole, i + 2,
            y[i + 2]);
    op.need(w.before <= w.reach() && (y[i + 2] - 1) * w.stride < w.before + size &&
                (w.before == 0 || w.dilation <= size),
            "an element in every window: axis {} of size {} has padding {} and {}", i + 2, size, w.before,
            w.after);
  }
}

void need_index_type(const Checker& op, const Value& indices) {
  const DType wanted = places(op.list("kernel")) <= 256 ? DType::uint8 : DType::int32;
  op.need(indices.dtype == wanted, "indices of type {}, not {}", to_string(wanted), to_string(indices.dtype));
}

template <std::size_t axes>
void max_pool(const Checker& op) {
  need_pool(op, axes, op.in(0), op.out(0));
  op.need_out(1, op.out(0));
  need_index_type(op, op.output(1));
}
template <std::size_t axes>
void max_pool_backward(const Checker& op) {
  need_pool(op, axes, op.out(0), op.in(0));
  op.need_in(1, op.in(0));
  need_index_type(op, op.input(1));
}
template <std::size_t axes>
void avg_pool(const Checker& op) {
  need_pool(op, axes, op.in(0), op.out(0));
}
template <std::size_t axes>
void avg_pool_backward(const Checker& op) {
  need_pool(op, axes, op.out(0), op.in(0));
}

/// (N, C, 1, ...) of x.
Shape pooled(const Checker& op, const Shape& x) {
  op.need(x.size() >= 3, "x of at least three axes, not {}", text_of(x));
  Shape y = x;
  Index plane = 1;
  for (std::size_t axis = 2; axis < x.size(); ++axis) plane *= std::exchange(y[axis], 1);
  op.need(plane <= kMostSize, "planes of at most {} elements, not {}", kMostSize, plane);
  return y;
}
void global_pool(const Checker& op) {
  const Shape y = pooled(op, op.in(0));
  for (std::size_t i = 0; i < op.outputs(); ++i) op.need_out(i, y);
}
void global_pool_backward(const Checker& op) {
  const Shape y = pooled(op, op.out(0));
  for (std::size_t i = 0; i < op.inputs(); ++i) op.need_in(i, y);
}

Count max_pool_flops(const WorkReader& w) { return w.each(w.out(0), std::max<Count>(w.window() - 1, 0)); }
Count avg_pool_flops(const WorkReader& w) { return w.each(w.out(0), w.window()); }
Count avg_pool_backward_flops(const WorkReader& w) { return w.each(w.in(0), w.plus(w.window(), 1)); }

template <std::size_t axes>
void add_pool(Schemas& all, const std::string& suffix) {
  const std::vector<AttributeSpec> divisor = {{"count_include_pad", Sort::flag, true}};
  all.push_back({.kind = "max_pool" + suffix,
                 .operands = "x(N,C,*) -> y(N,C,*) indices:u(N,C,*)",
                 .rule = max_pool<axes>,
                 .parts = "N C *",
                 .flops = max_pool_flops});
  all.push_back({.kind = "max_pool" + suffix + "_backward",
                 .operands = "dy(N,C,*) indices:u(N,C,*) -> dx(N,C,*)",
                 .rule = max_pool_backward<axes>,
                 .parts = "N C",
                 .flops = per_input<1>});  // one addition per window
  all.push_back({.kind = "avg_pool" + suffix,
                 .operands = "x(N,C,*) -> y(N,C,*)",
                 .attributes = divisor,
                 .rule = avg_pool<axes>,
                 .parts = "N C *",
                 .flops = avg_pool_flops,  // sum of the window, one multiplication
                 .library = true});
  all.push_back({.kind = "avg_pool" + suffix + "_backward",
                 .operands = "dy(N,C,*) -> dx(N,C,*)",
                 .attributes = divisor,
                 .rule = avg_pool_backward<axes>,
                 .parts = "N C",
                 .flops = avg_pool_backward_flops,
                 .library = true});
}

}  // namespace

Schemas pool_operators() {
  Schemas all;
  add_pool<2>(all, "2d");
  add_pool<3>(all, "3d");
  const Schemas global = {
      {.kind = "global_avg_pool",
       .operands = "x(N,C,*) -> y(N,C,*)",
       .rule = global_pool,
       .parts = "N C",
       .flops = per_input<1>,
       .library = true},
      {.kind = "global_avg_pool_backward",
       .operands = "dy(N,C,*) -> dx(N,C,*)",
       .rule = global_pool_backward,
       .parts = "N C",
       .flops = per_input<1>,
       .library = true},
      {.kind = "global_max_pool",
       .operands = "x(N,C,*) -> y(N,C,*) indices:i(N,C,*)",
       .rule = global_pool,
       .parts = "N C",
       .flops = per_input<1>},
      // One element per plane, the others zero.
      {.kind = "global_max_pool_backward",
       .operands = "dy(N,C,*) indices:i(N,C,*) -> dx(N,C,*)",
       .rule = global_pool_backward,
       .parts = "N C"},
  };
  all.insert(all.end(), global.begin(), global.end());
  return all;
}

}  // namespace poet::operators
