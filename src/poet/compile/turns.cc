// Which searches go on next, and for how long: by what has been found and spent, never by the clock.

#include <algorithm>
#include <numeric>
#include <utility>

#include "poet/compile/portfolio.h"

namespace poet {

double Portfolio::FormSearch::spent_with_bounds() const { return spent_at_first + spent() + spent_on_bound; }

double Portfolio::FormSearch::spent() const {
  return std::accumulate(members.begin(), members.end(), spent_on_refining,
                         [](double sum, const auto& member) { return sum + member->search.spent(); });
}

// Once the best form is proven, no bound says what others could save: together they get as much effort as
// that took.
bool Portfolio::may_gain(const FormSearch& of) const {
  if (!ledger_.may_save(*of.form)) return false;
  if (!ledger_.has_plan()) return true;
  const Variant& best = ledger_.variant_of_best();
  const FormSearch& proven = form_of(best);
  return ledger_.may_save(*best.form) || spent_on_plans() - proven.spent() < proven.spent_with_bounds();
}

// The search with the form's best plan that has not ended.
Portfolio::Member* Portfolio::leader_of(const FormSearch& of) {
  Member* best = nullptr;
  for (const auto& member : of.members)
    if (!member->has_ended && (best == nullptr || member->search.joules() < best->search.joules()))
      best = &*member;
  return best;
}

// That of all forms.
Portfolio::Member* Portfolio::leader() const {
  // Plans that are too often late are cheaper than those that are not.
  if (last_punctual_ != nullptr && !last_punctual_->has_ended && !ledger_.has_plan()) return last_punctual_;
  Member* best = nullptr;
  for (const auto& of : forms_) {
    Member* const of_form = may_gain(*of) ? leader_of(*of) : nullptr;
    if (of_form != nullptr && (best == nullptr || of_form->search.joules() < best->search.joules()))
      best = of_form;
  }
  return best;
}

// The others are searched once these have ended, side by side, too.
bool Portfolio::is_promising(const Member& member, const Member& leader) const {
  constexpr double kMuchMore = 1.1;
  constexpr double kOfOverhead = 2;
  // Quick steps say little of variants that only recompute and page what is computed: the plainest ones, and
  // those beside the leader, are always searched.
  const Variant& variant = member.search.variant();
  const bool beside = variant.form->number == 0 || variant.form == leader.search.variant().form;
  if (variant.paged.empty() && beside) return true;
  if (member.is_behind && !leader.is_behind) return false;
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

// The best promising searches of the form, other than its own leader, on which less was spent.
std::vector<Portfolio::Member*> Portfolio::explorers(const FormSearch& of, const Member& its_leader,
                                                     const Member& leader, double spent) const {
  constexpr std::size_t kMost = 3;
  std::vector<Member*> found;
  for (const auto& member : of.members)
    if (!member->has_ended && &*member != &its_leader && member->search.spent() < spent &&
        is_promising(*member, leader))
      found.push_back(&*member);
  // First the one, if any, that raises the bound on every plan of the form.
  std::ranges::stable_sort(found, {}, [](const Member* member) {
    return std::pair(member->search.variant().scope != Scope::this_form, member->search.joules());
  });
  if (found.size() > kMost) found.resize(kMost);
  return found;
}

// The best forms with promising searches, other than the leader's, on which less was spent.
std::vector<Portfolio::FormSearch*> Portfolio::rivals(const Member& leader, double spent) const {
  constexpr std::size_t kMost = 2;
  std::vector<FormSearch*> found;
  for (const auto& of : forms_)
    if (of->form != leader.search.variant().form && of->spent() < spent && may_gain(*of) &&
        std::ranges::any_of(of->members, [&](const auto& member) {
          return !member->has_ended && is_promising(*member, leader);
        }))
      found.push_back(&*of);
  std::ranges::stable_sort(found, {}, [](const FormSearch* of) {
    const double joules = leader_of(*of)->search.joules();
    return joules < kInfinity ? joules : 0;  // a first plan takes little
  });
  if (found.size() > kMost) found.resize(kMost);
  return found;
}

double Portfolio::spent_on_plans() const {
  return std::accumulate(forms_.begin(), forms_.end(), 0.0,
                         [](double sum, const auto& of) { return sum + of->spent(); });
}

double Portfolio::spent_on_bounds() const {
  return std::accumulate(forms_.begin(), forms_.end(), 0.0,
                         [](double sum, const auto& of) { return sum + of->spent_on_bound; });
}

// The leader's form, for a step, or as many as go with one of the bound; and others, which together get as
// much effort.
std::vector<Portfolio::Turn> Portfolio::next_turns() const {
  Member* const first = leader();
  if (first == nullptr) return {};
  FormSearch& leading = form_of(first->search.variant());
  double step = first->search.effort_of_last();
  if (bound_may_rise(best_form()) && owed_to_bound(best_form(), spent_on_plans()) > 0)
    step = std::max(step, best_form().last_on_bound);
  std::vector<Turn> turns = {{&leading, first, 2 * step}};
  const double for_rivals = 2 * (leading.spent() + step) - spent_on_plans();
  if (for_rivals <= 0) return turns;
  const std::vector<FormSearch*> others = rivals(*first, leading.spent() + step);
  for (FormSearch* of : others)
    turns.push_back({of, leader_of(*of), for_rivals / static_cast<double>(others.size())});
  return turns;
}

// Its quick steps, or this part of them, take no more than was spent on all searches so far.
bool Portfolio::cut_is_due(double part) const {
  constexpr double kSteps = 16;  // for all variants of a form, about
  if (!may_gain_by_cuts()) return false;
  const double quickly = spent_quickly_ + kSteps * kQuickStep * ops_of_next_cut();
  return part * quickly <= spent_on_plans() + spent_on_bounds();
}

std::vector<Portfolio::Slice> Portfolio::slices_of(const std::vector<Turn>& turns) const {
  std::vector<Slice> batch;
  for (const Turn& turn : turns) add_slices(turn, *turns.front().first, batch);
  // Bounds that are behind take as long as that together, so that two threads are busy alike.
  const double most = std::accumulate(batch.begin(), batch.end(), 0.0, [](double sum, const Slice& slice) {
    return sum + std::max(slice.effort, slice.member->search.effort_of_last());
  });
  for (const auto& [of, first, effort] : turns)
    add_bound(*of, (of == &best_form() ? spent_on_plans() : of->spent()) + effort, most, batch);
  if (std::ranges::find(turns, &best_form(), &Turn::of) == turns.end())
    add_bound(best_form(), spent_on_plans(), most, batch);
  // Bounds first: a step may take the longest, and with one thread time may be up before the others have
  // ended.
  std::ranges::stable_partition(batch, [](const Slice& slice) { return slice.bounds != nullptr; });
  return batch;
}

// Half of the effort for the form's own leader, at least a step, and as much as that has had for others of
// the form together.
void Portfolio::add_slices(const Turn& turn, const Member& leader, std::vector<Slice>& batch) const {
  const auto& [of, first, effort] = turn;
  const double for_first = effort / 2;
  batch.push_back({first, nullptr, for_first});
  double for_others = first->search.spent() + for_first;
  const std::vector<Member*> others = explorers(*of, *first, leader, for_others);
  for (const auto& member : of->members)
    if (&*member != first) for_others -= member->search.spent();
  if (effort > 0) for_others = std::min(for_others, for_first);
  if (for_others > 0)
    for (Member* other : others)
      batch.push_back({other, nullptr, for_others / static_cast<double>(others.size())});
}

bool Portfolio::bound_may_rise(const FormSearch& of) const {
  return ledger_.may_save(*of.form) && !of.form->all.empty() && !of.members.empty() && !of.bound_has_ended;
}

// So much of what is `spent` on plans, and on the form's first quick steps, goes into the bound on every
// choice of what is paged, as it says when to stop, and what to page: what is left of that.
double Portfolio::owed_to_bound(const FormSearch& of, double spent) {
  constexpr double kForBounds = 0.3;
  return kForBounds * (of.spent_at_first + spent) - of.spent_on_bound;
}

void Portfolio::add_bound(FormSearch& of, double spent, double most, std::vector<Slice>& batch) const {
  if (!bound_may_rise(of)) return;
  const double owed = owed_to_bound(of, spent);
  if (owed > 0 || batch.empty()) batch.push_back({nullptr, &of, std::min(owed, most)});
}

}  // namespace poet
