#include "poet/graph/operators/windows.h"

namespace poet::operators {

std::vector<WindowAxis> windows_of(const Checker& op, const std::vector<Index>& kernel, bool pool) {
  const std::size_t axes = kernel.size();
  const std::vector<Index>& stride = op.list("stride", axes, 1, kMostSteps);
  const std::vector<Index>& before = op.list("padding", axes, 0, kMostSteps);
  const std::vector<Index>& after =
      op.has("padding_end") ? op.list("padding_end", axes, 0, kMostSteps) : before;
  const std::vector<Index> dilation =
      pool && !op.has("dilation") ? std::vector<Index>(axes, 1) : op.list("dilation", axes, 1, kMostSteps);
  std::vector<WindowAxis> windows;
  for (std::size_t i = 0; i < axes; ++i) {
    op.need(kernel[i] >= 1 && kernel[i] <= kMostSize, "windows of 1 to {} elements, not {}", kMostSize,
            kernel[i]);
    windows.push_back({kernel[i], stride[i], before[i], after[i], dilation[i]});
  }
  return windows;
}

void need_image(const Checker& op, const char* what, const Shape& shape, std::size_t axes) {
  op.need(shape.size() == axes + 2, "{} of {} axes, not {}", what, axes + 2, text_of(shape));
  for (const Index d : shape)
    op.need(d <= kMostSize, "{} of sizes up to {}, not {}", what, kMostSize, text_of(shape));
}

Index windows_in(const Checker& op, Index size, const WindowAxis& w) {
  const Index padded = size + w.before + w.after;
  op.need(w.reach() < padded, "a window of {} (dilation {}) that fits in {} with padding {} and {}", w.kernel,
          w.dilation, size, w.before, w.after);
  return (padded - w.reach() - 1) / w.stride + 1;
}

}  // namespace poet::operators
