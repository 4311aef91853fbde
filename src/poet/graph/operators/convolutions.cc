// Convolutions over two or three spatial axes, and transposed ones: the gradient of a convolution as a
// forward operator.

#include <algorithm>

#include "poet/graph/operators/families.h"
#include "poet/graph/operators/windows.h"

namespace poet::operators {
namespace {

/// What leads from where to where; x and y are the forward op's.
void need_convolution(const Checker& op, std::size_t axes, bool transposed, const Shape& x,
                      const Shape& weight, const Shape& y) {
  need_image(op, "x", x, axes);
  need_image(op, "weight", weight, axes);
  need_image(op, "y", y, axes);
  const Index groups = op.integer("groups", 1, kMostSize);
  op.need(x[1] % groups == 0 && y[1] % groups == 0, "groups that divide {} and {} channels, not {}", x[1],
          y[1], groups);
  const std::vector<WindowAxis> windows = windows_of(op, {weight.begin() + 2, weight.end()}, false);
  std::vector<Index> extra(axes, 0);
  if (op.has("output_padding")) {
    op.need(transposed, "no output_padding");
    extra = op.list("output_padding", axes, 0, kMostSteps);
  }
  for (std::size_t i = 0; i < axes; ++i) {
    const WindowAxis& w = windows[i];
    Index size = 0;
    if (transposed) {
      op.need(extra[i] < std::max({w.stride, w.dilation, Index{1}}),
              "output_padding below the stride or the dilation, not {}", extra[i]);
      size = w.stride * (x[i + 2] - 1) + w.reach() + 1 + extra[i] - w.before - w.after;
    } else {
      size = windows_in(op, x[i + 2], w);
    }
    op.need(y[i + 2] == size, "y of size {} along axis {}, not {}", size, i + 2, y[i + 2]);
  }
}

template <std::size_t axes, bool transposed>
void convolution(const Checker& op) {
  need_convolution(op, axes, transposed, op.in(0), op.in(1), op.out(0));
}
template <std::size_t axes, bool transposed>
void backward_input(const Checker& op) {
  need_convolution(op, axes, transposed, op.out(0), op.in(1), op.in(0));
}
template <std::size_t axes, bool transposed>
void backward_weight(const Checker& op) {
  op.need(op.gradients(1, 2, true).front() == 1, "the weight's gradient first");
  need_convolution(op, axes, transposed, op.in(1), op.out(0), op.in(0));
}
template <std::size_t axes>
void backward_bias(const Checker& op) {
  need_image(op, "dy", op.in(0), axes);
}

/// Multiply-accumulates behind one element of a convolution's output: C/g * kh * kw of a weight (O, C/g, kh,
/// kw), and as many in three dimensions. Of a transposed one, those that an element of its input goes into.
Count taps(const WorkReader& w, const Shape& weight) {
  return w.elements(Shape(weight.begin() + 1, weight.end()));
}

// Convolutions are counted on the output's area: a stride of s costs 1/s^2 of the dense convolution.
Count conv(const WorkReader& w) {
  const Count bias = w.inputs() > 2 ? w.elements(w.out(0)) : 0;
  return w.plus(macs(w, w.out(0), taps(w, w.in(1))), bias);
}
Count conv_backward_input(const WorkReader& w) { return macs(w, w.in(0), taps(w, w.in(1))); }
Count conv_backward_weight(const WorkReader& w) {
  const Count bias = w.outputs() > 1 ? w.elements(w.in(0)) : 0;
  return w.plus(macs(w, w.in(0), taps(w, w.out(0))), bias);
}

// A transposed convolution is the backward one of a convolution from its output to its input, and costs as
// much: it is counted on the area of its input.
Count conv_transpose(const WorkReader& w) {
  const Count bias = w.inputs() > 2 ? w.elements(w.out(0)) : 0;
  return w.plus(macs(w, w.in(0), taps(w, w.in(1))), bias);
}
Count conv_transpose_backward_input(const WorkReader& w) { return macs(w, w.out(0), taps(w, w.in(1))); }
Count conv_transpose_backward_weight(const WorkReader& w) {
  const Count bias = w.outputs() > 1 ? w.elements(w.in(0)) : 0;
  return w.plus(macs(w, w.in(1), taps(w, w.out(0))), bias);
}
Count conv_macs(const WorkReader& w) { return w.each(w.out(0), taps(w, w.in(1))); }
Count conv_transpose_macs(const WorkReader& w) { return w.each(w.in(0), taps(w, w.in(1))); }

template <std::size_t axes, bool transposed>
void add(Schemas& all, const std::string& kind) {
  const std::vector<AttributeSpec> groups = {{"groups", Sort::count}};
  // The gradient of the input needs the weight, that of the weight x, that of the bias neither: a layer of
  // which only the bias trains does not keep its input.
  all.push_back({.kind = kind,
                 .operands = transposed ? "x(N,C,*) weight(C,O/groups,*) bias?(O) -> y(N,O,*)"
                                        : "x(N,C,*) weight(O,C/groups,*) bias?(O) -> y(N,O,*)",
                 .attributes = groups,
                 .rule = convolution<axes, transposed>,
                 .parts = "N O +C *",
                 .accumulates = true,
                 .flops = transposed ? conv_transpose : conv,
                 .macs = transposed ? conv_transpose_macs : conv_macs,
                 .library = true});
  all.push_back({.kind = kind + "_backward_input",
                 .operands = transposed ? "dy(N,O,*) weight(C,O/groups,*) -> dx(N,C,*)"
                                        : "dy(N,O,*) weight(O,C/groups,*) -> dx(N,C,*)",
                 .attributes = groups,
                 .rule = backward_input<axes, transposed>,
                 .parts = "N C +O *",
                 .accumulates = true,
                 .flops = transposed ? conv_transpose_backward_input : conv_backward_input,
                 .library = true});
  all.push_back({.kind = kind + "_backward_weight",
                 .operands = transposed ? "dy(N,O,*) x(N,C,*) -> dweight(C,O/groups,*) dbias?(O)"
                                        : "dy(N,O,*) x(N,C,*) -> dweight(O,C/groups,*) dbias?(O)",
                 .attributes = groups,
                 .rule = backward_weight<axes, transposed>,
                 .parts = "O C +N",
                 .accumulates = true,
                 .flops = transposed ? conv_transpose_backward_weight : conv_backward_weight,
                 .library = true});
  all.push_back({.kind = kind + "_backward_bias",
                 .operands = "dy(N,O,*) -> dbias(O)",
                 .rule = backward_bias<axes>,
                 .parts = "O +N +*",
                 .accumulates = true,
                 .flops = per_input<1>,
                 .library = true});
}

}  // namespace

Schemas convolution_operators() {
  Schemas all;
  add<2, false>(all, "conv2d");
  add<3, false>(all, "conv3d");
  add<2, true>(all, "conv_transpose2d");
  add<3, true>(all, "conv_transpose3d");
  return all;
}

}  // namespace poet::operators
