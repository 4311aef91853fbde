#pragma once

// A problem whose persistent values are paged, posed on the instance with loads (optimize/problem/loads.h).

#include <algorithm>

#include "poet/optimize/outcome.h"
#include "poet/optimize/problem/loads.h"

namespace poet {

class LoadProblem {
 public:
  /// `original` and `limits` must outlive this. Without `rematerialization` only loads may be repeated.
  LoadProblem(const Instance& original, const Limits& limits, bool rematerialization)
      : loads_(with_loads(original)), of_{original, loads_, limits} {
    if (!rematerialization) redo_only_loads(loads_);
  }
  LoadProblem(const LoadProblem&) = delete;
  LoadProblem& operator=(const LoadProblem&) = delete;

  [[nodiscard]] const WithLoads& loads() const { return loads_; }
  [[nodiscard]] const LoadsOf& of() const { return of_; }
  /// Returns the problem for the solver. It refers to this object. The options must allow rematerialization,
  /// as repeating a load counts as one.
  [[nodiscard]] SolveRequest request(Semantics semantics) const {
    return {loads_.instance, limits_with_loads(loads_, of_.limits), semantics, &of_};
  }

 private:
  WithLoads loads_;
  LoadsOf of_;
};

/// Returns whether persistent values are paged. No staged schedule describes such a plan.
[[nodiscard]] inline bool has_paged(const Instance& instance) {
  const auto& values = instance.graph.values;
  return std::any_of(values.begin(), values.end(), [](const Value& value) { return value.paged; });
}

}  // namespace poet
