// poet.solve: a problem in, an answer out.

#include <pybind11/stl.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "poet/answer/answer.h"
#include "poet/answer/answer_json.h"
#include "poet/cost/json_reader.h"
#include "poet/plan/layout/addresses.h"
#include "python/src/callbacks.h"
#include "python/src/plans.h"
#include "python/src/problem.h"

namespace poet::python {
namespace {

using Ids = std::vector<std::int32_t>;
/// retain, page_in, page_out, compute.
using StageIds = std::tuple<Ids, Ids, Ids, Ids>;

template <class Id>
Ids numbers(const std::vector<Id>& ids) {
  Ids out;
  for (const Id id : ids) out.push_back(id.index);
  return out;
}

/// Progress of the whole answer. A problem is searched in several ways one after the other, each with a clock
/// and a best plan of its own: seconds count from now, and the best plan is the best of all ways.
OnProgress of_all_searches(OnProgress tell) {
  using Clock = std::chrono::steady_clock;
  // Shared, as every search has a copy of the function.
  const auto least = std::make_shared<std::optional<double>>();
  return map_progress(std::move(tell), [began = Clock::now(), least](Progress& told) {
    told.elapsed_seconds = std::chrono::duration<double>(Clock::now() - began).count();
    if (told.incumbent_joules)
      *least = std::min(*told.incumbent_joules, least->value_or(*told.incumbent_joules));
    told.incumbent_joules = *least;
  });
}

Answer solve(const py::kwargs& given) {
  Arguments arguments(given);
  Callbacks callbacks(arguments.object("progress"));
  Problem problem = take_problem(arguments);
  arguments.finish();
  problem.how.options.on_progress = of_all_searches(callbacks.on_progress());
  problem.how.options.interrupted = callbacks.interrupted();
  Answer answer;
  {
    const py::gil_scoped_release unlocked;
    settle_least(problem);
    answer = answered(posed_problem(problem));
  }
  callbacks.rethrow();
  warn_of_least(problem, 2);  // of solve()
  answer.ram_note = with_argument_names(problem.least ? problem.least->note : answer.ram_note);
  return answer;
}

/// Nothing where the answer is no staged schedule.
std::optional<std::vector<StageIds>> stages(const Answer& answer) {
  if (!has_plan(answer) || answer.result.synchronous || !answer.result.paged.empty()) return std::nullopt;
  std::vector<StageIds> out;
  for (const Stage& stage : answer.result.outcome.schedule.stages)
    out.emplace_back(numbers(stage.retain), numbers(stage.page_in), numbers(stage.page_out),
                     numbers(stage.compute));
  return out;
}

std::shared_ptr<LoadedPlan> plan_of_answer(const Answer& answer) {
  if (!has_plan(answer)) return nullptr;
  const CompileRequest& request = answer.request;
  const Instance& instance = request.instance;
  PlanFile file = plan_file_of(answer);
  if (!request.addresses) {
    const Bytes transient = answer.result.report.peak_ram - instance.costs.persistent;
    file.layout = place(instance, file.plan, request.semantics, {.enough = transient});
  }
  auto plan = std::make_shared<LoadedPlan>();
  plan->picture = picture_of(std::move(file), instance.model);
  Picture& picture = plan->picture;
  if (!request.addresses)  // were not asked to fit the budget
    picture.arena = replay_layout(instance, picture.plan.plan, picture.plan.layout, request.semantics, no_limits());
  plan->name = request.instance.model;
  return plan;
}

}  // namespace

void add_solving(py::module_& module) {
  py::class_<Answer>(module, "Answer")
      .def("json",
           [](const Answer& answer) { return json_text(to_json(answer)); })
      .def("instance", [](const Answer& answer) { return std::make_shared<Instance>(answer.request.instance); })
      .def("plan", &plan_of_answer)
      .def("stages", &stages);
  module.def("solve", &solve);
}

}  // namespace poet::python
