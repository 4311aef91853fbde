#pragma once

// A posed problem together with its result from compile(), for the programs that report it.

#include <optional>
#include <string>

#include "poet/compile/compile.h"
#include "poet/pipeline/pose.h"
#include "poet/plan/file/plan_file.h"

namespace poet {

struct Answer {
  Workload workload;  // without the instance, which is in the request
  Figures figures;    // of the request's instance
  CompileRequest request;
  CompileResult result;
  bool interrupted = false;                // by the request's SolveOptions::interrupted, during the search
  std::optional<Bytes> keep_all_as_given;  // keep-all peak in the graph's order, if not the plan's
  std::string ram_note;                    // how the RAM budget was determined, if not given in bytes
};

/// Poses the problem, without solving it. Takes the options, `best_order` and `on_time` of `how`, and the
/// allowed mechanisms of the policy. Throws InputError naming the field if they contradict each other, and as
/// pose().
[[nodiscard]] Answer posed_answer(CompileRequest how, Workload workload, const Policy& policy);

/// For methods that choose no graph: the coarsest parts that fit (cut_to_fit() in pose.h) instead of a
/// choice.
void cut_to_fit(Answer& posed);

/// Compiles a posed problem. Instance and figures become the plan's: ops in its order, its choice of paged
/// parameters. Clears the options' callbacks. Throws as compile().
[[nodiscard]] Answer answered(Answer posed);

/// Returns whether there is a plan.
[[nodiscard]] bool has_plan(const Answer& answer);

/// Returns the plan with its instance, limits and origin; `command`: the command that made it, if any. There
/// must be a plan.
[[nodiscard]] PlanFile plan_file_of(const Answer& answer, const std::string& command = {});

}  // namespace poet
