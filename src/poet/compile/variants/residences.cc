#include "poet/compile/variants/residences.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "poet/optimize/problem/loads.h"
#include "poet/plan/allowance.h"
#include "poet/plan/paged_to_fit.h"

namespace poet {
namespace {

bool writes_too_much(const Instance& paged, const Limits& limits) {
  return limits.max_bytes_written && with_loads(paged).written_home > *limits.max_bytes_written;
}

Bytes floor_of(const Form& form, const PagedSet& paged) {
  return ram_floor(with_paged(form.instance, paged), Semantics::device).bytes();
}

}  // namespace

std::vector<PagedSet> first_choices(const CompileRequest& request, const Form& form) {
  std::vector<PagedSet> sets = paged_sets(form.instance, request.limits, form.regime);
  if (!request.limits.max_bytes_written) return sets;
  const auto hopeless = [&](const PagedSet& paged) {
    return writes_too_much(with_paged(form.instance, paged), request.limits);
  };
  if (!std::ranges::all_of(sets, hopeless)) std::erase_if(sets, hopeless);
  return sets;
}

bool is_possible(const CompileRequest& request, const Form& form, const PagedSet& paged) {
  const Instance instance = with_paged(form.instance, paged);
  return has_homes(instance) && !writes_too_much(instance, request.limits) &&
         ram_floor(instance, Semantics::device).bytes() <= request.limits.ram_budget;
}

bool is_below_floor(const Form& form, Bytes ram_budget) {
  return form.floor > ram_budget && floor_of_every_choice(form.instance) > ram_budget;
}

std::vector<PagedSet> choices_beside(const CompileRequest& request, const Form& form,
                                     const std::vector<PagedSet>& tried, const PagedSet& best, int parts) {
  const Bytes floor = floor_of(form, best);
  Bytes lower(0), higher = request.limits.ram_budget;
  for (const PagedSet& other : tried) {
    const Bytes of = floor_of(form, other);
    if (of < floor) lower = std::max(lower, of);
    if (of > floor) higher = std::min(higher, of);
  }
  std::vector<PagedSet> beside;
  const auto is_in = [](const std::vector<PagedSet>& sets, const PagedSet& paged) {
    return std::ranges::find(sets, paged) != sets.end();
  };
  for (const Bytes to : {lower, higher})
    for (int part = 1; part < parts; ++part) {
      const Bytes free = floor + Bytes(part * (to - floor).value() / parts);
      std::optional<PagedSet> paged = paged_to_fit(form.instance, free);
      if (!paged || paged->empty() || is_in(tried, *paged) || is_in(beside, *paged)) continue;
      if (is_possible(request, form, *paged)) beside.push_back(std::move(*paged));
    }
  return beside;
}

void widen_scope(const CompileRequest& request, Variant& variant) {
  const Form& form = *variant.form;
  if (form.regime.takes_turns || variant.scope != Scope::nothing || variant.paged != form.all) return;
  const Limits& limits = request.limits;
  if (limits.deadline || write_limit(variant.judged->costs, limits)) return;
  if (rounding_of(form.instance, form.all) != Bytes(0)) return;
  variant.scope = Scope::all_paging;
  variant.saved = most_saved_by_residents(form.instance, limits.ram_budget);
}

}  // namespace poet
