#pragma once

// What is assigned so far, in order, and why.

#include "poet/base/numbers.h"
#include "poet/optimize/clauses/literal.h"

namespace poet {

/// Why a literal is true: a clause or a sum with nothing else left; neither for a decision. As a conflict:
/// what is broken.
struct Reason {
  int clause = -1;
  int sum = -1;

  [[nodiscard]] bool exists() const { return clause >= 0 || sum >= 0; }
};

class Assignment {
 public:
  int add_variable() {
    values_.resize(values_.size() + 2, 0);
    level_.push_back(0);
    position_.push_back(-1);
    reason_.emplace_back();
    return static_cast<int>(level_.size()) - 1;
  }

  [[nodiscard]] bool is_true(Literal literal) const { return values_[literal.index()] > 0; }
  [[nodiscard]] bool is_false(Literal literal) const { return values_[literal.index()] < 0; }
  [[nodiscard]] bool is_open(Literal literal) const { return values_[literal.index()] == 0; }
  [[nodiscard]] int level_of(Literal literal) const { return level_[at(literal.variable())]; }
  /// In the order of assignment.
  [[nodiscard]] int position_of(Literal literal) const { return position_[at(literal.variable())]; }
  [[nodiscard]] Reason reason_of(Literal literal) const { return reason_[at(literal.variable())]; }

  [[nodiscard]] const std::vector<Literal>& trail() const { return trail_; }
  /// Level 0 holds without decisions; each decision begins another.
  [[nodiscard]] int level() const { return static_cast<int>(begins_.size()); }
  [[nodiscard]] std::size_t begin_of(int level) const { return begins_[at(level)]; }
  void new_level() { begins_.push_back(trail_.size()); }

  /// `literal` is open.
  void set(Literal literal, Reason reason) {
    values_[literal.index()] = 1;
    values_[(~literal).index()] = -1;
    const auto variable = at(literal.variable());
    level_[variable] = level();
    position_[variable] = static_cast<int>(trail_.size());
    reason_[variable] = reason;
    trail_.push_back(literal);
  }

  /// The next literal whose consequences are to be found.
  [[nodiscard]] bool has_next() const { return next_ < trail_.size(); }
  Literal next() { return trail_[next_++]; }
  [[nodiscard]] std::size_t next_position() const { return next_; }

  Literal undo_last() {
    const Literal last = trail_.back();
    values_[last.index()] = values_[(~last).index()] = 0;
    trail_.pop_back();
    return last;
  }
  void end_backtrack(int level) {
    begins_.resize(at(level));
    next_ = std::min(next_, trail_.size());
  }

 private:
  std::vector<signed char> values_;  // per literal: 1 true, -1 false
  std::vector<int> level_, position_;
  std::vector<Reason> reason_;
  std::vector<Literal> trail_;
  std::vector<std::size_t> begins_;
  std::size_t next_ = 0;
};

}  // namespace poet
