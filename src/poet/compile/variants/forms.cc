#include "poet/compile/variants/forms.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "poet/base/numbers.h"
#include "poet/compile/side_by_side.h"
#include "poet/compile/variants/residences.h"
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
  if (request.semantics == Semantics::device)
    form->least_step = least_step(form->instance, request.limits.ram_budget);
  if (request.choose_paged) form->all = pageable(form->instance);
  form->floor = request.choose_paged
                    ? ram_floor(with_paged(form->instance, form->all), request.semantics).bytes()
                    : ram_floor(form->instance, request.semantics).bytes();
  if (request.choose_paged) form->choices = first_choices(request, *form);
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
  operators_.ops = ops_of(given);
  tables_first_ = request.cuts->has_tables;
  if (tables_first_) tables_.ops = request.cuts->ops({request.cuts->given.part, true});
  Bytes part{1};
  while (part * 2 < request.cuts->largest) part = part * 2;
  for (const bool by_index : {false, true}) {
    if (!request.cuts->other_parts || (by_index && !tables_first_)) continue;
    sizes(by_index).part = part;
    find_next(by_index);
  }
}

// Plans of larger graphs take minutes to find.
double OtherCuts::most_ops() const {
  constexpr double kManyOps = 200'000;
  return std::max(kManyOps, 2 * static_cast<double>(request_.instance.graph.ops.size()));
}

// The first size, from `part` on, with which there are more ops.
void OtherCuts::find_next(bool by_index) {
  constexpr Bytes kLeastPart{64};
  Sizes& of = sizes(by_index);
  for (; of.part >= kLeastPart; of.part = Bytes(of.part.value() / 2)) {
    of.next_ops = request_.cuts->ops({of.part, by_index});
    if (of.next_ops > most_ops()) break;
    if (of.next_ops > of.ops) return;
  }
  of.next_ops = kInfinity;
}

// Whole tables may come in far more parts than the rows that a step needs.
bool OtherCuts::next_is_by_index(bool preferred) const {
  const bool none = (preferred ? tables_ : operators_).next_ops == kInfinity;
  return preferred != none;
}

double OtherCuts::ops_of_next(bool by_index) const {
  if (tables_first_) return tables_.ops;
  return (next_is_by_index(by_index) ? tables_ : operators_).next_ops;
}

Cut OtherCuts::next_cut(bool by_index) const {
  if (tables_first_) return {request_.cuts->given.part, true};
  const bool index = next_is_by_index(by_index);
  return {(index ? tables_ : operators_).part, index};
}

std::shared_ptr<Form> OtherCuts::form_with(const Cut& cut) const {
  std::shared_ptr<Form> form = form_of(request_, request_.cuts->instance(cut, request_.limits.ram_budget));
  form->cut = cut;
  return form;
}

void OtherCuts::begin_next(bool by_index) {
  const bool is_making =
      begun_.valid() && begun_.wait_for(std::chrono::seconds(0)) == std::future_status::timeout;
  if (is_making || has_begun_next(by_index)) return;
  begun_cut_ = next_cut(by_index);
  begun_ = begin_beside([this, cut = begun_cut_] { return form_with(cut); });
}

bool OtherCuts::has_begun_next(bool by_index) const {
  return begun_.valid() && begun_cut_ == next_cut(by_index);
}

std::shared_ptr<const Form> OtherCuts::next(bool by_index, int number) {
  if (begun_.valid()) begun_.wait();  // Cuts::instance is called once at a time
  std::shared_ptr<Form> form = has_begun_next(by_index) ? begun_.get() : form_with(next_cut(by_index));
  form->number = number;
  if (!tables_first_) {
    Sizes& of = sizes(form->cut.by_index);
    of.ops = of.next_ops;
    of.part = Bytes(of.part.value() / 2);
    find_next(form->cut.by_index);
  }
  tables_first_ = false;
  return form;
}

}  // namespace poet
