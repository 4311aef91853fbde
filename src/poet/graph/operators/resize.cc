// Images of other sizes: which elements and how much of each is in the attributes.

#include "poet/graph/operators/families.h"

namespace poet::operators {
namespace {

/// x and y are the forward op's.
void need_resize(const Checker& op, const Shape& x, const Shape& y) {
  op.need(x.size() >= 3 && x.size() <= 5, "x of three to five axes, not {}", text_of(x));
  op.need(y.size() == x.size(), "x and y of as many axes, not {} and {}", text_of(x), text_of(y));
  const std::string& mode = op.text("mode", {"nearest", "linear", "cubic"});
  (void)op.text("coordinates",
                {"half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric", "tf_half_pixel_for_nn"});
  if (mode == "nearest")
    (void)op.text("nearest", {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"});
  if (mode == "cubic") (void)op.real("cubic_a");
  if (op.has("exclude_outside")) (void)op.integer("exclude_outside", 0, 1);
  for (std::size_t axis = 0; axis + 2 < x.size(); ++axis) {
    const std::string name = fmt::format("scale{}", axis);
    const double scale = op.real(name.c_str());
    op.need(scale > 0, "{} > 0, not {}", name, scale);
  }
}
void resize(const Checker& op) { need_resize(op, op.in(0), op.out(0)); }
void resize_backward(const Checker& op) { need_resize(op, op.out(0), op.in(0)); }

/// Multiply-adds behind one element of a resized image; 0 where it is a copy.
Count resize_taps(const WorkReader& w) {
  const std::string& mode = w.text("mode");
  if (mode == "nearest") return 0;
  Count taps = 1;
  for (std::size_t axis = 2; axis < w.in(0).size(); ++axis) taps = w.times(taps, mode == "cubic" ? 4 : 2);
  return taps;
}
Count resize_flops(const WorkReader& w) { return w.times(2, w.each(w.out(0), resize_taps(w))); }
// Each element of dy is added to those that it was made of, with their weights unless it was a copy.
Count resize_backward_flops(const WorkReader& w) {
  const Count taps = resize_taps(w);
  return taps == 0 ? w.elements(w.in(0)) : w.times(2, w.each(w.in(0), taps));
}

}  // namespace

Schemas resize_operators() {
  return {
      {.kind = "resize",
       .operands = "x(N,C,*) -> y(N,C,*)",
       .rule = resize,
       .parts = "N C",
       .flops = resize_flops},  // products with the weights
      {.kind = "resize_backward",
       .operands = "dy(N,C,*) -> dx(N,C,*)",
       .rule = resize_backward,
       .parts = "N C",
       .flops = resize_backward_flops},  // the same products
  };
}

}  // namespace poet::operators
