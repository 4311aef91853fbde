#include "poet/compile/portfolio.h"

#include <algorithm>
#include <utility>

#include "poet/compile/variants/residences.h"
#include "poet/optimize/large.h"
#include "poet/plan/allowance.h"

namespace poet {
namespace {

/// A full search saves up to a tenth of the energy of the quick one: variants beyond are not explored before
/// the others have ended.
constexpr double kMuchMore = 1.1;

double limit_of_promise(double least) { return kMuchMore * least; }

}  // namespace

Portfolio::Portfolio(const CompileRequest& request, Clock& clock, Ledger& ledger)
    : request_(request), clock_(clock), ledger_(ledger) {
  if (request.on_time) punctual_.emplace(request);
}

Portfolio::~Portfolio() = default;

void Portfolio::add(const std::shared_ptr<const Form>& form) {
  FormSearch& of = *forms_.emplace_back(std::make_unique<FormSearch>());
  of.form = form;
  ScopedBounds bounds;
  bounds.every_choice = form->keep_all.energy.value();
  const StepBound least = least_step(form->instance, request_.limits.ram_budget);
  if (request_.semantics == Semantics::device)
    bounds.every_choice = std::max(bounds.every_choice, least.energy.value());
  bounds.no_paging = 0;
  if (!form->all.empty()) bounds.paging = 0;
  ledger_.open(*form, bounds);
  if (request_.choose_paged)
    add_choices(of);
  else
    run_quickly(add_member(of, variant_of(request_, form, {})));
}

Portfolio::Member& Portfolio::add_member(FormSearch& of, Variant variant) {
  auto reserves = std::make_shared<ReserveSearch>(request_.limits.ram_budget);
  of.members.push_back(std::unique_ptr<Member>(
      new Member{{std::move(variant), request_, clock_, ledger_}, std::move(reserves)}));
  return *of.members.back();
}

void Portfolio::add_choices(FormSearch& of) {
  const Form& form = *of.form;
  std::vector<PagedSet> choices = first_choices(request_, form);
  const bool no_resident = choices.empty() || !choices.front().empty();
  Variant resident = variant_of(request_, of.form, {});
  if (no_resident) ledger_.close(resident);
  if (choices.empty() ||
      why_no_choice(form.instance, request_.limits, least_step(form.instance, request_.limits.ram_budget)))
    return;
  for (PagedSet& paged : choices) {
    Variant variant = variant_of(request_, of.form, std::move(paged));
    widen_scope(request_, variant);
    run_quickly(add_member(of, std::move(variant)));
    if (!ledger_.may_save(form)) return;
  }
  refine(of);
}

void Portfolio::run_quickly(Member& member) {
  while (member.search.is_quick() && ledger_.may_save(*member.search.variant().form) && run(member)) {
  }
}

std::vector<PagedSet> Portfolio::tried(const FormSearch& of) const {
  std::vector<PagedSet> sets;
  for (const auto& member : of.members) sets.push_back(member->search.variant().paged);
  return sets;
}

// Adds choices that leave less or more RAM free than the best one.
void Portfolio::refine(FormSearch& of) {
  constexpr int kRounds = 5;
  if (is_large(of.form->instance.graph.ops.size())) return;
  for (int round = 0; round < kRounds && !clock_.limit()(); ++round) {
    const auto best =
        std::ranges::min_element(of.members, {}, [](const auto& member) { return member->search.joules(); });
    if (best == of.members.end() || (*best)->search.joules() == kInfinity) return;
    const PagedSet paged = (*best)->search.variant().paged;
    if (paged.empty()) return;
    const std::vector<PagedSet> beside = choices_beside(request_, *of.form, tried(of), paged);
    if (beside.empty()) return;
    for (const PagedSet& choice : beside) run_quickly(add_member(of, variant_of(request_, of.form, choice)));
  }
}

Portfolio::FormSearch& Portfolio::form_of(const Member& member) {
  return **std::ranges::find_if(forms_,
                                [&](const auto& of) { return of->form == member.search.variant().form; });
}

// The search with the best plan that has not ended.
Portfolio::Member* Portfolio::leader() {
  Member* best = nullptr;
  for (const auto& of : forms_) {
    if (!ledger_.may_save(*of->form)) continue;
    for (const auto& member : of->members)
      if (!member->has_ended && (best == nullptr || member->search.joules() < best->search.joules()))
        best = &*member;
  }
  return best;
}

// The promising search, other than the leader, on which least was spent; null if there is none.
Portfolio::Member* Portfolio::explorer(const Member& leader) {
  const double most = limit_of_promise(leader.search.joules());
  Member* least = nullptr;
  for (const auto& of : forms_) {
    if (!ledger_.may_save(*of->form)) continue;
    for (const auto& member : of->members) {
      if (member->has_ended || &*member == &leader || member->search.joules() > most) continue;
      if (least == nullptr || member->search.spent() < least->search.spent()) least = &*member;
    }
  }
  return least;
}

bool Portfolio::go_on() {
  be_punctual();
  Member* const first = leader();
  Member* const second = first != nullptr ? explorer(*first) : nullptr;
  // Bounds of choices get as much as what leads, as they say when to stop.
  FormSearch* bound = nullptr;
  for (const auto& of : forms_)
    if (ledger_.may_save(*of->form) && request_.choose_paged && !of->form->all.empty() &&
        !(of->bound_has_ended && of->proof_has_ended) &&
        (bound == nullptr || of->spent_on_bound < bound->spent_on_bound))
      bound = &*of;
  if (clock_.limit()() || (first == nullptr && bound == nullptr)) return false;
  if (bound != nullptr && (first == nullptr || bound->spent_on_bound < first->search.spent())) {
    run_bound(*bound);
    return true;
  }
  double on_others = 0;
  for (const auto& of : forms_)
    for (const auto& member : of->members)
      if (&*member != first && member->search.joules() <= limit_of_promise(first->search.joules()))
        on_others += member->search.spent();
  Member& next = second != nullptr && on_others < first->search.spent() ? *second : *first;
  if (!run(next)) next.has_ended = !clock_.limit()();
  derive(next);
  return true;
}

bool Portfolio::run(Member& member) {
  if (member.search.go_on()) return true;
  member.has_ended = !clock_.limit()();
  return false;
}

// The relaxation of all choices, which also says which one to try; on large graphs, and without a plan, the
// bound with everything paged.
bool Portfolio::run_bound(FormSearch& of) {
  const Form& form = *of.form;
  constexpr double kRelaxation = 4;  // a round of a search, as long as that many passes
  const auto ops = static_cast<double>(form.instance.graph.ops.size());
  const bool large = is_large(form.instance.graph.ops.size());
  if (!of.bound_has_ended && !large) {
    if (!of.bound)
      of.bound = std::make_unique<ResidenceBound>(form.instance, form.all, request_.limits.ram_budget,
                                                  request_.options);
    of.spent_on_bound += kRelaxation * of.bound->effort() * ops;
    of.bound_has_ended = !of.bound->go_on(ledger_.joules(), clock_.limit());
    ledger_.raise_paging(form, of.bound->bound());
    ledger_.report("residence of parameters");
    const std::optional<PagedSet> paged = of.bound->paged();
    if (paged && *paged != form.all && !paged->empty() && is_possible(request_, form, *paged)) {
      const std::vector<PagedSet> known = tried(of);
      if (std::ranges::find(known, *paged) == known.end())
        run_quickly(add_member(of, variant_of(request_, of.form, *paged)));
    }
    return true;
  }
  of.bound_has_ended = true;
  const bool others_prove = std::ranges::any_of(
      of.members, [](const auto& member) { return member->search.variant().scope == Scope::all_paging; });
  if (others_prove || (!large && ledger_.has_plan())) {
    of.proof_has_ended = true;
    return false;
  }
  if (!of.proof)
    of.proof =
        std::make_unique<VariantSearch>(variant_for_proof(request_, of.form), request_, clock_, ledger_);
  of.proof_has_ended = !of.proof->go_on() && !clock_.limit()();
  of.spent_on_bound = of.proof->spent();
  return !of.proof_has_ended;
}

// Adds a variant for what has kept the best plan of a search from being an answer.
void Portfolio::derive(Member& member) {
  constexpr int kMostEarlier = 2;
  const bool settled = member.has_ended || member.search.is_settled();
  if (!settled || member.has_derived) return;
  if (const auto late = member.search.late(); late && member.earlier < kMostEarlier) {
    if (auto variant = earlier_by(member.search.variant(), *late)) {
      member.has_derived = true;
      Member& other = add_member(form_of(member), std::move(*variant));
      other.earlier = member.earlier + 1;
      run_quickly(other);
    }
    return;
  }
  const std::optional<Bytes> over = member.search.over();
  const bool none = member.has_ended && member.search.joules() == kInfinity;
  if (!over && !none) return;
  member.has_derived = true;
  if (!member.reserves->next(over)) return;
  ++reserves_;
  Member& other =
      add_member(form_of(member), with_reserve(member.search.variant(), member.reserves->reserve()));
  other.reserves = member.reserves;
  run_quickly(other);
}

void Portfolio::be_punctual() {
  if (!punctual_ || ledger_.has_plan() || !ledger_.refused().variant) return;
  if (last_punctual_ != nullptr && !last_punctual_->has_ended && !last_punctual_->search.is_settled()) return;
  const bool impossible = last_punctual_ != nullptr && last_punctual_->search.joules() == kInfinity;
  std::optional<Variant> variant = punctual_->next(ledger_.refused(), impossible);
  if (!variant) {
    punctual_.reset();
    return;
  }
  const std::shared_ptr<const Form> form = variant->form;
  FormSearch& of = **std::ranges::find_if(forms_, [&](const auto& one) { return one->form == form; });
  last_punctual_ = &add_member(of, std::move(*variant));
  run_quickly(*last_punctual_);
}

void Portfolio::finish() {
  std::vector<VariantSearch*> searches;
  for (const auto& of : forms_)
    for (const auto& member : of->members) searches.push_back(&member->search);
  std::ranges::stable_sort(searches, {}, [](const VariantSearch* search) { return search->joules(); });
  for (VariantSearch* search : searches) {
    if (ledger_.has_plan() && clock_.finish()()) break;
    search->finish();
  }
}

}  // namespace poet
