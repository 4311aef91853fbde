#pragma once

// A posed problem and what compile() answers to it, kept together: what a program asks for and tells.

#include <optional>
#include <string>

#include "poet/compile.h"
#include "poet/pipeline/pose.h"
#include "poet/plan/file/plan_file.h"

namespace poet {

struct Answer {
  Workload workload;  // without the instance, which is in the request
  Figures figures;    // of the request's instance
  CompileRequest request;
  CompileResult result;
  bool interrupted = false;                // by the request's SolveOptions::interrupted, during the search
  std::optional<Bytes> keep_all_as_given;  // the keep-all peak in the graph's order, where another is better
  std::string ram_note;                    // how the RAM budget came about, where it was not given in bytes
};

/// The problem, without an answer yet. Of `how`, the options, `best_order` and `on_time` count; the policy
/// adds the mechanisms that it allows. Throws InputError naming the field where they do not go together, and
/// as pose().
[[nodiscard]] Answer posed_answer(CompileRequest how, Workload workload, const Policy& policy);

/// compile() of a posed problem. Instance and figures become those of the plan: ops in its order, parameters
/// at home on storage where it has them. Lets go of the options' callbacks. Throws as compile().
[[nodiscard]] Answer answered(Answer posed);

/// Whether there is a plan.
[[nodiscard]] bool has_plan(const Answer& answer);

/// The plan with what it is for and how it was made, by `command` if by one; there must be a plan.
[[nodiscard]] PlanFile plan_file_of(const Answer& answer, const std::string& command = {});

}  // namespace poet
