#pragma once

// The searches of all variants, side by side: quick ones of each first, then slices of growing effort, where
// most is to be gained.

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "poet/compile/ledger.h"
#include "poet/compile/sources/residence_bound.h"
#include "poet/compile/sources/variant_search.h"
#include "poet/compile/variants/forms.h"
#include "poet/compile/variants/reserve.h"
#include "poet/compile/variants/stricter.h"
#include "poet/compile/variants/variant.h"

namespace poet {

class Portfolio {
 public:
  /// Begins with the request's form. All must outlive this.
  Portfolio(const CompileRequest& request, Clock& clock, Ledger& ledger);
  ~Portfolio();
  Portfolio(const Portfolio&) = delete;
  Portfolio& operator=(const Portfolio&) = delete;

  /// Runs the quick steps of the given form, and of other forms as long as these do better.
  void begin();
  /// Runs a batch of slices. Returns false, without one, if the best form is proven and others have had as
  /// much effort, everything has ended, or time is up. Which slices are next depends on what has been found,
  /// never on the clock or the number of threads.
  bool go_on();
  /// After the last slice: addresses for plans that have none yet.
  void finish();

  /// The number of variants with RAM held back for addresses.
  [[nodiscard]] int reserves() const { return reserves_; }
  /// Returns whether the search has ended for want of time alone.
  [[nodiscard]] bool lacks_time() const;
  /// Returns whether there are cuts that have not been tried.
  [[nodiscard]] bool has_more_cuts() const { return cuts_ && ops_of_next_cut() < kInfinity; }
  /// Without a plan: why, and the nearest limits with which there is one.
  [[nodiscard]] Outcome explain();
  /// The form that the explanation is about: the one that needs the least RAM.
  [[nodiscard]] const Form& leanest() const;
  /// The request's own.
  [[nodiscard]] const Form& given() const { return *forms_.front()->form; }

 private:
  /// A search, and what has been derived from it.
  struct Member {
    VariantSearch search;
    std::shared_ptr<ReserveSearch> reserves;  // of this variant and those with RAM held back
    bool has_derived = false;
    bool has_ended = false;
    int earlier = 0;  // how often the deadline has been moved
    /// Of the quick steps so far, and whether the best plan after them is far from the best of any member
    /// after as many.
    std::size_t quick_steps = 0;
    bool is_behind = false;
  };
  struct FormSearch {
    std::shared_ptr<const Form> form;
    std::vector<std::unique_ptr<Member>> members;
    std::vector<Variant> unlikely;  // not among the members yet
    bool is_refined = false;
    std::unique_ptr<ResidenceBound> bound;
    bool bound_has_ended = false;
    double spent_at_first = 0;     // on quick steps before it is refined
    double spent_on_refining = 0;  // on those since
    double spent_on_bound = 0;
    double last_on_bound = 0;  // effort of the last step: the next one may take twice as much

    [[nodiscard]] double spent() const;  // on plans, since the first quick steps
    [[nodiscard]] double spent_with_bounds() const;
  };

  /// Part of a batch: a search, or the bounds of a form, until it has spent so much more effort; at least a
  /// step.
  struct Slice {
    Member* member = nullptr;
    FormSearch* bounds = nullptr;
    double effort = 0;
  };

  /// A form that goes on with its best search, `first`, and others: so much effort in all.
  struct Turn {
    FormSearch* of = nullptr;
    Member* first = nullptr;
    double effort = 0;
  };

  FormSearch& add(const std::shared_ptr<const Form>& form);
  [[nodiscard]] bool prefers_index() const;
  [[nodiscard]] double ops_of_next_cut() const { return cuts_->ops_of_next(prefers_index()); }
  [[nodiscard]] bool would_gain_by_cuts() const;
  [[nodiscard]] bool has_time_for_next_cut() const;
  [[nodiscard]] bool may_gain_by_cuts() const { return would_gain_by_cuts() && has_time_for_next_cut(); }
  FormSearch* add_next_cut();
  Member& add_member(FormSearch& of, Variant variant);
  std::vector<Member*> add_choices(FormSearch& of);
  void run_quickly(const std::vector<Member*>& members, bool halves, std::size_t last_steps);
  void refine(FormSearch& of);
  bool try_beside_the_best(FormSearch& of, int parts);
  void note_quick_step(Member& member);
  [[nodiscard]] bool keeps_up(const Member& best) const;
  void judge(Member& member);
  [[nodiscard]] static double overhead_of(const Member& member);
  [[nodiscard]] bool may_gain(const FormSearch& of) const;
  [[nodiscard]] bool is_promising(const Member& member, const Member& leader) const;
  [[nodiscard]] static Member* leader_of(const FormSearch& of);
  [[nodiscard]] Member* leader() const;
  [[nodiscard]] std::vector<Member*> explorers(const FormSearch& of, const Member& its_leader,
                                               const Member& leader, double spent) const;
  [[nodiscard]] std::vector<FormSearch*> rivals(const Member& leader, double spent) const;
  [[nodiscard]] std::vector<Turn> next_turns() const;
  [[nodiscard]] bool cut_is_due(double part = 1) const;
  [[nodiscard]] std::vector<Slice> slices_of(const std::vector<Turn>& turns) const;
  void add_slices(const Turn& turn, const Member& leader, std::vector<Slice>& batch) const;
  [[nodiscard]] bool bound_may_rise(const FormSearch& of) const;
  [[nodiscard]] static double owed_to_bound(const FormSearch& of, double spent);
  void add_bound(FormSearch& of, double spent, double most, std::vector<Slice>& batch) const;
  void go_on_with(const std::vector<Slice>& batch);
  void begin_next_cut();
  bool run(const std::vector<Slice>& batch);
  bool run(const Slice& slice, Ledger& record);
  bool run_bounds(FormSearch& of, double effort, Ledger& record);
  void bound_once(FormSearch& of, Ledger& record);
  [[nodiscard]] std::optional<PagedSet> suggested(const FormSearch& of) const;
  Member* derive(Member& member);
  Member* take_suggestion(FormSearch& of);
  void be_punctual();
  [[nodiscard]] double spent_on_plans() const;
  [[nodiscard]] double spent_on_bounds() const;
  [[nodiscard]] bool has_members() const;
  [[nodiscard]] bool is_proven() const;
  Outcome explain_no_choice(FormSearch& of);
  void look_without_deadline(const Variant& variant);
  [[nodiscard]] FormSearch& form_of(const Variant& variant) const;
  [[nodiscard]] FormSearch& best_form() const;
  [[nodiscard]] bool is_late(const Form& form) const;
  [[nodiscard]] FormSearch& leanest_form() const;
  [[nodiscard]] std::vector<PagedSet> tried(const FormSearch& of) const;

  static constexpr double kQuickStep = 40e-6;  // of effort per op
  static constexpr std::size_t kLikely = 4;    // choices of a form, before it has its turn

  const CompileRequest& request_;
  Clock& clock_;
  Ledger& ledger_;
  std::vector<std::unique_ptr<FormSearch>> forms_;
  std::optional<OtherCuts> cuts_;
  double spent_quickly_ = 0;  // of effort
  /// The least energy and overhead of any member after one quick step, two, and so on.
  std::vector<std::pair<double, double>> best_after_;
  int reserves_ = 0;
  std::optional<Punctual> punctual_;
  Member* last_punctual_ = nullptr;
};

}  // namespace poet
