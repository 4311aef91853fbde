#include "poet/compile/variants/orders.h"

#include <algorithm>
#include <utility>

#include "poet/cost/reorder.h"
#include "poet/optimize/order/least_peak.h"
#include "poet/plan/allowance.h"

namespace poet {
namespace {

std::shared_ptr<Form> form_of(const CompileRequest& request, Instance instance) {
  auto form = std::make_shared<Form>();
  form->instance = std::move(instance);
  form->keep_all = replay_keep_all(form->instance, request.semantics);
  if (request.choose_paged) form->all = pageable(form->instance);
  return form;
}

}  // namespace

std::shared_ptr<const Form> given_form(const CompileRequest& request) {
  return form_of(request, request.instance);
}

std::shared_ptr<const Form> form_of_least_peak(const CompileRequest& request, const Stop& stop) {
  LeastPeak least = least_peak_order(request.instance, request.semantics, {}, stop);
  if (std::ranges::is_sorted(least.order)) return nullptr;
  std::shared_ptr<Form> form = form_of(request, reordered(request.instance, least.order));
  form->order = std::move(least.order);
  form->number = 1;
  return form;
}

bool is_impossible_in_any_order(const CompileRequest& request, const Form& given) {
  const Limits& limits = request.limits;
  return (!request.choose_paged &&
          limits.ram_budget < ram_floor(request.instance, request.semantics).bytes()) ||
         (limits.deadline && latest_end(*limits.deadline) < given.keep_all.runtime);
}

}  // namespace poet
