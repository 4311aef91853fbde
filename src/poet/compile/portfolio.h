#pragma once

// The searches of all variants, side by side: quick ones of each first, then slices of growing effort, where
// most is to be gained.

#include <memory>
#include <optional>
#include <vector>

#include "poet/compile/ledger.h"
#include "poet/compile/sources/residence_bound.h"
#include "poet/compile/sources/variant_search.h"
#include "poet/compile/variants/reserve.h"
#include "poet/compile/variants/stricter.h"
#include "poet/compile/variants/variant.h"

namespace poet {

class Portfolio {
 public:
  /// All must outlive this.
  Portfolio(const CompileRequest& request, Clock& clock, Ledger& ledger);
  ~Portfolio();
  Portfolio(const Portfolio&) = delete;
  Portfolio& operator=(const Portfolio&) = delete;

  /// Opens the form's account, and runs the quick steps of its variants.
  void add(const std::shared_ptr<const Form>& form);
  /// Runs a slice. Returns false, without one, if no form may save more than the gap, everything has ended,
  /// or time is up. Which slice is next depends on what has been found, never on the clock.
  bool go_on();
  /// After the last slice: addresses for plans that have none yet.
  void finish();

  /// The number of variants with RAM held back for addresses.
  [[nodiscard]] int reserves() const { return reserves_; }
  /// Without a plan: why, and the nearest limits with which there is one.
  [[nodiscard]] Outcome explain();

 private:
  /// A search, and what has been derived from it.
  struct Member {
    VariantSearch search;
    std::shared_ptr<ReserveSearch> reserves;  // of this variant and those with RAM held back
    bool has_derived = false;
    bool has_ended = false;
    int earlier = 0;  // how often the deadline has been moved
  };
  struct FormSearch {
    std::shared_ptr<const Form> form;
    std::vector<std::unique_ptr<Member>> members;
    std::unique_ptr<ResidenceBound> bound;
    double spent_on_bound = 0;
    bool bound_has_ended = false;
    std::unique_ptr<VariantSearch> proof;
    bool proof_has_ended = false;
  };

  Member& add_member(FormSearch& of, Variant variant);
  void add_choices(FormSearch& of);
  void run_quickly(Member& member);
  void refine(FormSearch& of);
  [[nodiscard]] Member* leader();
  [[nodiscard]] Member* explorer(const Member& leader);
  bool run(Member& member);
  bool run_bound(FormSearch& of);
  void derive(Member& member);
  void be_punctual();
  Outcome explain_no_choice(FormSearch& of);
  void look_without_deadline(const Variant& variant);
  [[nodiscard]] FormSearch& form_of(const Member& member);
  [[nodiscard]] std::vector<PagedSet> tried(const FormSearch& of) const;

  const CompileRequest& request_;
  Clock& clock_;
  Ledger& ledger_;
  std::vector<std::unique_ptr<FormSearch>> forms_;
  int reserves_ = 0;
  std::optional<Punctual> punctual_;
  Member* last_punctual_ = nullptr;
};

}  // namespace poet
