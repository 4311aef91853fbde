#include "poet/graph/nn/products.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "poet/base/error.h"
#include "poet/graph/broadcast.h"
#include "poet/graph/diagnostics.h"

namespace poet::nn {

using diagnostics::check_positive;
using diagnostics::checked_bytes;
using diagnostics::place;
using diagnostics::text;

ValueId linear(GraphBuilder& g, const std::string& name, ValueId x, std::int64_t out_features, bool bias) {
  g.check_operand(name, x);
  check_positive(name, "out_features", out_features);
  Shape to = g.shape(x);
  if (to.empty()) throw InputError(place(name), "needs at least one dimension");
  std::vector<ValueId> inputs = {
      x, g.persistent(name, name + ".weight", {out_features, to.back()}, Persistence::parameter)};
  if (bias) inputs.push_back(g.persistent(name, name + ".bias", {out_features}, Persistence::parameter));
  to.back() = out_features;
  const ValueId y = g.output(name, name, {to, {}});
  g.append(name, "linear", {}, std::move(inputs), {y});
  return y;
}

ValueId matmul(GraphBuilder& g, const std::string& name, ValueId a, ValueId b, const MatmulOptions& options) {
  const Shape& left = g.shape(a);
  const Shape& right = g.shape(b);
  if (g.value(a).dtype != DType::float32 || g.value(b).dtype != DType::float32) {
    throw InputError(place(name), "both operands must be float32");
  }
  std::optional<Shape> leading;
  if (left.size() >= 2 && right.size() >= 2 && left.back() == right[right.size() - 2]) {
    leading = broadcast_shape(Shape(left.begin(), left.end() - 2), Shape(right.begin(), right.end() - 2));
  }
  if (!leading) {
    throw InputError(
        place(name),
        fmt::format("multiplies {} by {}: they must be (..., M, K) and (..., K, N), their leading axes equal "
                    "or broadcast",
                    text(left), text(right)));
  }
  StridedShape product{std::move(*leading), {}};
  product.shape.push_back(left[left.size() - 2]);
  product.shape.push_back(right.back());
  checked_bytes(name, product.shape, DType::float32);
  if (!options.storage_order.empty()) {
    try {
      product = stored_in_order(product.shape, options.storage_order);
    } catch (const InputError& error) {
      throw InputError(place(name), error.what());
    }
  }
  const ValueId c = g.output(name, name, std::move(product));
  g.append(name, "matmul", {{"alpha", options.alpha}}, {a, b}, {c});
  return c;
}

}  // namespace poet::nn
