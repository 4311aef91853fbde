// The operators with parameters that have no windows.

#include <fmt/format.h>

#include <utility>

#include "poet/base/error.h"
#include "poet/graph/builder.h"
#include "poet/graph/diagnostics.h"

namespace poet {

using diagnostics::place;

namespace {

void check_positive(const std::string& op, const char* what, std::int64_t number) {
  if (number < 1) throw InputError(place(op), fmt::format("{} must be positive, not {}", what, number));
}

}  // namespace

ValueId GraphBuilder::linear(const std::string& name, ValueId x, std::int64_t out_features, bool bias) {
  check_operand(name, x, -1);
  check_positive(name, "out_features", out_features);
  Shape to = shape(x);
  if (to.empty()) throw InputError(place(name), "needs at least one dimension");
  std::vector<ValueId> inputs = {
      x, persistent(name, name + ".weight", {out_features, to.back()}, Persistence::parameter)};
  if (bias) inputs.push_back(persistent(name, name + ".bias", {out_features}, Persistence::parameter));
  to.back() = out_features;
  const ValueId y = output(name, name, {to, {}});
  append(name, "linear", {}, std::move(inputs), {y});
  return y;
}

ValueId GraphBuilder::batch_norm(const std::string& name, ValueId x, const BatchNormOptions& options) {
  check_operand(name, x, -1);
  const Shape from = shape(x);
  if (from.size() < 2) throw InputError(place(name), "needs a batch and a channel dimension");
  if (!(options.eps > 0)) throw InputError(place(name), fmt::format("eps must be > 0, not {}", options.eps));
  const std::int64_t channels = from[1];
  const std::int64_t per_channel = element_count(from) / channels;
  if (per_channel < 2) {
    throw InputError(place(name), "the variance of a batch needs more than one value per channel");
  }
  const ValueId weight = persistent(name, name + ".weight", {channels}, Persistence::parameter);
  const ValueId bias = persistent(name, name + ".bias", {channels}, Persistence::parameter);
  const ValueId running_mean =
      persistent(name, name + ".running_mean", {channels}, Persistence::optimizer_state);
  const ValueId running_var =
      persistent(name, name + ".running_var", {channels}, Persistence::optimizer_state);
  const ValueId y = output(name, name, {from, {}});
  const ValueId mean = output(name, name + ".mean", {{channels}, {}});
  const ValueId invstd = output(name, name + ".invstd", {{channels}, {}});
  append(name, "batch_norm", {{"eps", options.eps}}, {x, weight, bias}, {y, mean, invstd});
  append(name + ".stats", "batch_norm_stats",
         {{"momentum", options.momentum}, {"eps", options.eps}, {"count", per_channel}},
         {mean, invstd, running_mean, running_var}, {}, {running_mean, running_var});
  return y;
}

ValueId GraphBuilder::layer_norm(const std::string& name, ValueId x, double eps) {
  check_operand(name, x, -1);
  const Shape from = shape(x);
  if (from.size() < 2) throw InputError(place(name), "needs at least two dimensions");
  if (!(eps > 0)) throw InputError(place(name), fmt::format("eps must be > 0, not {}", eps));
  const ValueId weight = persistent(name, name + ".weight", {from.back()}, Persistence::parameter);
  const ValueId bias = persistent(name, name + ".bias", {from.back()}, Persistence::parameter);
  const Shape rows(from.begin(), from.end() - 1);
  const ValueId y = output(name, name, {from, {}});
  const ValueId mean = output(name, name + ".mean", {rows, {}});
  const ValueId rstd = output(name, name + ".rstd", {rows, {}});
  append(name, "layer_norm", {{"eps", eps}}, {x, weight, bias}, {y, mean, rstd});
  return y;
}

ValueId GraphBuilder::embedding(const std::string& name, ValueId indices, std::int64_t rows,
                                std::int64_t width) {
  check_operand(name, indices, -1, DType::int32);
  check_positive(name, "rows", rows);
  check_positive(name, "width", width);
  const ValueId table = persistent(name, name + ".weight", {rows, width}, Persistence::parameter);
  Shape to = shape(indices);
  to.push_back(width);
  const ValueId y = output(name, name, {to, {}});
  append(name, "embedding", {}, {indices, table}, {y});
  return y;
}

}  // namespace poet
