#include "poet/compile/portfolio.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace poet {

double Portfolio::FormSearch::spent() const {
  return std::accumulate(members.begin(), members.end(), spent_on_bound,
                         [](double sum, const auto& member) { return sum + member->search.spent(); });
}

Portfolio::Portfolio(const CompileRequest& request, Clock& clock, Ledger& ledger)
    : request_(request), clock_(clock), ledger_(ledger) {
  if (request.on_time) punctual_.emplace(request);
}

Portfolio::~Portfolio() = default;

Portfolio::FormSearch& Portfolio::form_of(const Variant& variant) const {
  return **std::ranges::find_if(forms_, [&](const auto& of) { return of->form == variant.form; });
}

Portfolio::FormSearch& Portfolio::leanest_form() const {
  return **std::ranges::min_element(forms_, {}, [](const auto& of) { return of->floor; });
}

const Form& Portfolio::leanest() const { return *leanest_form().form; }

// Once the best form is proven, no bound says what others could save: together they get as much effort as
// that took.
bool Portfolio::may_gain(const FormSearch& of) const {
  if (!ledger_.may_save(*of.form)) return false;
  if (!ledger_.has_plan()) return true;
  const Variant& best = ledger_.variant_of_best();
  return ledger_.may_save(*best.form) || spent() < 2 * form_of(best).spent();
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
  // Quick steps say little of variants that only recompute and page what is computed: the plainest ones, and
  // those beside the leader, are always searched.
  const Variant& variant = member.search.variant();
  const bool beside = variant.form->number == 0 || variant.form == leader.search.variant().form;
  if (variant.paged.empty() && beside) return true;
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

// The promising searches, other than the leader, on which least was spent.
std::vector<Portfolio::Member*> Portfolio::explorers(const Member& leader) const {
  constexpr std::size_t kMost = 3;
  std::vector<Member*> found;
  for (const auto& of : forms_) {
    if (!may_gain(*of)) continue;
    for (const auto& member : of->members)
      if (!member->has_ended && &*member != &leader && is_promising(*member, leader))
        found.push_back(&*member);
  }
  std::ranges::stable_sort(found, {}, [](const Member* member) { return member->search.spent(); });
  if (found.size() > kMost) found.resize(kMost);
  return found;
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
  if (first != nullptr && !form_of(first->search.variant()).is_refined) {
    refine(form_of(first->search.variant()));
    return true;
  }
  if (may_gain_by_cuts() && spent_quickly_ + kQuickly * kQuickStep * cuts_->ops_of_next() <= spent()) {
    add_next_cut();
    return true;
  }
  const std::vector<Slice> batch = next_batch(first);
  if (batch.empty()) {
    const bool proven = ledger_.has_plan() && !ledger_.may_save(*ledger_.variant_of_best().form);
    if (proven || !may_gain_by_cuts()) return false;
    add_next_cut();
    return true;
  }
  run(batch);
  for (const Slice& slice : batch) {
    if (slice.member != nullptr) derive(*slice.member);
    if (slice.bounds == nullptr) continue;
    ledger_.report("residence of parameters");
    if (auto paged = suggested(*slice.bounds))
      run_quickly({&add_member(*slice.bounds, variant_of(request_, slice.bounds->form, std::move(*paged)))});
  }
  return true;
}

// A step of the leader; as much effort for others together as for the leader so far, and a third of all
// effort for the bound on every choice of what is paged, as it says when to stop.
std::vector<Portfolio::Slice> Portfolio::next_batch(Member* leader) {
  constexpr double kForBounds = 1.0 / 3;
  std::vector<Slice> batch;
  FormSearch& best = ledger_.has_plan() ? form_of(ledger_.variant_of_best()) : *forms_.front();
  const bool may_rise = ledger_.may_save(*best.form) && !best.form->all.empty() && !best.members.empty();
  const double for_bounds = kForBounds * spent() - best.spent_on_bound;
  if (may_rise && best.has_bounds() && (leader == nullptr || for_bounds > 0))
    batch.push_back({nullptr, &best, for_bounds});
  if (leader == nullptr) return batch;
  batch.insert(batch.begin(), {leader, nullptr, 0});
  double for_others = leader->search.spent();
  for (const auto& of : forms_)
    for (const auto& member : of->members)
      if (&*member != leader) for_others -= member->search.spent();
  if (for_others <= 0) return batch;
  const std::vector<Member*> others = explorers(*leader);
  for (Member* other : others)
    batch.push_back({other, nullptr, for_others / static_cast<double>(others.size())});
  return batch;
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
