#include "poet/compile/portfolio.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "poet/compile/variants/residences.h"

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
  if (first != nullptr && !form_of(first->search.variant()).is_refined) {
    refine(form_of(first->search.variant()));
    return true;
  }
  // The bound on every choice of what is paged gets a third of all effort, as it says when to stop.
  FormSearch& form = ledger_.has_plan() ? form_of(ledger_.variant_of_best()) : *forms_.front();
  constexpr double kForBounds = 1.0 / 3;
  const bool has_bound = ledger_.may_save(*form.form) && !form.form->all.empty() && !form.members.empty() &&
                         !(form.bound_has_ended && form.proof_has_ended);
  if (has_bound && (first == nullptr || form.spent_on_bound < kForBounds * spent())) {
    run_bound(form);
    return true;
  }
  if (may_gain_by_cuts() && spent_quickly_ + kQuickly * kQuickStep * cuts_->ops_of_next() <= spent()) {
    add_next_cut();
    return true;
  }
  if (first == nullptr) {
    const bool proven = ledger_.has_plan() && !ledger_.may_save(*ledger_.variant_of_best().form);
    if (proven || !may_gain_by_cuts()) return false;
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
