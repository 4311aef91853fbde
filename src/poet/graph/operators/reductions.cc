// Along axes: sums, extremes, running sums, positions.

#include <algorithm>
#include <limits>

#include "poet/graph/operators/families.h"

namespace poet::operators {
namespace {

/// What is left of x by the attributes axes and keepdims.
Shape reduced(const Checker& op, const Shape& x) {
  const std::vector<Index>& axes = op.axes("axes", x.size());
  const bool keeps = op.integer("keepdims", 0, 1) != 0;
  Shape left;
  for (std::size_t axis = 0; axis < x.size(); ++axis) {
    const bool gone = std::find(axes.begin(), axes.end(), static_cast<Index>(axis)) != axes.end();
    if (!gone) left.push_back(x[axis]);
    if (gone && keeps) left.push_back(1);
  }
  return left;
}
void reduce(const Checker& op) { op.need_out(0, reduced(op, op.in(0))); }
void reduce_backward(const Checker& op) { op.need_in(0, reduced(op, op.out(0))); }
/// dy, x, y.
void extreme_backward(const Checker& op) {
  op.need_out(0, op.in(1));
  const Shape left = reduced(op, op.in(1));
  op.need_in(0, left);
  op.need_in(2, left);
}

void running(const Checker& op) { (void)op.axis("axis", op.in(0).size()); }

void argmax(const Checker& op) {
  Shape left = op.in(0);
  const std::size_t axis = op.axis("axis", left.size());
  op.need(left[axis] <= std::numeric_limits<std::int32_t>::max(), "positions that int32 holds, not {}",
          left[axis]);
  if (op.integer("keepdims", 0, 1) != 0) {
    left[axis] = 1;
  } else {
    left.erase(left.begin() + static_cast<std::ptrdiff_t>(axis));
  }
  op.need_out(0, left);
}

/// Which elements are extreme and how many, and one division per result.
Count extreme_flops(const WorkReader& w) { return w.plus(w.each(w.out(0), 3), w.elements(w.in(0))); }

}  // namespace

Schemas reduction_operators() {
  Schemas all;
  for (const std::string kind : {"reduce_sum", "reduce_mean", "reduce_max", "reduce_min"}) {
    all.push_back({.kind = kind,
                   .operands = "x -> y",
                   .rule = reduce,
                   .parts = "-axes",
                   .flops = per_input<1>,
                   .library = kind == "reduce_sum" || kind == "reduce_mean"});
  }
  for (const std::string kind : {"reduce_sum", "reduce_mean"}) {
    all.push_back({.kind = kind + "_backward",
                   .operands = "dy -> dx",
                   .rule = reduce_backward,
                   .parts = "-axes",
                   .flops = kind == "reduce_sum" ? nothing : per_input<1>});
  }
  // Where x is y; several such elements share.
  for (const std::string kind : {"reduce_max", "reduce_min"}) {
    all.push_back({.kind = kind + "_backward",
                   .operands = "dy x y -> dx",
                   .rule = extreme_backward,
                   .parts = "-axes",
                   .flops = extreme_flops});
  }
  const std::vector<AttributeSpec> order = {{"exclusive", Sort::flag}, {"reverse", Sort::flag}};
  const Schemas others = {
      {.kind = "cumsum",
       .operands = "x:n(...) -> y:n(...)",
       .attributes = order,
       .rule = running,
       .parts = "-axis",
       .flops = per_input<1>},
      {.kind = "cumsum_backward",
       .operands = "dy(...) -> dx(...)",
       .attributes = order,
       .rule = running,
       .parts = "-axis",
       .flops = per_input<1>},
      {.kind = "argmax",
       .operands = "x:n -> y:i",
       .attributes = {{"last", Sort::flag}},
       .rule = argmax,
       .parts = "-axis",
       .flops = per_input<1>},
  };
  all.insert(all.end(), others.begin(), others.end());
  return all;
}

}  // namespace poet::operators
