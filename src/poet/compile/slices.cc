// The slices of a batch: side by side, each with a branch of the ledger.

#include <algorithm>
#include <atomic>
#include <functional>
#include <memory>

#include "poet/compile/portfolio.h"
#include "poet/compile/side_by_side.h"
#include "poet/compile/variants/residences.h"

namespace poet {

// Returns whether any slice ran a step. Each knows what was known before the batch.
bool Portfolio::run(const std::vector<Slice>& batch) {
  begin_next_cut();
  if (batch.size() == 1) return run(batch.front(), ledger_);
  std::vector<Ledger> branches(batch.size(), ledger_.branch());
  std::vector<std::function<void()>> slices;
  std::atomic<bool> any{false};
  for (std::size_t i = 0; i < batch.size(); ++i)
    slices.emplace_back([&, i] {
      if (run(batch[i], branches[i])) any = true;
    });
  run_side_by_side(slices, request_.options.threads, [this] { (void)clock_.limit().cancelled(); });
  for (const Ledger& branch : branches) ledger_.merge(branch);
  return any;
}

// With several threads, beside the slices: if it is likely to be wanted soon, and once more time was spent
// than it takes, as an answer has to wait for it.
void Portfolio::begin_next_cut() {
  constexpr double kSoon = 0.5;  // of what its quick steps take
  const bool begins = std::ranges::none_of(forms_, [](const auto& of) { return of->is_refined; });
  if (request_.options.threads == 1 || !(begins ? may_gain_by_cuts() : cut_is_due(kSoon))) return;
  if (clock_.limit().elapsed() >= kShares.splitting_per_op * ops_of_next_cut())
    cuts_->begin_next(prefers_index());
}

bool Portfolio::run(const Slice& slice, Ledger& record) {
  if (slice.bounds != nullptr) return run_bounds(*slice.bounds, slice.effort, record);
  Member& member = *slice.member;
  const double enough = member.search.spent() + slice.effort;
  bool went = false;
  while (member.search.go_on(record)) {
    went = true;
    if (member.search.spent() >= enough) return true;
  }
  member.has_ended = !clock_.limit()();
  return went;
}

bool Portfolio::run_bounds(FormSearch& of, double effort, Ledger& record) {
  if (clock_.limit()()) return false;
  const double enough = of.spent_on_bound + effort;
  do {
    const double before = of.spent_on_bound;
    bound_once(of, record);
    of.last_on_bound = of.spent_on_bound - before;
  } while (!of.bound_has_ended && record.may_save(*of.form) && of.spent_on_bound < enough && !suggested(of) &&
           !clock_.limit()());
  return true;
}

// The relaxations of all choices. That by windows also says which one to try.
void Portfolio::bound_once(FormSearch& of, Ledger& record) {
  const Form& form = *of.form;
  if (!of.bound)
    of.bound = std::make_unique<ResidenceBound>(form.instance, form.all, request_.limits.ram_budget,
                                                request_.options);
  of.bound_has_ended = !of.bound->go_on(record.joules(), clock_.limit());
  of.spent_on_bound = of.bound->effort();
  record.raise_paging(form, of.bound->bound());
  record.report("residence of parameters");
}

// A choice of paged values by the bound's last solution that has not been tried.
std::optional<PagedSet> Portfolio::suggested(const FormSearch& of) const {
  std::optional<PagedSet> paged = of.bound ? of.bound->paged() : std::nullopt;
  if (!paged || *paged == of.form->all || paged->empty()) return std::nullopt;
  if (!is_possible(request_, *of.form, *paged)) return std::nullopt;
  const std::vector<PagedSet> known = tried(of);
  return std::ranges::find(known, *paged) == known.end() ? paged : std::nullopt;
}

}  // namespace poet
