#pragma once

// The graphs of a step, and the orders in which ops are first computed.

#include <future>
#include <memory>
#include <optional>

#include "poet/base/numbers.h"
#include "poet/base/stop.h"
#include "poet/compile/variants/variant.h"

namespace poet {

/// The request's instance as it is.
[[nodiscard]] std::shared_ptr<const Form> given_form(const CompileRequest& request);

/// The form in the order of least keep-all peak found (optimize/order/least_peak.h); null if that is its own.
/// `number`: of the new form.
[[nodiscard]] std::shared_ptr<const Form> form_of_least_peak(const CompileRequest& request, const Form& form,
                                                             int number, const Stop& stop);

/// Returns whether the RAM floor or the time of computing everything once, the same in every order, exceeds a
/// limit.
[[nodiscard]] bool is_impossible_in_any_order(const CompileRequest& request, const Form& given);

/// The request's other cuts (cost/cuts.h): operators in ever finer parts, sizes halved from one to the next;
/// tables by index, where there are such.
class OtherCuts {
 public:
  /// `given` is the request's form; the request has `cuts`. Both must outlive this.
  OtherCuts(const CompileRequest& request, const Form& given);

  /// About how many ops the next form has; infinite if there is none. `by_index`: the tables, preferably.
  [[nodiscard]] double ops_of_next(bool by_index) const;
  /// Returns whether the next form is the given one with tables by index: its step computes less.
  [[nodiscard]] bool tables_are_next() const { return tables_first_; }
  /// Begins to make the next form beside the calling thread, if none is being made: next() takes it from
  /// there.
  void begin_next(bool by_index);
  [[nodiscard]] bool has_begun_next(bool by_index) const;
  /// Waits for a form that has been begun, which is not wanted any more.
  void drop_begun() { begun_ = {}; }
  /// Makes the next form, `by_index` as above. There must be one.
  [[nodiscard]] std::shared_ptr<const Form> next(bool by_index, int number);

 private:
  struct Sizes {
    double ops = 0;               // of the last form
    Bytes part{};                 // of the next one
    double next_ops = kInfinity;  // of that
  };

  Sizes& sizes(bool by_index) { return by_index ? tables_ : operators_; }
  [[nodiscard]] double most_ops() const;
  [[nodiscard]] bool next_is_by_index(bool preferred) const;
  [[nodiscard]] Cut next_cut(bool by_index) const;
  [[nodiscard]] std::shared_ptr<Form> form_with(const Cut& cut) const;
  void find_next(bool by_index);

  const CompileRequest& request_;
  bool tables_first_ = false;  // the next form is the given one with tables by index
  Sizes operators_, tables_;   // of whole tables' parts, and with tables by index
  Cut begun_cut_;
  std::future<std::shared_ptr<Form>> begun_;
};

}  // namespace poet
