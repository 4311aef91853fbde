// What comes before the slices: the forms and variants of the portfolio, and the quick steps of each.

#include <algorithm>
#include <array>
#include <cstdlib>
#include <iterator>
#include <utility>

#include "poet/base/error.h"
#include "poet/compile/portfolio.h"
#include "poet/compile/variants/residences.h"
#include "poet/plan/allowance.h"

namespace poet {

void Portfolio::begin() {
  // Cuts in a row that do no better. With a plan, finer ones wait until as much was spent on searches.
  constexpr int kPatience = 2;
  const FormSearch& given = add(given_form(request_));
  if (request_.cuts) cuts_.emplace(request_, *given.form);
  if (is_late(*given.form) && cuts_ && !request_.cuts->has_tables) cuts_.reset();  // parts take no less time
  const Bytes persistent = given.form->instance.costs.persistent;
  if (!request_.choose_paged && persistent > request_.limits.ram_budget) cuts_.reset();  // no parts fit
  int no_better = 0;
  while (may_gain_by_cuts() && no_better < (ledger_.has_plan() ? 1 : kPatience) && !clock_.limit()()) {
    const double before = ledger_.joules();
    const Bytes floor = leanest().floor;
    const FormSearch* next = add_next_cut();
    if (next == nullptr) break;
    // What is within the budget already does not lack RAM for an op.
    const bool lacks_ram = floor > request_.limits.ram_budget;
    const bool leaner = lacks_ram && next->form->floor < floor && !is_late(*next->form);
    const bool better =
        before == kInfinity ? ledger_.has_plan() || leaner : ledger_.is_notable_beside(before);
    no_better = better ? 0 : no_better + 1;
  }
  if (no_better == kPatience && !ledger_.has_plan() && !has_members()) cuts_.reset();  // finer fit no better
  if (!request_.best_order || clock_.limit()()) return;
  const Member* best = leader();
  const Form& form = best != nullptr ? *best->search.variant().form : *given.form;
  if (!ledger_.may_save(form)) return;
  const int number = static_cast<int>(forms_.size());
  if (const auto other = form_of_least_peak(request_, form, number, clock_.limit())) add(other);
}

// What the best form so far does with tables.
bool Portfolio::prefers_index() const {
  return ledger_.has_plan() ? ledger_.variant_of_best().form->cut.by_index : request_.cuts->has_tables;
}

// No plan in parts needs less than everything kept in whole operators.
bool Portfolio::would_gain_by_cuts() const {
  if (!cuts_ || ops_of_next_cut() == kInfinity) return false;
  if (!ledger_.has_plan() || cuts_->tables_are_next()) return true;
  const Form& best = *ledger_.variant_of_best().form;
  const auto whole = std::ranges::find_if(forms_, [&](const auto& of) {
    return of->form->cut.part == request_.cuts->given.part && of->form->cut.by_index == best.cut.by_index;
  });
  return ledger_.gap_to((*whole)->form->keep_all.energy) > request_.options.gap;
}

// With a plan known, some of its quick steps should end in time, too.
bool Portfolio::has_time_for_next_cut() const {
  const double splitting = kShares.splitting_per_op * ops_of_next_cut();
  return clock_.limit().remaining() >= (ledger_.has_plan() ? 2 : 1) * splitting;
}

// Null if there is none: it has more ops than split() makes, or not every op can be what the caller wants.
Portfolio::FormSearch* Portfolio::add_next_cut() {
  std::shared_ptr<const Form> form;
  try {
    form = cuts_->next(prefers_index(), static_cast<int>(forms_.size()));
  } catch (const InputError&) {
    cuts_.reset();
    return nullptr;
  }
  return &add(form);
}

Portfolio::FormSearch& Portfolio::add(const std::shared_ptr<const Form>& form) {
  FormSearch& of = *forms_.emplace_back(std::make_unique<FormSearch>());
  of.form = form;
  ScopedBounds bounds;
  bounds.every_choice = std::max(form->keep_all.energy, form->least_step.energy).value();
  bounds.no_paging = 0;
  if (!form->all.empty()) bounds.paging = 0;
  ledger_.open(*form, bounds);
  if (request_.choose_paged)
    run_quickly(add_choices(of), true, 0);
  else
    run_quickly({&add_member(of, variant_of(request_, form, {}))}, true, 0);
  return of;
}

Portfolio::Member& Portfolio::add_member(FormSearch& of, Variant variant) {
  auto reserves = std::make_shared<ReserveSearch>(request_.limits.ram_budget);
  of.members.push_back(std::unique_ptr<Member>(
      new Member{{std::move(variant), request_, clock_, ledger_}, std::move(reserves)}));
  const VariantSearch& search = of.members.back()->search;
  if (search.is_impossible()) ledger_.close(search.variant());
  return *of.members.back();
}

std::vector<Portfolio::Member*> Portfolio::add_choices(FormSearch& of) {
  const Form& form = *of.form;
  std::vector<PagedSet> choices = form.choices;
  if (choices.empty() || !choices.front().empty()) ledger_.close(variant_of(request_, of.form, {}));
  const bool no_choice = why_no_choice(form, request_.limits).has_value();
  if (no_choice || is_below_floor(form, request_.limits.ram_budget)) ledger_.close_form(form);
  if (no_choice) return {};
  std::vector<Variant> variants;
  for (PagedSet& paged : choices) {
    variants.push_back(variant_of(request_, of.form, std::move(paged)));
    widen_scope(request_, variants.back());
  }
  // In other cuts what was best so far is likely to be: as many bytes resident. The rest waits (refine()).
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

// Step by step, each of those that have not fallen behind: several at a time, once there is a plan that says
// which of theirs are worth placing. With `halves` only the better half, at least kLikely, goes on after each
// step; the last step, which takes as long as all others, is for the `last_steps` best alone. Without last
// steps this is the first look at a form: with a plan of a large one it is over if tables by index are next,
// which need less, and if the form does not keep up with others, only its best goes on.
void Portfolio::run_quickly(const std::vector<Member*>& members, bool halves, std::size_t last_steps) {
  constexpr std::size_t kAbreast = 16;
  std::vector<Member*> by_energy = members;
  const auto rank = [&](Member* member) {
    return static_cast<std::size_t>(std::ranges::find(by_energy, member) - by_energy.begin());
  };
  const bool tables_are_next = cuts_ ? cuts_->tables_are_next() : request_.cuts && request_.cuts->has_tables;
  const auto has_step = [&](Member* member) {
    if (!member->search.is_quick() || member->is_behind) return false;
    if (!ledger_.may_save(*member->search.variant().form)) return false;
    const bool is_first_look = last_steps == 0 && ledger_.has_plan();
    if (is_first_look && tables_are_next && member->search.variant().form->regime.takes_turns) return false;
    if (is_first_look && rank(member) > 0 && !keeps_up(*by_energy.front())) return false;
    if (member->search.is_last_quick()) return rank(member) < last_steps;
    const bool all_alike = by_energy.front()->search.joules() == kInfinity;
    return !halves || all_alike || rank(member) < std::max(kLikely, members.size() >> member->quick_steps);
  };
  for (bool more = true; more;) {
    std::ranges::stable_sort(by_energy, {}, [](const Member* each) { return each->search.joules(); });
    more = false;
    std::vector<Slice> batch;
    for (Member* member : members) {
      if (has_step(member)) batch.push_back({member, nullptr, 0});
      const bool is_full = batch.size() == (ledger_.has_plan() ? kAbreast : 1);
      if (batch.empty() || !(is_full || member == members.back())) continue;
      if (ledger_.has_plan() && !suggested(best_form())) {
        const double effort =
            static_cast<double>(batch.size()) * kQuickStep * ops_of(*member->search.variant().form);
        add_bound(best_form(), spent_on_plans(), effort, batch);
      }
      more = run(batch) || more;
      for (const Slice& slice : batch)
        if (slice.member != nullptr) note_quick_step(*slice.member);
      batch.clear();
    }
    for (Member* member : members) judge(*member);
  }
}

void Portfolio::note_quick_step(Member& member) {
  FormSearch& of = form_of(member.search.variant());
  const double effort = kQuickStep * ops_of(*of.form);
  spent_quickly_ += effort;
  (of.is_refined ? of.spent_on_refining : of.spent_at_first) += effort;
  if (best_after_.size() <= member.quick_steps) best_after_.emplace_back(kInfinity, kInfinity);
  auto& [joules, overhead] = best_after_[member.quick_steps++];
  joules = std::min(joules, member.search.joules());
  overhead = std::min(overhead, overhead_of(member));
}

// Returns whether the best of a form's members is about as good as any other form's after as many steps.
bool Portfolio::keeps_up(const Member& best) const {
  constexpr double kAbout = 1.01;
  return best.quick_steps == 0 || best.search.joules() <= kAbout * best_after_[best.quick_steps - 1].first;
}

// A full search saves up to a fifth of the energy of a quick one, and two thirds of the overhead. Where
// streaming passes find no plan for any variant of a form, the last quick step may.
void Portfolio::judge(Member& member) {
  constexpr double kBehind = 1.25;
  constexpr double kOfOverhead = 3;
  if (member.quick_steps == 0 || !member.search.is_quick()) return;
  if (std::ranges::all_of(form_of(member.search.variant()).members,
                          [](const auto& other) { return other->search.joules() == kInfinity; }))
    return;
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
  constexpr std::array kParts = {2, 2, 4};  // in which each round cuts the way to the next choice
  of.is_refined = true;
  for (Variant& variant : of.unlikely) add_member(of, std::move(variant));
  of.unlikely.clear();
  std::vector<Member*> all;
  for (const auto& member : of.members) all.push_back(&*member);
  run_quickly(all, false, 2);
  const bool tries_more = request_.choose_paged && of.form->regime.tries_many_sets;
  for (const int parts : kParts)
    if (!tries_more || clock_.limit()() || !try_beside_the_best(of, parts)) break;
}

// Returns whether there were such choices.
bool Portfolio::try_beside_the_best(FormSearch& of, int parts) {
  const auto best =
      std::ranges::min_element(of.members, {}, [](const auto& member) { return member->search.joules(); });
  if (best == of.members.end() || (*best)->search.joules() == kInfinity) return false;
  const PagedSet paged = (*best)->search.variant().paged;
  if (paged.empty()) return false;
  std::vector<Member*> beside;
  for (PagedSet& choice : choices_beside(request_, *of.form, tried(of), paged, parts))
    beside.push_back(&add_member(of, variant_of(request_, of.form, std::move(choice))));
  run_quickly(beside, true, 1);
  return !beside.empty();
}

}  // namespace poet
