#pragma once

// The feedback edge of compile(): RAM that is lost between addresses is no RAM for the schedule.

#include <chrono>
#include <functional>

#include "poet/compile.h"

namespace poet {

/// A solve and what its schedule becomes.
struct Attempt {
  Outcome outcome;
  Plan plan;  // empty without a schedule; so is what follows
  Layout layout;
  Report report;
  Report schedule_report;
  bool synchronous = false;
  Bytes over{};  // how much more RAM its addresses need than there is
};

/// One pass through the stages, with `reserve` of the request's RAM budget left out of the solve.
using Try = std::function<Attempt(const CompileRequest& request, const SolveOptions& options, Bytes reserve)>;

/// Since it was made.
class Clock {
 public:
  [[nodiscard]] double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  }

 private:
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

struct Fit {
  Attempt attempt;  // the last one
  int solves = 1;
  Bytes reserve{};  // by it
  Bytes least{};    // without a fit: the least budget at which an attempt would have been one

  [[nodiscard]] bool found() const { return !attempt.plan.steps.empty() && attempt.over <= Bytes(0); }
};

/// Tries with the whole budget; while the addresses do not fit, again with as much held back as they are
/// over, or half as much where that leaves too little; at most four times. The bound is that of the first
/// try.
[[nodiscard]] Fit solve_until_it_fits(const CompileRequest& request, const SolveOptions& options,
                                      const Try& attempt, const Clock& clock);

/// Without a fit: status unknown, and with how much RAM there would be one, which is tried before it is said.
[[nodiscard]] Outcome no_addresses(const CompileRequest& request, const Fit& fit, const Try& attempt,
                                   const Clock& clock);

}  // namespace poet
