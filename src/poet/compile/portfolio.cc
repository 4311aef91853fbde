#include "poet/compile/portfolio.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <numeric>
#include <utility>

#include "poet/base/error.h"
#include "poet/compile/variants/residences.h"
#include "poet/optimize/large.h"
#include "poet/plan/allowance.h"

namespace poet {
namespace {

constexpr double kQuickStep = 20e-6;  // of effort per op

bool is_large(const Form& form) { return poet::is_large(form.instance.graph.ops.size()); }
double ops_of(const Form& form) { return static_cast<double>(form.instance.graph.ops.size()); }

}  // namespace

double Portfolio::FormSearch::spent() const {
  return std::accumulate(members.begin(), members.end(), spent_on_bound,
                         [](double sum, const auto& member) { return sum + member->search.spent(); });
}

double Portfolio::FormSearch::joules() const {
  double least = kInfinity;
  for (const auto& member : members) least = std::min(least, member->search.joules());
  return least;
}

Portfolio::Portfolio(const CompileRequest& request, Clock& clock, Ledger& ledger)
    : request_(request), clock_(clock), ledger_(ledger) {
  if (request.on_time) punctual_.emplace(request);
}

Portfolio::~Portfolio() = default;

void Portfolio::begin() {
  constexpr int kPatience = 2;  // cuts in a row that do no better
  const FormSearch& given = add(given_form(request_));
  if (request_.cuts) cuts_.emplace(request_, *given.form);
  const Bytes persistent = given.form->instance.costs.persistent;
  if (!request_.choose_paged && persistent > request_.limits.ram_budget) cuts_.reset();  // no parts fit
  for (int no_better = 0; may_gain_by_cuts() && no_better < kPatience && !clock_.limit()();) {
    const double before = ledger_.joules();
    const Bytes floor = leanest_form().floor;
    const FormSearch* next = add_next_cut();
    if (next == nullptr) break;
    const bool better =
        before == kInfinity ? ledger_.has_plan() || next->floor < floor : ledger_.is_notable_beside(before);
    no_better = better ? 0 : no_better + 1;
  }
  if (!ledger_.has_plan() && !has_members()) cuts_.reset();  // finer parts fit no better
  if (!request_.best_order || clock_.limit()()) return;
  const Member* best = leader();
  const Form& form = best != nullptr ? *best->search.variant().form : *given.form;
  if (!ledger_.may_save(form)) return;
  const int number = static_cast<int>(forms_.size());
  if (const auto other = form_of_least_peak(request_, form, number, clock_.limit())) add(other);
}

// No plan in parts needs less than everything kept in whole operators.
bool Portfolio::may_gain_by_cuts() const {
  constexpr double kSecondsPerOp = 3e-5;  // of splitting, which does not ask the clock
  if (!cuts_ || cuts_->ops_of_next() == kInfinity) return false;
  if (clock_.limit().remaining() < kSecondsPerOp * cuts_->ops_of_next()) return false;
  if (!ledger_.has_plan() || cuts_->tables_are_next()) return true;
  const Form& best = *ledger_.variant_of_best().form;
  const auto whole = std::ranges::find_if(forms_, [&](const auto& of) {
    return of->form->cut.part == request_.cuts->given.part && of->form->cut.by_index == best.cut.by_index;
  });
  return ledger_.gap_to((*whole)->form->keep_all.energy) > request_.options.gap;
}

// Null if there is none: it has more ops than split() makes, or not every op can be what the caller wants.
Portfolio::FormSearch* Portfolio::add_next_cut() {
  const bool by_index =
      ledger_.has_plan() ? ledger_.variant_of_best().form->cut.by_index : request_.cuts->has_tables;
  std::shared_ptr<const Form> form;
  try {
    form = cuts_->next(by_index, static_cast<int>(forms_.size()));
  } catch (const InputError&) {
    cuts_.reset();
    return nullptr;
  }
  return &add(form);
}

Portfolio::FormSearch& Portfolio::add(const std::shared_ptr<const Form>& form) {
  FormSearch& of = *forms_.emplace_back(std::make_unique<FormSearch>());
  of.form = form;
  of.floor = ram_floor(request_.choose_paged ? with_paged(form->instance, form->all) : form->instance,
                       request_.semantics)
                 .bytes();
  ScopedBounds bounds;
  bounds.every_choice = form->keep_all.energy.value();
  if (request_.semantics == Semantics::device) {
    const StepBound least = least_step(form->instance, request_.limits.ram_budget);
    bounds.every_choice = std::max(bounds.every_choice, least.energy.value());
  }
  bounds.no_paging = 0;
  if (!form->all.empty()) bounds.paging = 0;
  ledger_.open(*form, bounds);
  if (request_.choose_paged)
    run_quickly(add_choices(of));
  else
    run_quickly({&add_member(of, variant_of(request_, form, {}))});
  return of;
}

Portfolio::Member& Portfolio::add_member(FormSearch& of, Variant variant) {
  auto reserves = std::make_shared<ReserveSearch>(request_.limits.ram_budget);
  of.members.push_back(std::unique_ptr<Member>(
      new Member{{std::move(variant), request_, clock_, ledger_}, std::move(reserves)}));
  return *of.members.back();
}

std::vector<Portfolio::Member*> Portfolio::add_choices(FormSearch& of) {
  const Form& form = *of.form;
  std::vector<PagedSet> choices = first_choices(request_, form);
  if (choices.empty() || !choices.front().empty()) ledger_.close(variant_of(request_, of.form, {}));
  const StepBound least = least_step(form.instance, request_.limits.ram_budget);
  const bool no_choice = why_no_choice(form.instance, request_.limits, least).has_value();
  if (no_choice || floor_of_every_choice(form.instance) > request_.limits.ram_budget)
    ledger_.close_form(form);
  if (no_choice) return {};
  std::vector<Variant> variants;
  for (PagedSet& paged : choices) {
    variants.push_back(variant_of(request_, of.form, std::move(paged)));
    widen_scope(request_, variants.back());
  }
  // In other cuts what was best so far is likely to be: as many bytes resident. The rest waits (refine()).
  constexpr std::size_t kLikely = 4;
  if (ledger_.has_plan() && variants.size() > kLikely) {
    const Bytes best = ledger_.variant_of_best().judged->costs.persistent;
    std::ranges::stable_sort(variants, {}, [&](const Variant& variant) {
      return std::abs((variant.judged->costs.persistent - best).value());
    });
    of.unlikely.assign(std::make_move_iterator(variants.begin() + kLikely),
                       std::make_move_iterator(variants.end()));
    variants.resize(kLikely);
  }
  std::vector<Member*> added;
  for (Variant& variant : variants) added.push_back(&add_member(of, std::move(variant)));
  return added;
}

// Step by step, each of those that have not fallen behind.
void Portfolio::run_quickly(const std::vector<Member*>& members) {
  for (bool more = true; more;) {
    more = false;
    for (Member* member : members) {
      const Form& form = *member->search.variant().form;
      if (!member->search.is_quick() || member->is_behind || !ledger_.may_save(form)) continue;
      more = run(*member) || more;
      spent_quickly_ += kQuickStep * ops_of(form);
      note_quick_step(*member);
    }
    for (Member* member : members) judge(*member);
  }
}

void Portfolio::note_quick_step(Member& member) {
  if (best_after_.size() <= member.quick_steps) best_after_.emplace_back(kInfinity, kInfinity);
  auto& [joules, overhead] = best_after_[member.quick_steps++];
  joules = std::min(joules, member.search.joules());
  overhead = std::min(overhead, overhead_of(member));
}

// A full search saves up to a fifth of the energy of a quick one, and two thirds of the overhead.
void Portfolio::judge(Member& member) {
  constexpr double kBehind = 1.25;
  constexpr double kOfOverhead = 3;
  if (member.quick_steps == 0 || !member.search.is_quick()) return;
  const auto& [joules, overhead] = best_after_[member.quick_steps - 1];
  member.is_behind =
      member.search.joules() > kBehind * joules || overhead_of(member) > kOfOverhead * overhead;
}

double Portfolio::overhead_of(const Member& member) {
  return member.search.joules() - member.search.variant().form->keep_all.energy.value();
}

std::vector<PagedSet> Portfolio::tried(const FormSearch& of) const {
  std::vector<PagedSet> sets;
  for (const auto& member : of.members) sets.push_back(member->search.variant().paged);
  return sets;
}

// Adds the choices that were unlikely, and others that leave less or more RAM free than the best one.
void Portfolio::refine(FormSearch& of) {
  constexpr int kRounds = 5;
  of.is_refined = true;
  std::vector<Member*> rest;
  for (Variant& variant : of.unlikely) rest.push_back(&add_member(of, std::move(variant)));
  of.unlikely.clear();
  run_quickly(rest);
  if (!request_.choose_paged || is_large(*of.form)) return;
  for (int round = 0; round < kRounds && !clock_.limit()(); ++round) {
    const auto best =
        std::ranges::min_element(of.members, {}, [](const auto& member) { return member->search.joules(); });
    if (best == of.members.end() || (*best)->search.joules() == kInfinity) return;
    const PagedSet paged = (*best)->search.variant().paged;
    if (paged.empty()) return;
    std::vector<Member*> beside;
    for (PagedSet& choice : choices_beside(request_, *of.form, tried(of), paged))
      beside.push_back(&add_member(of, variant_of(request_, of.form, std::move(choice))));
    if (beside.empty()) return;
    run_quickly(beside);
  }
}

Portfolio::FormSearch& Portfolio::form_of(const Variant& variant) const {
  return **std::ranges::find_if(forms_, [&](const auto& of) { return of->form == variant.form; });
}

Portfolio::FormSearch& Portfolio::leanest_form() const {
  return **std::ranges::min_element(forms_, {}, [](const auto& of) { return of->floor; });
}

const Form& Portfolio::leanest() const { return *leanest_form().form; }

// Once the best form is proven, no bound says what others could save: they get as much effort as that took.
bool Portfolio::may_gain(const FormSearch& of) const {
  if (!ledger_.may_save(*of.form)) return false;
  if (!ledger_.has_plan()) return true;
  const Variant& best = ledger_.variant_of_best();
  return ledger_.may_save(*best.form) || of.spent() < form_of(best).spent();
}

// The search with the best plan that has not ended.
Portfolio::Member* Portfolio::leader() {
  Member* best = nullptr;
  // Plans that are too often late are cheaper than those that are not.
  if (last_punctual_ != nullptr && !last_punctual_->has_ended && !ledger_.has_plan()) return last_punctual_;
  for (const auto& of : forms_) {
    if (!may_gain(*of)) continue;
    for (const auto& member : of->members)
      if (!member->has_ended && (best == nullptr || member->search.joules() < best->search.joules()))
        best = &*member;
  }
  return best;
}

// The others are searched once these have ended.
bool Portfolio::is_promising(const Member& member, const Member& leader) const {
  constexpr double kMuchMore = 1.1;
  constexpr double kOfOverhead = 2;
  if (member.is_behind) return false;
  constexpr double kFirst = 300e-6;  // of effort per op: enough for the first plan
  const Form& form = *member.search.variant().form;
  if (member.search.joules() == kInfinity)
    return leader.search.joules() == kInfinity || member.search.spent() < kFirst * ops_of(form);
  const double baseline = form.keep_all.energy.value();
  const double least = std::min(leader.search.joules(), ledger_.joules());
  return member.search.joules() <= kMuchMore * least &&
         member.search.quick_joules() - baseline <=
             kOfOverhead * std::max(leader.search.quick_joules() - baseline, least - baseline);
}

// The promising search, other than the leader, on which least was spent; null if there is none.
Portfolio::Member* Portfolio::explorer(const Member& leader) {
  Member* least = nullptr;
  for (const auto& of : forms_) {
    if (!may_gain(*of)) continue;
    for (const auto& member : of->members) {
      if (member->has_ended || &*member == &leader || !is_promising(*member, leader)) continue;
      if (least == nullptr || member->search.spent() < least->search.spent()) least = &*member;
    }
  }
  return least;
}

bool Portfolio::has_members() const {
  return std::ranges::any_of(forms_, [](const auto& of) { return !of->members.empty(); });
}

double Portfolio::spent() const {
  return std::accumulate(forms_.begin(), forms_.end(), 0.0,
                         [](double sum, const auto& of) { return sum + of->spent(); });
}

bool Portfolio::go_on() {
  constexpr double kQuickly = 50;  // steps for all variants of a form, about
  if (clock_.limit()()) return false;
  be_punctual();
  Member* const first = leader();
  const Variant* best = first != nullptr     ? &first->search.variant()
                        : ledger_.has_plan() ? &ledger_.variant_of_best()
                                             : nullptr;
  FormSearch& form = best != nullptr ? form_of(*best) : *forms_.front();
  if (first != nullptr && !form.is_refined) {
    refine(form);
    return true;
  }
  // Bounds of choices get as much as what leads, as they say when to stop.
  const bool has_bound = ledger_.may_save(*form.form) && !form.form->all.empty() && !form.members.empty() &&
                         !(form.bound_has_ended && form.proof_has_ended);
  if (has_bound && (first == nullptr || form.spent_on_bound < first->search.spent())) {
    run_bound(form);
    return true;
  }
  if (may_gain_by_cuts() && spent_quickly_ + kQuickly * kQuickStep * cuts_->ops_of_next() <= spent()) {
    add_next_cut();
    return true;
  }
  if (first == nullptr) {
    if (!may_gain_by_cuts()) return false;
    add_next_cut();
    return true;
  }
  Member* const second = explorer(*first);
  double on_others = 0;
  for (const auto& of : forms_)
    for (const auto& member : of->members)
      if (&*member != first) on_others += member->search.spent();
  Member& next = second != nullptr && on_others < first->search.spent() ? *second : *first;
  run(next);
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
void Portfolio::run_bound(FormSearch& of) {
  const Form& form = *of.form;
  const bool large = is_large(form);
  if (!of.bound_has_ended && !large) {
    if (!of.bound)
      of.bound = std::make_unique<ResidenceBound>(form.instance, form.all, request_.limits.ram_budget,
                                                  request_.options);
    of.bound_has_ended = !of.bound->go_on(ledger_.joules(), clock_.limit());
    of.spent_on_bound = of.bound->effort();
    ledger_.raise_paging(form, of.bound->bound());
    ledger_.report("residence of parameters");
    const std::optional<PagedSet> paged = of.bound->paged();
    if (!paged || *paged == form.all || paged->empty() || !is_possible(request_, form, *paged)) return;
    const std::vector<PagedSet> known = tried(of);
    if (std::ranges::find(known, *paged) == known.end())
      run_quickly({&add_member(of, variant_of(request_, of.form, *paged))});
    return;
  }
  of.bound_has_ended = true;
  const bool others_prove = std::ranges::any_of(
      of.members, [](const auto& member) { return member->search.variant().scope == Scope::all_paging; });
  of.proof_has_ended = others_prove || (!large && ledger_.has_plan());
  if (of.proof_has_ended) return;
  if (!of.proof)
    of.proof =
        std::make_unique<VariantSearch>(variant_for_proof(request_, of.form), request_, clock_, ledger_);
  of.proof_has_ended = !of.proof->go_on() && !clock_.limit()();
  of.spent_on_bound = of.proof->spent();
}

// Adds a variant for what has kept the best plan of a search from being an answer.
void Portfolio::derive(Member& member) {
  constexpr int kMostEarlier = 2;
  if (member.has_derived) return;
  const bool settled = member.has_ended || member.search.is_settled();
  FormSearch& of = form_of(member.search.variant());
  if (const auto late = member.search.late(); late && settled && member.earlier < kMostEarlier) {
    if (auto variant = earlier_by(member.search.variant(), *late)) {
      member.has_derived = true;
      Member& other = add_member(of, std::move(*variant));
      other.earlier = member.earlier + 1;
      run_quickly({&other});
    }
    return;
  }
  const std::optional<Bytes> over = member.search.over();
  const bool none = member.has_ended && member.search.joules() == kInfinity;
  if (!over && !none) return;
  member.has_derived = true;
  if (!member.reserves->next(over)) return;
  ++reserves_;
  Member& other = add_member(of, with_reserve(member.search.variant(), member.reserves->reserve()));
  other.reserves = member.reserves;
  other.earlier = member.earlier;
  run_quickly({&other});
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
  last_punctual_ = &add_member(form_of(*variant), *variant);
  run_quickly({last_punctual_});
}

void Portfolio::finish() {
  std::vector<VariantSearch*> searches;
  for (const auto& of : forms_)
    for (const auto& member : of->members) searches.push_back(&member->search);
  std::ranges::stable_sort(searches, {}, [](const VariantSearch* search) { return search->joules(); });
  for (VariantSearch* search : searches) {
    search->finish();
    if (clock_.finish()()) break;
  }
}

}  // namespace poet
