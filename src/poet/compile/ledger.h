#pragma once

// The one record of a compile(): the best verified plan, what is proven of every plan, and the progress of
// both. Whatever has been found anywhere counts at once for everything else, and certificates are made here
// alone.

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "poet/base/numbers.h"
#include "poet/compile/clock.h"
#include "poet/compile/proposal.h"
#include "poet/compile/request.h"
#include "poet/compile/variants/variant.h"

namespace poet {

/// Lower bounds, in joules, on the plans of one form, by what they page; infinite: there are none.
struct ScopedBounds {
  double every_choice = 0;  // of paged values
  double no_paging = kInfinity;
  double paging = kInfinity;
  std::optional<double> staged = {};  // on staged schedules, if the request leaves no choice

  [[nodiscard]] double every_plan() const { return std::max(every_choice, std::min(no_paging, paging)); }
};

/// Plans that were not good enough, for the explanation of an answer without a plan.
struct Refused {
  std::optional<Seconds> least_runtime;  // of plans that miss the deadline
  /// With CompileRequest::on_time: the largest share of steps of a plan that meet the deadline, and the
  /// earliest deadline that the wanted share of some plan's steps meets.
  std::optional<double> share;
  std::optional<Seconds> needs;
  std::optional<Variant> variant;  // of that plan,
  Seconds runtime{};               // and the plan's time
  /// The least RAM budget for which the addresses of some plan would have fit.
  std::optional<Bytes> with_addresses;
  std::optional<Variant> over;  // of that plan
};

class Ledger {
 public:
  /// Both must outlive this.
  Ledger(const CompileRequest& request, Clock& clock);

  /// A ledger with the same knowledge, for one of several slices that run side by side.
  [[nodiscard]] Ledger branch() const;
  /// Adds what a branch() has recorded. What several branches have recorded depends on the order of these
  /// calls alone. O(forms).
  void merge(const Ledger& branch);

  /// Opens the account of a form. `bounds`: what is known of it before any search.
  void open(const Form& form, const ScopedBounds& bounds);

  /// Verifies the plan, with its addresses if the request wants any, and records it if it is the cheapest so
  /// far and keeps the request's limits. Returns whether it was recorded. Throws RejectedPlan
  /// (verify/accepted.h) for a plan that is none.
  bool offer(const Variant& variant, Proposal proposal);
  /// Records that a plan of that energy exists, whose addresses may not fit.
  void note_incumbent(Joules energy);
  /// Records that a plan within the RAM budget misses the deadline.
  void note_late(Seconds runtime);
  /// Records a plan that would be cheaper but has no addresses in the RAM budget.
  void note_over(const Variant& variant, Bytes over);
  /// Raises the bound on plans of the variant's form and scope. `staged`: on staged schedules.
  void raise(const Variant& variant, double joules, std::optional<double> staged = {});
  /// Records that the variant's scope has no plan.
  void close(const Variant& variant) { raise(variant, kInfinity); }
  /// Records that the form has no plan.
  void close_form(const Form& form) { bounds_.at(form.number).every_choice = kInfinity; }
  /// Raises the bound on plans of the form that page something.
  void raise_paging(const Form& form, double joules);
  void count(long nodes, bool used_solver);

  [[nodiscard]] bool has_plan() const { return best_ != nullptr; }
  /// Of the best plan; infinite without one.
  [[nodiscard]] double joules() const { return best_ ? best_->report.energy.value() : kInfinity; }
  [[nodiscard]] const CompileResult& best() const { return *best_; }
  [[nodiscard]] const Variant& variant_of_best() const { return *variant_; }
  [[nodiscard]] const Refused& refused() const { return refused_; }
  [[nodiscard]] const ScopedBounds& bounds(const Form& form) const { return bounds_.at(form.number); }
  /// Returns whether a plan of the form could save more than the requested gap: of the overhead of the best
  /// plan. True without a plan, unless the form has none.
  [[nodiscard]] bool may_save(const Form& form) const;
  /// The gap between the best plan and a bound; there must be a plan.
  [[nodiscard]] double gap_to(Joules bound) const;
  /// Returns whether the best plan's energy is less than `joules` by more than the requested gap.
  [[nodiscard]] bool is_notable_beside(double joules) const;
  /// Returns whether `joules` is less than the best plan's energy by more than the requested gap.
  [[nodiscard]] bool is_notable(double joules) const;

  /// Reports progress, if the calling thread is the caller's: `incumbent` as in Progress.
  void report(const std::string& phase, std::optional<double> incumbent = {});

  /// The answer; without a plan, all of it but the explanation. `forms_left`: there are forms that have not
  /// been opened.
  [[nodiscard]] CompileResult answer(bool forms_left);

 private:
  [[nodiscard]] bool is_on_time(const Variant& variant, const CompileResult& made);
  void note_share(const Refused& other);
  [[nodiscard]] Bounds bounds_of(const Form& form) const;

  const CompileRequest& request_;
  Clock& clock_;
  std::map<int, ScopedBounds> bounds_;  // by Form::number
  std::shared_ptr<const CompileResult> best_;
  std::optional<Variant> variant_;
  std::optional<double> first_plan_;  // seconds
  double incumbent_ = kInfinity;
  double baseline_ = 0;  // the least of all forms
  Refused refused_;
  std::string phase_;
  long nodes_ = 0;
  bool used_solver_ = false;
};

}  // namespace poet
