// Copies of elements: from where to where is in the attributes.

#include <cmath>
#include <limits>

#include "poet/graph/operators/families.h"

namespace poet::operators {
namespace {

constexpr Index kMost = std::numeric_limits<std::int32_t>::max();
constexpr Index kMostPlaces = Index{1} << 48;  // as many bytes as a value has at most

/// The attributes axis and sizes: a part's shape is the whole's with its size at the axis.
class Parts {
 public:
  Parts(const Checker& op, const Shape& whole)
      : whole_(whole), axis_(op.axis("axis", whole.size())), sizes_(op.list("sizes")) {
    Index rest = whole[axis_];
    for (const Index size : sizes_) {
      op.need(size > 0 && size <= rest, "positive sizes that add up to {}, not {}", whole[axis_],
              text_of(sizes_));
      rest -= size;
    }
    op.need(rest == 0, "sizes that add up to {}, not {}", whole[axis_], text_of(sizes_));
  }

  [[nodiscard]] std::size_t count() const { return sizes_.size(); }
  [[nodiscard]] Shape shape(std::size_t part) const {
    Shape shape = whole_;
    shape[axis_] = sizes_[part];
    return shape;
  }

 private:
  const Shape& whole_;
  std::size_t axis_;
  const std::vector<Index>& sizes_;
};

void need_count(const Checker& op, const Parts& parts, const char* list, std::size_t count) {
  op.need(count == parts.count(), "as many {}s as sizes ({}), not {}", list, parts.count(), count);
}

void concat(const Checker& op) {
  const Parts parts(op, op.out(0));
  need_count(op, parts, "input", op.inputs());
  for (std::size_t i = 0; i < op.inputs(); ++i) op.need_in(i, parts.shape(i));
}

void concat_backward(const Checker& op) {
  const Parts parts(op, op.in(0));
  const auto last = static_cast<Index>(parts.count()) - 1;
  op.need_out(0, parts.shape(static_cast<std::size_t>(op.list("gradients", 1, 0, last).front())));
}

void split(const Checker& op) {
  const Parts parts(op, op.in(0));
  need_count(op, parts, "output", op.outputs());
  for (std::size_t i = 0; i < op.outputs(); ++i) op.need_out(i, parts.shape(i));
}

void split_backward(const Checker& op) {
  const Parts parts(op, op.out(0));
  const bool some = op.has("output_gradients");
  if (!some) need_count(op, parts, "input", op.inputs());
  for (std::size_t i = 0; i < op.inputs(); ++i) {
    const std::size_t part =
        !some ? i
              : static_cast<std::size_t>(op.positions("output_gradients", static_cast<Index>(parts.count()),
                                                      op.inputs(), "inputs")[i]);
    op.need_in(i, parts.shape(part));
  }
}

/// What a slice of `whole` holds.
Shape sliced(const Checker& op, const Shape& whole) {
  const std::size_t rank = whole.size();
  const std::vector<Index>& starts = op.list("starts", rank, 0, kMostPlaces);
  const std::vector<Index>& ends = op.list("ends", rank, 1, kMostPlaces);
  const std::vector<Index>& steps = op.list("steps", rank, 1, kMost);
  Shape part;
  for (std::size_t axis = 0; axis < rank; ++axis) {
    op.need(starts[axis] < ends[axis] && ends[axis] <= whole[axis],
            "0 <= start < end <= {} along axis {}, not {} and {}", whole[axis], axis, starts[axis],
            ends[axis]);
    part.push_back((ends[axis] - starts[axis] - 1) / steps[axis] + 1);
  }
  return part;
}
void slice(const Checker& op) { op.need_out(0, sliced(op, op.in(0))); }
void slice_backward(const Checker& op) { op.need_in(0, sliced(op, op.out(0))); }

/// What `x` becomes with its padding.
Shape padded(const Checker& op, const Shape& x) {
  const std::vector<Index>& before = op.list("before", x.size(), 0, kMostPlaces);
  const std::vector<Index>& after = op.list("after", x.size(), 0, kMostPlaces);
  Shape whole = x;
  for (std::size_t axis = 0; axis < x.size(); ++axis) whole[axis] += before[axis] + after[axis];
  return whole;
}
void pad(const Checker& op) {
  op.need_out(0, padded(op, op.in(0)));
  const double value = op.any_real("value");  // -inf in front of a maximum, say
  const DType type = op.output(0).dtype;
  if (computed_as(type) == DType::float32) return;
  const double most = type == DType::uint8 ? 255.0 : 2147483647.0;
  op.need(value == std::trunc(value) && value <= most && value >= (type == DType::uint8 ? 0.0 : -most - 1.0),
          "a value that {} has, not {}", to_string(type), value);
}
void pad_backward(const Checker& op) { op.need_in(0, padded(op, op.out(0))); }

void need_transposed(const Checker& op, const Shape& x, const Shape& y) {
  const std::vector<Index>& axes = op.list("axes", x.size(), 0, static_cast<Index>(x.size()) - 1);
  std::vector<bool> seen(x.size());
  Shape transposed;
  for (const Index axis : axes) {
    op.need(!seen[static_cast<std::size_t>(axis)], "each axis once in axes, not {}", text_of(axes));
    seen[static_cast<std::size_t>(axis)] = true;
    transposed.push_back(x[static_cast<std::size_t>(axis)]);
  }
  op.need(y == transposed, "{} transposed to {}, not {}", text_of(x), text_of(transposed), text_of(y));
}
void transpose(const Checker& op) { need_transposed(op, op.in(0), op.out(0)); }
void transpose_backward(const Checker& op) { need_transposed(op, op.out(0), op.in(0)); }

/// Of x (N, S, D).
void select(const Checker& op) { (void)op.integer("index", 0, op.in(0)[1] - 1); }
/// -1: not in this part of dx, which is zero.
void select_backward(const Checker& op) { (void)op.integer("index", -1, op.out(0)[1] - 1); }

void expand(const Checker& op) {
  op.need(broadcasts_to(op.in(0), op.out(0)), "an input that broadcasts to {}, not {}", text_of(op.out(0)),
          text_of(op.in(0)));
}

void flip(const Checker& op) { (void)op.axes("axes", op.in(0).size()); }

OperatorSchema copied(const char* kind, const char* operands, void (*rule)(const Checker&), const char* parts,
                      Passes passes = Passes::all) {
  return {.kind = kind,
          .operands = operands,
          .rule = rule,
          .parts = parts,
          .passes = passes,
          .moves_elements = true};
}

}  // namespace

// A gradient is taken from where the elements went; what is not read or written is not there or zero.
Schemas layout_operators() {
  constexpr Passes kPart = Passes::gathered;
  return {copied("concat", "parts:t+ -> y:t", concat, "-axis"),
          copied("concat_backward", "dy -> dx", concat_backward, "-axis", kPart),
          copied("split", "x:t -> parts:t+", split, "-axis"),
          copied("split_backward", "dys+ -> dx", split_backward, "-axis"),
          copied("slice", "x:t -> y:t", slice, "", kPart),
          copied("slice_backward", "dy -> dx", slice_backward, ""),
          copied("pad", "x:t -> y:t", pad, ""),
          copied("pad_backward", "dy -> dx", pad_backward, "", kPart),
          copied("transpose", "x:t -> y:t", transpose, ""),
          copied("transpose_backward", "dy -> dx", transpose_backward, ""),
          copied("select", "x(N,S,D) -> y(N,D)", select, "N D", kPart),
          copied("select_backward", "dy(N,D) -> dx(N,S,D)", select_backward, "N D"),
          copied("expand", "x:t(~) -> y:t(~)", expand, "~"),
          copied("flip", "x(...) -> y(...)", flip, "-axes"),
          copied("flip_backward", "dy(...) -> dx(...)", flip, "-axes")};
}

}  // namespace poet::operators
