#include "poet/graph/nn/resize.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <string_view>
#include <utility>

#include "poet/base/error.h"
#include "poet/graph/diagnostics.h"

namespace poet::nn {

using diagnostics::place;

namespace {

template <std::size_t n>
void check_one_of(const std::string& op, const char* what, const std::string& word,
                  const std::array<std::string_view, n>& known) {
  if (std::find(known.begin(), known.end(), word) != known.end()) return;
  throw InputError(place(op), fmt::format("{} '{}' is not one of {}", what, word, fmt::join(known, ", ")));
}

constexpr std::array<std::string_view, 3> kModes = {"nearest", "linear", "cubic"};
constexpr std::array<std::string_view, 5> kCoordinates = {"half_pixel", "pytorch_half_pixel", "align_corners",
                                                          "asymmetric", "tf_half_pixel_for_nn"};
constexpr std::array<std::string_view, 4> kNearest = {"round_prefer_floor", "round_prefer_ceil", "floor",
                                                      "ceil"};

}  // namespace

ValueId resize(GraphBuilder& g, const std::string& name, ValueId x, const std::vector<std::int64_t>& sizes,
               const ResizeOptions& options) {
  g.check_operand(name, x);
  Shape to = g.shape(x);
  if (to.size() < 3 || to.size() > 5 || sizes.size() + 2 != to.size() ||
      (!options.scales.empty() && options.scales.size() != sizes.size())) {
    throw InputError(place(name),
                     fmt::format("needs x of 3 to 5 dimensions and a size (and a scale) for each "
                                 "after the second, not {} dimensions, {} sizes and {} scales",
                                 to.size(), sizes.size(), options.scales.size()));
  }
  check_one_of(name, "mode", options.mode, kModes);
  check_one_of(name, "coordinates", options.coordinates, kCoordinates);
  Attributes attributes = {{"mode", options.mode}, {"coordinates", options.coordinates}};
  if (options.mode == "nearest") {
    check_one_of(name, "nearest", options.nearest, kNearest);
    attributes["nearest"] = options.nearest;
  }
  if (options.mode == "cubic") {
    if (!std::isfinite(options.cubic_a)) throw InputError(place(name), "cubic_a must be finite");
    attributes["cubic_a"] = options.cubic_a;
    attributes["exclude_outside"] = std::int64_t{options.exclude_outside ? 1 : 0};
  }
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const double ratio = static_cast<double>(sizes[i]) / static_cast<double>(to[i + 2]);
    const double scale = options.scales.empty() ? ratio : options.scales[i];
    if (sizes[i] < 1 || !std::isfinite(scale) || scale <= 0) {
      throw InputError(place(name), fmt::format("makes {} of {} by the scale {}: sizes and scales must be "
                                                "positive",
                                                sizes[i], to[i + 2], scale));
    }
    to[i + 2] = sizes[i];
    attributes[fmt::format("scale{}", i)] = scale;
  }
  const ValueId y = g.output(name, name, {std::move(to), {}});
  g.append(name, "resize", std::move(attributes), {x}, {y});
  return y;
}

}  // namespace poet::nn
