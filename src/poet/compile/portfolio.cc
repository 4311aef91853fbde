#include "poet/compile/portfolio.h"

#include <algorithm>
#include <utility>

#include "poet/plan/allowance.h"

namespace poet {

Portfolio::Portfolio(const CompileRequest& request, Clock& clock, Ledger& ledger)
    : request_(request), clock_(clock), ledger_(ledger) {
  if (request.on_time) punctual_.emplace(request);
}

Portfolio::~Portfolio() = default;

Portfolio::FormSearch& Portfolio::form_of(const Variant& variant) const {
  return **std::ranges::find_if(forms_, [&](const auto& of) { return of->form == variant.form; });
}

// With the best plan; the given one without any.
Portfolio::FormSearch& Portfolio::best_form() const {
  return ledger_.has_plan() ? form_of(ledger_.variant_of_best()) : *forms_.front();
}

// Computing every op once takes more for finer parts.
bool Portfolio::is_late(const Form& form) const {
  const auto& deadline = request_.limits.deadline;
  return deadline && latest_end(*deadline) < form.keep_all.runtime;
}

Portfolio::FormSearch& Portfolio::leanest_form() const {
  return **std::ranges::min_element(forms_, {}, [](const auto& of) { return of->form->floor; });
}

const Form& Portfolio::leanest() const { return *leanest_form().form; }

bool Portfolio::has_members() const {
  return std::ranges::any_of(forms_, [](const auto& of) { return !of->members.empty(); });
}

bool Portfolio::go_on() {
  if (clock_.limit()()) return false;
  be_punctual();
  if (Member* const other = take_suggestion(best_form())) {  // of a bound beside quick steps
    run_quickly({other}, false, best_form().is_refined ? 1 : 0);
    return true;
  }
  const std::vector<Turn> turns = next_turns();
  for (const Turn& turn : turns)
    if (!turn.of->is_refined) {
      if (turn.first->search.wants_addresses())
        go_on_with({{turn.first, nullptr, 0}});  // often better than what refining finds
      else
        refine(*turn.of);
      return true;
    }
  if (cut_is_due()) {
    add_next_cut();
    return true;
  }
  const std::vector<Slice> batch = slices_of(turns);
  if (batch.empty()) {
    if (is_proven() || !may_gain_by_cuts()) return false;
    add_next_cut();
    return true;
  }
  go_on_with(batch);
  return true;
}

void Portfolio::go_on_with(const std::vector<Slice>& batch) {
  run(batch);
  std::vector<Member*> added;
  for (const Slice& slice : batch) {
    if (slice.bounds != nullptr) ledger_.report("residence of parameters");
    if (Member* const other =
            slice.member != nullptr ? derive(*slice.member) : take_suggestion(*slice.bounds))
      added.push_back(other);
  }
  run_quickly(added, false, added.size());
}

bool Portfolio::is_proven() const { return ledger_.has_plan() && !ledger_.may_save(*best_form().form); }

bool Portfolio::lacks_time() const {
  return clock_.limit().expired() || (!is_proven() && would_gain_by_cuts() && !has_time_for_next_cut());
}

// Adds a variant for what has kept the best plan of a search from being an answer; null if there is none.
Portfolio::Member* Portfolio::derive(Member& member) {
  constexpr int kMostEarlier = 2;
  if (member.has_derived) return nullptr;
  const bool settled = member.has_ended || member.search.is_settled();
  FormSearch& of = form_of(member.search.variant());
  if (const auto late = member.search.late(); late && settled && member.earlier < kMostEarlier) {
    auto variant = earlier_by(member.search.variant(), *late);
    if (!variant) return nullptr;
    member.has_derived = true;
    Member& other = add_member(of, std::move(*variant));
    other.earlier = member.earlier + 1;
    return &other;
  }
  const std::optional<Bytes> over = member.search.over();
  const bool none = member.has_ended && member.search.joules() == kInfinity;
  if (!over && !none) return nullptr;
  member.has_derived = true;
  if (!member.reserves->next(over)) return nullptr;
  ++reserves_;
  Member& other = add_member(of, with_reserve(member.search.variant(), member.reserves->reserve()));
  other.reserves = member.reserves;
  other.earlier = member.earlier;
  return &other;
}

Portfolio::Member* Portfolio::take_suggestion(FormSearch& of) {
  std::optional<PagedSet> paged = suggested(of);
  return paged ? &add_member(of, variant_of(request_, of.form, std::move(*paged))) : nullptr;
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
  run_quickly({last_punctual_}, false, 1);
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
  if (cuts_) cuts_->drop_begun();
}

}  // namespace poet
