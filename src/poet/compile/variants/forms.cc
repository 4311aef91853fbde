#include "poet/compile/variants/forms.h"

#include <algorithm>
#include <utility>

#include "poet/base/numbers.h"
#include "poet/cost/reorder.h"
#include "poet/optimize/order/least_peak.h"
#include "poet/plan/allowance.h"

namespace poet {
namespace {

std::shared_ptr<Form> form_of(const CompileRequest& request, Instance instance) {
  auto form = std::make_shared<Form>();
  form->instance = std::move(instance);
  form->regime = regime_of(form->instance.graph.ops.size());
  form->keep_all = replay_keep_all(form->instance, request.semantics);
  if (request.choose_paged) form->all = pageable(form->instance);
  return form;
}

}  // namespace

std::shared_ptr<const Form> given_form(const CompileRequest& request) {
  std::shared_ptr<Form> form = form_of(request, request.instance);
  if (request.cuts) form->cut = request.cuts->given;
  return form;
}

std::shared_ptr<const Form> form_of_least_peak(const CompileRequest& request, const Form& form, int number,
                                               const Stop& stop) {
  LeastPeak least = least_peak_order(form.instance, request.semantics, {}, stop);
  if (std::ranges::is_sorted(least.order)) return nullptr;
  std::shared_ptr<Form> other = form_of(request, reordered(form.instance, least.order));
  other->cut = form.cut;
  other->order = std::move(least.order);
  other->given_peak = form.keep_all.peak_ram;
  other->number = number;
  return other;
}

bool is_impossible_in_any_order(const CompileRequest& request, const Form& given) {
  const Limits& limits = request.limits;
  return (!request.choose_paged &&
          limits.ram_budget < ram_floor(given.instance, request.semantics).bytes()) ||
         (limits.deadline && latest_end(*limits.deadline) < given.keep_all.runtime);
}

OtherCuts::OtherCuts(const CompileRequest& request, const Form& given) : request_(request) {
  ops_ = static_cast<double>(given.instance.graph.ops.size());
  if (request.cuts->has_tables) ops_ = request.cuts->ops({request.cuts->given.part, true});
  tables_first_ = request.cuts->has_tables;
  if (!request.cuts->other_parts) {
    next_ops_ = kInfinity;
    return;
  }
  Bytes part{1};
  while (part * 2 < request.cuts->largest) part = part * 2;
  find_next(part);
}

// Plans of larger graphs take minutes to find.
double OtherCuts::most_ops() const {
  constexpr double kManyOps = 200'000;
  return std::max(kManyOps, 2 * static_cast<double>(request_.instance.graph.ops.size()));
}

// The next size with which there are more ops.
void OtherCuts::find_next(Bytes part) {
  constexpr Bytes kLeastPart{64};
  part_.reset();
  next_ops_ = kInfinity;
  for (; part >= kLeastPart; part = Bytes(part.value() / 2)) {
    const double ops = request_.cuts->ops({part, request_.cuts->has_tables});
    if (ops > most_ops()) return;
    if (ops <= ops_) continue;
    part_ = part;
    next_ops_ = ops;
    return;
  }
}

double OtherCuts::ops_of_next() const { return tables_first_ ? ops_ : next_ops_; }

std::shared_ptr<const Form> OtherCuts::next(bool by_index, int number) {
  Cut cut{part_, by_index};
  // Whole tables may come in far more parts than the rows that a step needs.
  if (!by_index && request_.cuts->has_tables && part_ && request_.cuts->ops(cut) > most_ops())
    cut.by_index = true;
  if (tables_first_) {
    cut = {request_.cuts->given.part, true};
    tables_first_ = false;
  } else {
    ops_ = next_ops_;
    find_next(Bytes(part_->value() / 2));
  }
  std::shared_ptr<Form> form = form_of(request_, request_.cuts->instance(cut, request_.limits.ram_budget));
  form->cut = cut;
  form->number = number;
  return form;
}

}  // namespace poet
