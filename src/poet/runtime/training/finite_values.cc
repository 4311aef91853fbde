#include "poet/runtime/training/finite_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "poet/base/error.h"
#include "poet/graph/parts.h"
#include "poet/runtime/training/checkpoint.h"

namespace poet::runtime {
namespace {

/// The first that is not finite; null: all are.
const float* first_not_finite(const Value& home, const std::byte* contents) {
  const auto* numbers = reinterpret_cast<const float*>(contents);
  const auto* end = numbers + element_count(home.shape);
  const auto* found = std::find_if(numbers, end, [](float number) { return !std::isfinite(number); });
  return found == end ? nullptr : found;
}

}  // namespace

FiniteValues::FiniteValues(const Graph& graph) : graph_(graph), changed_(graph.values.size(), 0) {
  for (const Op& op : graph.ops)
    for (const ValueId v : op.updates) changed_[storage(graph, v)] = 1;
}

// What training leaves as it is may be infinite: a mask that is a constant of the network.
bool FiniteValues::is_one(ValueId v) const {
  return changed_[v] != 0 && graph_.values[v].dtype == DType::float32;
}

void FiniteValues::check(ValueId v, const std::byte* contents,
                         const std::optional<std::filesystem::path>& file) const {
  if (!is_one(v)) return;
  const float* found = first_not_finite(at_home(graph_.values[v]), contents);
  if (found == nullptr) return;
  throw InputError(
      file ? file->string() : "the weights",
      fmt::format("'{}' has {}; training begins with finite numbers", tensor_name(graph_.values[v]), *found));
}

bool FiniteValues::hold(const PersistentValues& persistent) const {
  const std::vector<ValueId> all = persistent_values(graph_);
  return std::none_of(all.begin(), all.end(), [&](ValueId v) {
    return is_one(v) && first_not_finite(at_home(graph_.values[v]), persistent.contents(v)) != nullptr;
  });
}

}  // namespace poet::runtime
