#include "poet/answer/answer.h"

#include <utility>

#include "poet/base/amounts.h"
#include "poet/base/error.h"
#include "poet/base/this_poet.h"
#include "poet/pipeline/ram_budget.h"
#include "poet/pipeline/solve_options.h"

namespace poet {

Answer posed_answer(CompileRequest how, Workload workload, const Policy& policy) {
  if (how.options.formulation == Formulation::published && workload.semantics != Semantics::published)
    throw InputError(Field{"formulation"}, "published is for `semantics` published only");
  Posed posed = pose(std::move(workload), policy);
  Answer answer;
  answer.request = std::move(how);
  answer.request.options = solve_options(policy, std::move(answer.request.options));
  answer.request.instance = std::move(posed.workload.instance);
  answer.request.semantics = posed.workload.semantics;
  answer.request.limits = posed.limits;
  answer.request.choose_paged = posed.workload.choose_paged;
  answer.request.cuts = std::exchange(posed.workload.cuts, std::nullopt);
  answer.ram_note = note_of(policy.ram, posed.workload.whole_keep_all, posed.limits.ram_budget);
  answer.workload = std::move(posed.workload);
  answer.figures = posed.figures;
  return answer;
}

void cut_to_fit(Answer& posed) {
  CompileRequest& request = posed.request;
  if (!request.cuts) return;
  Workload workload = posed.workload;
  workload.instance = std::move(request.instance);
  workload.cuts = std::exchange(request.cuts, std::nullopt);
  cut_to_fit(workload, request.limits.ram_budget);
  request.instance = std::exchange(workload.instance, {});
  posed.workload = std::move(workload);
  posed.figures = figures_of(request.instance, request.semantics, request.choose_paged);
}

Answer answered(Answer posed) {
  Answer answer = std::move(posed);
  CompileRequest& request = answer.request;
  answer.result = compile(request);
  answer.interrupted = request.options.interrupted && request.options.interrupted();
  request.options.on_progress = nullptr;
  request.options.interrupted = nullptr;
  const CompileResult& result = answer.result;
  if (!result.order.empty()) answer.keep_all_as_given = result.given_peak;
  request.instance = *result.instance;
  answer.figures = figures_of(request.instance, request.semantics, request.choose_paged);
  if (request.cuts) answer.workload.cut = result.cut;
  if (request.cuts && result.cut.part && !has_plan(answer))
    answer.workload.unsplit = answer.workload.unsplit_of(result.cut);
  request.cuts.reset();
  return answer;
}

bool has_plan(const Answer& answer) { return answer.result.has_plan(); }

PlanFile plan_file_of(const Answer& answer, const std::string& command) {
  const CompileRequest& request = answer.request;
  const Certificate& certificate = answer.result.certificate;
  Made made{this_poet(),
            command,
            to_string(certificate.status),
            std::nullopt,
            request.options.paging,
            request.options.rematerialization,
            byte_units() == ByteUnits::binary};
  if (certificate.bounds.every_plan > Joules(0)) made.bound = certificate.bounds.every_plan;
  return {request.instance,   request.semantics,    request.limits,
          answer.result.plan, answer.result.layout, made};
}

}  // namespace poet
