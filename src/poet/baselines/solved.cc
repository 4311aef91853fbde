#include "poet/baselines/solved.h"

#include <utility>

#include "poet/compile/compile.h"

namespace poet {

MethodAnswer solved_plan(const MethodRequest& request, const SolveOptions& options, bool choose_paged) {
  CompileRequest problem;
  problem.instance = request.instance;
  problem.limits = request.limits;
  problem.semantics = request.semantics;
  problem.options = options;
  problem.addresses = false;  // no other method has any
  problem.choose_paged = choose_paged;
  if (request.cuts != nullptr) problem.cuts = *request.cuts;
  CompileResult compiled = compile(problem);
  MethodAnswer answer;
  if (request.cuts != nullptr) answer.instance = compiled.instance;
  answer.cut = compiled.cut;
  const bool infeasible = compiled.certificate.status == Status::infeasible;
  if (!infeasible) answer.bound = compiled.certificate.bounds.every_plan;
  if (compiled.plan.steps.empty()) {
    answer.reason = infeasible ? "no schedule of this kind is within the limits"
                               : "no schedule found in the time allowed";
    return answer;
  }
  answer.plans.push_back(std::move(compiled.plan));
  answer.paged = std::move(compiled.paged);
  return answer;
}

}  // namespace poet
