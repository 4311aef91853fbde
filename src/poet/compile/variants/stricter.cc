#include "poet/compile/variants/stricter.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "poet/base/error.h"
#include "poet/compile/variants/reserve.h"

namespace poet {
namespace {

constexpr int kMostPunctual = 4;

/// With the times of slow steps: if transfers are what makes steps late, plans that recompute more and page
/// less meet the deadline. Energies are unchanged, and no time is shorter.
Variant with_slow_steps(Variant variant) {
  Instance slow = *variant.judged;
  const TimeVariation& varies = *slow.costs.timing.variation;
  for (OpCost& op : slow.costs.ops) op.runtime = varies.step * op.runtime;
  for (ValueCost& value : slow.costs.values) {
    value.page_in.seconds = varies.page_in * value.page_in.seconds;
    value.page_out.seconds = varies.page_out * value.page_out.seconds;
  }
  variant.searched = std::make_shared<const Instance>(std::move(slow));
  variant.reserve = Bytes(0);
  variant.scope = Scope::nothing;
  return variant;
}

}  // namespace

void check_on_time(const CompileRequest& request) {
  const Field field{"on_time"};
  if (!(*request.on_time > 0 && *request.on_time < 1)) throw InputError(field, "must be > 0 and < 1");
  if (!request.limits.deadline)
    throw InputError(field, "is the share of steps that meet the deadline, and there is no `deadline`");
  if (request.semantics != Semantics::device)
    throw InputError(field, "is for device semantics: in others times do not vary");
  if (!request.instance.costs.timing.variation)
    throw InputError(field,
                     "needs to know how times vary (p95_over_median), which the device profile does not say; "
                     "poet profile measures it");
  if (request.options.solver == Solver::file)
    throw InputError(field, "may solve several problems; `solver` file solves one");
}

Variant with_reserve(Variant variant, Bytes reserve) {
  variant.searched =
      std::make_shared<const Instance>(with_reserve(*variant.judged, variant.limits.ram_budget, reserve));
  variant.reserve = reserve;
  variant.scope = Scope::nothing;
  return variant;
}

std::optional<Variant> earlier_by(Variant variant, Seconds delay) {
  if (!variant.limits.deadline || *variant.limits.deadline <= delay) return std::nullopt;
  variant.limits.deadline = *variant.limits.deadline - delay;
  variant.scope = Scope::nothing;
  return variant;
}

std::optional<Variant> Punctual::next(const Refused& refused, bool impossible) {
  constexpr double kLeastPart = 1e-6;  // of a deadline: a smaller change is none
  if (!refused.variant || tried_ == kMostPunctual) return std::nullopt;
  if (tried_++ == 0) return with_slow_steps(*refused.variant);
  if (impossible && deadline_) impossible_ = deadline_;
  Variant variant = *refused.variant;
  variant.searched = variant.judged;
  variant.reserve = Bytes(0);
  variant.scope = Scope::nothing;
  const Seconds late = *refused.needs - *request_.limits.deadline;
  Seconds earlier = std::max(refused.runtime - late, variant.form->keep_all.runtime);
  if (impossible_ && earlier <= *impossible_) earlier = 0.5 * (refused.runtime + *impossible_);
  const Seconds before = deadline_.value_or(*request_.limits.deadline);
  const bool is_other =
      impossible_ ? earlier > (1 + kLeastPart) * *impossible_ : earlier < (1 - kLeastPart) * before;
  if (!is_other) return std::nullopt;
  variant.limits.deadline = deadline_ = earlier;
  return variant;
}

}  // namespace poet
