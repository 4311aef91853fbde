#pragma once

// One method on one instance under limits, judged: what every table and every point of a figure is made of.

#include <optional>
#include <string>
#include <vector>

#include "poet/baselines/method.h"
#include "poet/verify/replay.h"

namespace poet {

enum class Verdict {
  holds,           // a plan within all limits
  over_limits,     // the method has plans, none is within the limits; the figures are those of the nearest
  no_plan,         // the method has none
  not_applicable,  // the method is not defined for this graph or these rules
};

struct Judged {
  Verdict verdict = Verdict::no_plan;
  std::string reason;           // unless it holds: part of a sentence
  std::string note;             // the method's: what was made of the graph; or empty
  Plan plan;                    // the cheapest that holds; else the nearest, if any
  std::vector<ValueId> paged;   // it is a plan of with_paged(instance, paged)
  Report report;                // of `plan`, from the verifier
  std::optional<Joules> bound;  // proven, of every plan of the method's kind
  std::optional<double> gap;    // (energy - bound) / (energy - baseline) where it holds; 0 when they agree
  double overhead = 0;          // energy / baseline - 1, baseline: everything computed once
  double seconds = 0;           // that the method took on the host, replays included
};

/// Whether there is a plan, be it over the limits.
[[nodiscard]] inline bool has_plan(const Judged& judged) { return !judged.plan.steps.empty(); }

/// Replays every plan of the method's under the limits and keeps the one of least energy that holds, of equal
/// ones the first. Where none holds: the nearest, least over the RAM budget, then over the deadline, then
/// over the bytes written, then of least energy; the reason names every limit that it breaks. `keep_all` is
/// replay_keep_all()'s report.
[[nodiscard]] Judged run_method(const Method& method, const MethodRequest& request, const Report& keep_all);

[[nodiscard]] const char* to_string(Verdict verdict);

}  // namespace poet
