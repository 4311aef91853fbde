// Resizing, and rearrangement of space to channels and back.

#include <fmt/format.h>

#include <cmath>

#include "poet/base/error.h"
#include "poet/frontend/onnx/lower/operators.h"
#include "poet/graph/nn.h"

namespace poet::onnx {
namespace {

/// Sizes and scales of the result's spatial axes.
struct Target {
  std::vector<std::int64_t> sizes;
  std::vector<double> scales;  // empty: given by the sizes
};

std::vector<double> known_reals(const Lowering& net, const Node& node, std::size_t i) {
  const Fixed* x = fixed_of(net, node, i);
  if (x == nullptr || x->tensor.type != Type::real || !x->tensor.known) {
    throw InputError(
        fmt::format("input {} ('{}') must hold real numbers known while importing: poet plans fixed shapes; "
                    "export with a constant size and its contents in the file",
                    i, node.inputs[i]));
  }
  return x->tensor.reals;
}

bool given(const Lowering& net, const Node& node, std::size_t i) {
  return has_input(node, i) && element_count(shape_of(net, node, i)) > 0;
}

/// Returns the axes of a list of sizes or scales: all, or those listed (opset 18).
std::vector<std::size_t> listed_axes(const Node& node, const char* what, std::size_t count,
                                     std::size_t rank) {
  std::vector<std::size_t> axes;
  for (const std::int64_t axis : integers(node, "axes")) axes.push_back(checked_axis(axis, rank));
  for (std::size_t axis = 0; axes.size() < rank && !node.attributes.contains("axes"); ++axis)
    axes.push_back(axis);
  if (axes.size() != count) throw InputError(fmt::format("has {} {} for {} axes", count, what, axes.size()));
  return axes;
}

[[noreturn]] void refuse_axis(std::size_t axis) {
  throw InputError(
      fmt::format("resizes axis {}; only the axes after the batch and the channels can be resized, "
                  "transpose before and after",
                  axis));
}

Target by_sizes(const Lowering& net, const Node& node, std::size_t input, const Shape& x) {
  if (text(node, "keep_aspect_ratio_policy", "stretch") != "stretch") {
    throw InputError("attribute 'keep_aspect_ratio_policy'", "must be 'stretch'; give the sizes themselves");
  }
  const std::vector<std::int64_t> sizes = known_integers(net, node, input);
  const std::vector<std::size_t> axes = listed_axes(node, "sizes", sizes.size(), x.size());
  Shape to = x;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const auto batch = net.sizes.rescaled_batch;
    const bool follows =
        axes[i] == 0 && batch && sizes[i] == batch->in_file && x[0] == batch->times * sizes[i];
    if (axes[i] < 2 && sizes[i] != x[axes[i]] && !follows) refuse_axis(axes[i]);
    if (axes[i] >= 2) to[axes[i]] = sizes[i];
  }
  return {Shape(to.begin() + 2, to.end()), {}};
}

Target by_scales(const Node& node, const std::vector<double>& scales, const Shape& x) {
  const std::vector<std::size_t> axes = listed_axes(node, "scales", scales.size(), x.size());
  Shape to = x;
  std::vector<double> by(x.size(), 1.0);
  for (std::size_t i = 0; i < axes.size(); ++i) {
    by[axes[i]] = scales[i];
    if (axes[i] < 2 && scales[i] != 1.0) refuse_axis(axes[i]);
    // In single precision, like ONNX's shape inference.
    const float size = std::floor(static_cast<float>(x[axes[i]]) * static_cast<float>(scales[i]));
    if (!(size >= 1.0F && size < 1e9F)) {
      throw InputError(fmt::format("the scale {} makes no image of {} elements along axis {}", scales[i],
                                   x[axes[i]], axes[i]));
    }
    to[axes[i]] = static_cast<std::int64_t>(size);
  }
  return {Shape(to.begin() + 2, to.end()), std::vector<double>(by.begin() + 2, by.end())};
}

Target target(const Lowering& net, const Node& node, const Shape& x) {
  if (node.attributes.contains("scales")) return by_scales(node, reals(node, "scales"), x);  // Upsample 7
  const bool old = node.op_type == "Upsample" || net.model.opset < 11;
  const std::size_t scales = old ? 1 : 2;
  if (!old && given(net, node, 3)) return by_sizes(net, node, 3, x);
  if (!given(net, node, scales)) throw InputError("has neither scales nor sizes");
  return by_scales(node, known_reals(net, node, scales), x);
}

/// Returns whether the scales give integral sizes, so that nothing is truncated.
bool is_exact(const Target& to, const Shape& x) {
  for (std::size_t i = 0; i < to.scales.size(); ++i) {
    if (static_cast<double>(x[i + 2]) * to.scales[i] != static_cast<double>(to.sizes[i])) return false;
  }
  return true;
}

void resize(Lowering& net, const Node& node) {
  const Shape x = shape_of(net, node, 0);
  if (x.size() < 3) throw InputError("resizes values (N, C, ...) with at least one axis after the channels");
  nn::ResizeOptions options;
  options.mode = text(node, "mode", "nearest");
  if (options.mode == "bilinear" || options.mode == "trilinear") options.mode = "linear";
  if (node.op_type == "Upsample" || net.model.opset < 11) {
    options.coordinates = "asymmetric";
    options.nearest = "floor";
  } else {
    options.coordinates = text(node, "coordinate_transformation_mode", "half_pixel");
    options.nearest = text(node, "nearest_mode", "round_prefer_floor");
    options.cubic_a = real(node, "cubic_coeff_a", -0.75);
    options.exclude_outside = integer(node, "exclude_outside", 0) != 0;
  }
  const Target to = target(net, node, x);
  // Differs from half_pixel only if sizes are truncated.
  if (options.coordinates == "half_pixel_symmetric" && is_exact(to, x)) options.coordinates = "half_pixel";
  if (options.coordinates == "tf_crop_and_resize" || options.coordinates == "half_pixel_symmetric") {
    throw InputError("attribute 'coordinate_transformation_mode'",
                     fmt::format("'{}' is not supported; export with half_pixel, align_corners or asymmetric",
                                 options.coordinates));
  }
  bool same = true;
  bool smaller = false;
  for (std::size_t i = 0; i < to.sizes.size(); ++i) {
    same = same && to.sizes[i] == x[i + 2] && (to.scales.empty() || to.scales[i] == 1.0);
    smaller = smaller || to.sizes[i] < x[i + 2];
  }
  if (same) return set_result(net, node, operand_of(net, node, 0));
  if (integer(node, "antialias", 0) != 0 && smaller && options.mode != "nearest") {
    throw InputError("attribute 'antialias'", "must be 0 where images get smaller; use an average pool");
  }
  options.scales = to.scales;
  set_result(net, node, nn::resize(net.builder, name_of(node), row_major(net, node, 0), to.sizes, options));
}

/// Rearranges (N, C b², H, W) to (N, C, H b, W b) or back, as a copy.
void rearrange(Lowering& net, const Node& node) {
  const Shape x = shape_of(net, node, 0);
  const std::int64_t b = integer(node, "blocksize", 0);
  const bool to_space = node.op_type == "DepthToSpace";
  if (x.size() != 4) throw InputError("rearranges images (N, C, H, W)");
  constexpr std::int64_t kLargest = 1 << 15;
  const bool fits =
      b >= 1 && b <= kLargest && (to_space ? x[1] % (b * b) == 0 : x[2] % b == 0 && x[3] % b == 0);
  if (!fits) throw InputError("attribute 'blocksize'", fmt::format("{} does not divide {}", b, shown(x)));
  const std::string mode = text(node, "mode", "DCR");
  if (mode != "DCR" && mode != "CRD")
    throw InputError("attribute 'mode'", fmt::format("'{}' is not known", mode));
  GraphBuilder& g = net.builder;
  const std::string name = name_of(node);
  const ValueId from = row_major(net, node, 0);
  if (to_space) {
    const std::int64_t c = x[1] / (b * b);
    const bool depth_first = mode == "DCR";
    const ValueId parts =
        nn::reshape(g, name + ".parts", from,
                    depth_first ? Shape{x[0], b, b, c, x[2], x[3]} : Shape{x[0], c, b, b, x[2], x[3]});
    const ValueId y = depth_first ? nn::transpose(g, name, parts, {0, 3, 4, 1, 5, 2})
                                  : nn::transpose(g, name, parts, {0, 1, 4, 2, 5, 3});
    set_result(net, node, nn::reshape(g, name + ".shape", y, {x[0], c, x[2] * b, x[3] * b}));
    return;
  }
  const ValueId parts = nn::reshape(g, name + ".parts", from, {x[0], x[1], x[2] / b, b, x[3] / b, b});
  const ValueId y = nn::transpose(g, name, parts, {0, 3, 5, 1, 2, 4});
  set_result(net, node, nn::reshape(g, name + ".shape", y, {x[0], x[1] * b * b, x[2] / b, x[3] / b}));
}

}  // namespace

const std::vector<OperatorEntry>& resize_operators() {
  static const std::vector<OperatorEntry> entries = {
      {"DepthToSpace", rearrange},
      {"Resize", resize},
      {"SpaceToDepth", rearrange},
      {"Upsample", resize},
  };
  return entries;
}

}  // namespace poet::onnx
