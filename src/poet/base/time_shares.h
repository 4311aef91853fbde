#pragma once

// What parts of a time limit may take. All other effort is counted in work, whatever the clock says. The
// table of docs/search.md, "Time", is the same (tests/unit/base/time_shares_test.cc).

namespace poet {

struct TimeShares {
  // The search.
  double splitting_per_op = 5e-5;  // s; asks no clock: begins with so much left, with a plan twice that
  double placing_again = 0.25;     // of the time left: addresses of a plan that do not fit, with all effort
  // After the limit, and after a cancellation, to turn what was found into an answer.
  double after_limit = 0.4;          // s
  double after_cancellation = 0.15;  // s
  // Without a plan: each of the three searches of the explanation.
  double reason = 0.08;             // of the limit, but
  double reason_at_least = 1;       // s, or
  double reason_of_short = 0.2;     // of the limit, if that is less,
  double reason_at_most = 10;       // s
  double reason_after_limit = 0.1;  // s, at least, even when time is up
  // An external solver, which then has the rest to write its solution, and the bound before it.
  double external_solver = 0.9;  // of the time left
  double external_bound = 0.5;   // of the time left
  // The least RAM budget: of its time left, each look for one; a size of parts; making sure of it.
  double least_look = 0.5;
  double least_parts = 0.2;
  double least_sure = 0.5;
  double least_after_limit = 0.25;  // of its limit: bisecting and making sure take so much, at least
  // Suggestions: each try of a wider limit, of the time left; at least, and after the limit in all.
  double suggestion = 0.25;
  double suggestion_at_least = 0.1;    // s
  double suggestions_after_limit = 1;  // s
};
inline constexpr TimeShares kShares;

}  // namespace poet
