#pragma once

// Runs a method on an instance under limits and judges its plans: the result behind every table and every
// point of a figure.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "poet/baselines/method.h"
#include "poet/verify/replay.h"

namespace poet {

enum class Verdict {
  holds,           // a plan within all limits
  over_limits,     // the method has plans, but none within the limits; figures are those of the nearest
  no_plan,         // the method has none
  not_applicable,  // the method is not defined for this graph or these semantics
};

struct Judged {
  Verdict verdict = Verdict::no_plan;
  std::string reason;                        // unless it holds: part of a sentence
  std::string note;                          // the method's remark on the graph; may be empty
  Plan plan;                                 // the cheapest feasible one; else the nearest, if any
  std::shared_ptr<const Instance> instance;  // MethodAnswer::instance,
  Cut cut;                                   // and its cut
  std::vector<ValueId> paged;                // the plan is one of with_paged(instance, paged)
  Report report;                             // of `plan`, from the verifier
  std::optional<Joules> bound;               // proven lower bound on every plan of the method's kind
  std::optional<double> gap;  // (energy - bound) / (energy - baseline) where it holds; 0 when they agree
  double overhead = 0;        // energy / baseline - 1, baseline: everything computed once
  double seconds = 0;         // of the method on the host, replays included
};

/// Returns whether there is a plan, feasible or not.
[[nodiscard]] inline bool has_plan(const Judged& judged) { return !judged.plan.steps.empty(); }

/// Replays every plan of the method under the limits and keeps the first feasible one of least energy. If
/// none is feasible, keeps the nearest: least excess over the RAM budget, then over the deadline, then over
/// the bytes written, then least energy; the reason names every limit that it violates. `keep_all` is the
/// report of replay_keep_all().
[[nodiscard]] Judged run_method(const Method& method, const MethodRequest& request, const Report& keep_all);

[[nodiscard]] const char* to_string(Verdict verdict);

}  // namespace poet
