#include "poet/runtime/kernels/onednn/loops/depthwise.h"

#include <algorithm>

#include "poet/runtime/kernels/onednn/loops/instruction_sets.h"
#include "poet/runtime/kernels/onednn/loops/lanes.h"

namespace poet::runtime::onednn {
namespace {

constexpr std::int64_t kMostTaps = 64;

// A plane extended by zeros: in each row, one line per remainder of columns modulo the stride.
struct Image {
  std::int64_t phases;
  std::int64_t width;  // of a line
  std::int64_t row;    // phases lines
  std::int64_t height;
};

// Vectors begin anywhere in a row of results and reach over its end.
Image forward_image(const Plane& p) {
  Image image{};
  image.phases = p.stride[1];
  const std::int64_t columns = (p.y[1] + kLanes - 1) / kLanes * kLanes;
  const std::int64_t reach = (p.taps[1] - 1) * p.dilation[1] / p.stride[1] + 1;
  const std::int64_t whole = (p.x[1] + p.padding[1] + p.stride[1] - 1) / p.stride[1];
  image.width = std::max(columns + reach, whole);
  image.row = image.phases * image.width;
  image.height =
      std::max((p.y[0] - 1) * p.stride[0] + (p.taps[0] - 1) * p.dilation[0] + 1, p.padding[0] + p.x[0]);
  return image;
}

void forward_offsets(const Plane& p, const Image& image, std::int64_t* offsets) {
  for (std::int64_t t = 0; t < p.taps[0] * p.taps[1]; ++t) {
    const std::int64_t down = t / p.taps[1] * p.dilation[0];
    const std::int64_t right = t % p.taps[1] * p.dilation[1];
    offsets[t] = down * image.row + right % p.stride[1] * image.width + right / p.stride[1];
  }
}

// Zeros before dy such that the last tap, which comes first, meets the first number of dx.
std::int64_t backward_padding(const Plane& p, int axis) {
  return (p.taps[axis] - 1) * p.dilation[axis] - p.padding[axis];
}

Image backward_image(const Plane& p) {
  Image image{};
  image.phases = 1;
  const std::int64_t columns = (p.x[1] + kLanes - 1) / kLanes * kLanes;
  image.width = columns + (p.taps[1] - 1) * p.dilation[1];
  image.row = image.width;
  image.height = p.x[0] + (p.taps[0] - 1) * p.dilation[0];
  return image;
}

}  // namespace

std::int64_t depthwise_scratch(const Plane& p) {
  const Image forward = forward_image(p);
  const Image backward = backward_image(p);
  const std::int64_t lines = (p.y[1] + kLanes) * p.y[0] + p.x[1] + 2 * kLanes;
  return std::max(forward.height * forward.row, backward.height * backward.row) + lines + kLanes;
}

#define POET_LOOPS_FILE "poet/runtime/kernels/onednn/loops/depthwise.inc"
#include "poet/runtime/kernels/onednn/loops/every_instruction_set.inc"

const DepthwiseLoops& depthwise_loops() { return POET_HERE(kDepthwise); }

}  // namespace poet::runtime::onednn
