// What is along axes: sums, extremes, running sums; and elements found by index.

#include <algorithm>
#include <limits>

#include "poet/runtime/kernels/operands/rules.h"

namespace poet::runtime::operands {
namespace {

/// What is left of x by the attributes axes and keepdims.
Shape reduced(const OperandReader& op, const Shape& x) {
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
void reduce(const OperandReader& op) { op.need_out(0, reduced(op, op.in(0))); }
void reduce_backward(const OperandReader& op) { op.need_in(0, reduced(op, op.out(0))); }
/// dy, x, y.
void extreme_backward(const OperandReader& op) {
  op.need_out(0, op.in(1));
  const Shape left = reduced(op, op.in(1));
  op.need_in(0, left);
  op.need_in(2, left);
}

void cumsum(const OperandReader& op) {
  one_shape(op);
  (void)op.axis("axis", op.in(0).size());
}

void argmax(const OperandReader& op) {
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

// ---- elements by index

/// `x` with the axes of the indices, input 1, in place of its axis.
Shape gathered(const OperandReader& op, const Shape& x) {
  const auto axis = static_cast<std::ptrdiff_t>(op.axis("axis", x.size()));
  const Shape& indices = op.in(1);
  Shape result(x.begin(), x.begin() + axis);
  result.insert(result.end(), indices.begin(), indices.end());
  result.insert(result.end(), x.begin() + axis + 1, x.end());
  return result;
}
void gather(const OperandReader& op) { op.need_out(0, gathered(op, op.in(0))); }
void gather_backward(const OperandReader& op) { op.need_in(0, gathered(op, op.out(0))); }

/// The indices, input 1, are within `x` along all axes but one. Places are found by strides.
void need_picks(const OperandReader& op, const Value& x, const char* what) {
  const std::size_t axis = op.axis("axis", x.shape.size());
  op.need_in_rank(1, x.shape.size(), x.shape.size());
  for (std::size_t i = 0; i < x.shape.size(); ++i) {
    op.need(i == axis || op.in(1)[i] <= x.shape[i], "indices within {}, not {}, along axis {}",
            text_of(x.shape), text_of(op.in(1)), i);
  }
  op.need_row_major(x, what);
  op.need_row_major(op.input(1), "input 1");
}
void gather_elements(const OperandReader& op) {
  need_picks(op, op.input(0), "input 0");
  op.need_out(0, op.in(1));
}
void gather_elements_backward(const OperandReader& op) {
  need_picks(op, op.output(0), "output 0");
  op.need_in(0, op.in(1));
}

/// Of the table (V, D) by ids (...).
Shape looked_up(const Shape& ids, const Shape& table) {
  Shape rows = ids;
  rows.push_back(table[1]);
  return rows;
}
void embedding(const OperandReader& op) {
  op.need_in_rank(1, 2, 2);
  op.need_out(0, looked_up(op.in(0), op.in(1)));
}
void embedding_backward(const OperandReader& op) {
  op.need_rank("output", 0, 2, 2);
  op.need_in(0, looked_up(op.in(1), op.out(0)));
}

}  // namespace

void add_axis_rules(RuleTable& table) {
  for (const std::string kind : {"reduce_sum", "reduce_mean"}) {
    table[kind] = {"f : f", reduce};
    table[kind + "_backward"] = {"f : f", reduce_backward};
  }
  for (const std::string kind : {"reduce_max", "reduce_min"}) {
    table[kind] = {"f : f", reduce};
    table[kind + "_backward"] = {"f f f : f", extreme_backward};
  }
  const std::vector<AttributeRule> running = {{"exclusive", Attr::flag}, {"reverse", Attr::flag}};
  table["cumsum"] = {"n : n", cumsum, running};
  table["cumsum_backward"] = {"f : f", cumsum, running};
  table["argmax"] = {"n : i", argmax, {{"last", Attr::flag}}};
  table["gather"] = {"t i : t", gather};
  table["gather_backward"] = {"f i : f", gather_backward};
  table["gather_elements"] = {"t i : t", gather_elements};
  table["gather_elements_backward"] = {"f i : f", gather_elements_backward};
  table["embedding"] = {"i f : f", embedding};
  table["embedding_backward"] = {"f i : f", embedding_backward};
}

}  // namespace poet::runtime::operands
