#pragma once

// Variants that are stricter than the request, for plans that fail where the planner's model is optimistic:
// free RAM is fragmented, loads delay compute, times vary.

#include <optional>

#include "poet/compile/ledger.h"
#include "poet/compile/variants/variant.h"

namespace poet {

/// Throws InputError if the request's `on_time` is outside (0, 1), or without a deadline, device semantics
/// and an instance that says how times vary; and for Solver::file, which solves one problem.
void check_on_time(const CompileRequest& request);

/// Returns the variant with `reserve` bytes of RAM held back (reserve.h).
[[nodiscard]] Variant with_reserve(Variant variant, Bytes reserve);

/// Returns the variant with a deadline that is earlier by `delay`; nullopt if there is no such deadline.
[[nodiscard]] std::optional<Variant> earlier_by(Variant variant, Seconds delay);

/// For plans of which too few steps meet the deadline (CompileRequest::on_time): the variants to try, one
/// after the other.
class Punctual {
 public:
  explicit Punctual(const CompileRequest& request) : request_(request) {}

  /// Returns the next variant, from the refused plan that needs the least time: first with the times of slow
  /// steps, then with deadlines earlier by that plan's delay at the wanted share. nullopt if none is left.
  /// `impossible`: the last one has no plan.
  [[nodiscard]] std::optional<Variant> next(const Refused& refused, bool impossible);

 private:
  const CompileRequest& request_;
  int tried_ = 0;
  std::optional<Seconds> deadline_;    // tried last
  std::optional<Seconds> impossible_;  // the latest deadline without a plan
};

}  // namespace poet
