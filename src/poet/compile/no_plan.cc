// Why there is no plan, and the nearest limits with which there is one.

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "poet/base/amounts.h"
#include "poet/compile/portfolio.h"
#include "poet/compile/quick_least_ram.h"
#include "poet/compile/variants/residences.h"
#include "poet/optimize/explain.h"
#include "poet/plan/allowance.h"

namespace poet {
namespace {

/// Searches for a RAM budget with which the addresses of some plan fit.
std::optional<Bytes> enough_for_addresses(const CompileRequest& request, const Variant& variant, Bytes least,
                                          const Stop& stop) {
  constexpr int kMostBudgets = 3;
  for (int i = 0; i < kMostBudgets && !stop(); ++i) {
    CompileRequest wider = request;
    wider.limits.ram_budget = least;
    wider.choose_paged = wider.best_order = wider.options.explain = false;
    wider.cuts.reset();
    wider.instance = *variant.judged;
    wider.options.on_progress = nullptr;  // of another problem
    wider.options.time_limit_seconds = time_limit_within(stop);
    Clock clock(wider.options);
    Ledger ledger(wider, clock);
    Portfolio portfolio(wider, clock, ledger);
    portfolio.begin();
    while (!ledger.has_plan() && portfolio.go_on()) {
    }
    portfolio.finish();
    if (ledger.has_plan()) return least;
    const std::optional<Bytes> more = ledger.refused().with_addresses;
    if (!more || *more <= least) break;
    least = *more;
  }
  return std::nullopt;
}

}  // namespace

Outcome Portfolio::explain() {
  FormSearch& of = leanest_form();
  const Refused& refused = ledger_.refused();
  Outcome outcome;
  if (request_.on_time && refused.share) {
    outcome.explanation.reason =
        fmt::format("plans meet the deadline at median times, but at most {} of simulated steps do",
                    format_percent(*refused.share));
    outcome.explanation.on_time = refused.share;
    outcome.explanation.least_deadline = refused.needs;
    return outcome;
  }
  if (of.members.empty()) return explain_no_choice(of);
  // The variant that needs the least RAM is the likeliest to have a plan elsewhere.
  const auto least = std::ranges::min_element(of.members, {}, [](const auto& member) {
    return ram_floor(*member->search.variant().judged, Semantics::device).bytes();
  });
  VariantSearch& search = request_.choose_paged ? (*least)->search : of.members.front()->search;
  if (refused.with_addresses && request_.options.solver != Solver::file) {
    outcome.explanation.reason =
        "schedules fit the RAM budget, but not with an address in RAM for every value of theirs";
    outcome.explanation.least_ram =
        enough_for_addresses(request_, *refused.over, *refused.with_addresses, clock_.finish());
    return outcome;
  }
  outcome = search.explain();
  if (ledger_.has_plan()) return outcome;
  if (request_.choose_paged && request_.limits.deadline) look_without_deadline(search.variant());
  Explanation& why = outcome.explanation;
  if (refused.least_runtime)
    why.least_deadline =
        std::min(*refused.least_runtime, why.least_deadline.value_or(*refused.least_runtime));
  if (why.reason.empty() && refused.least_runtime)
    why.reason = "loads of parameters make the plans that were found end after the deadline";
  return outcome;
}

// Plans are easier to find without a deadline: what they take is one that can be met.
void Portfolio::look_without_deadline(const Variant& variant) {
  if (!request_.options.explain) return;
  Variant without = variant;
  without.limits.deadline.reset();
  without.scope = Scope::nothing;
  VariantSearch search(std::move(without), request_, clock_, ledger_);
  while (!search.is_settled() && search.go_on(ledger_)) {
  }
}

// No choice of paged values has a plan, or none leaves room for the largest op.
Outcome Portfolio::explain_no_choice(FormSearch& of) {
  const Form& form = *of.form;
  const auto why = form.choices.empty() ? std::nullopt : why_no_choice(form, request_.limits);
  Variant all = variant_of(request_, of.form, form.all);
  const bool fits_storage = has_homes(*all.judged);
  if (!fits_storage) all = variant_of(request_, of.form, {});
  all.scope = Scope::nothing;
  if (why) {
    ledger_.close_form(form);
    VariantSearch search(all, request_, clock_, ledger_);
    Outcome outcome = search.explain();
    if (request_.limits.deadline) look_without_deadline(all);
    if (const auto late = ledger_.refused().least_runtime) outcome.explanation.least_deadline = late;
    outcome.explanation.reason = *why;
    return outcome;
  }
  // Below the floor.
  const Bytes floor = floor_of_every_choice(form.instance);
  const bool asks = request_.options.explain && fits_storage;
  const Stop quickly = clock_.limit().at_most(seconds_for_reason(request_.options));
  const std::optional<Bytes> enough =
      asks ? quick_least_ram(*all.judged, request_.limits, floor, quickly) : std::nullopt;
  CompileRequest request = request_;
  request.options.explain = request_.options.explain && !enough && form.regime.looks_for_limits;
  VariantSearch search(all, request, clock_, ledger_);
  Outcome outcome = search.explain();
  Explanation& explanation = outcome.explanation;
  if (floor <= request_.limits.ram_budget && !form.all.empty())
    explanation.reason += "; with other persistent values paged there may be a plan";
  else
    ledger_.close_form(form);
  if (explanation.floor_ram) explanation.floor_ram = std::min(floor, *explanation.floor_ram);
  if (enough) explanation.least_ram = enough;
  return outcome;
}

}  // namespace poet
