// poet.compare: one method on one instance under limits, judged.

#include <pybind11/stl.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "poet/cost/json_reader.h"
#include "poet/pipeline/pose.h"
#include "poet/pipeline/solve_options.h"
#include "poet/study/judged_json.h"
#include "poet/study/run_method.h"
#include "python/src/callbacks.h"
#include "python/src/problem.h"

namespace poet::python {
namespace {

/// Rows as JSON. `methods`: names; absent, all.
std::vector<std::string> compare(const py::kwargs& given) {
  Arguments arguments(given);
  Callbacks callbacks(arguments.object("progress"));
  const auto names = arguments.take<std::vector<std::string>>("methods");
  Problem problem = take_problem(arguments);
  arguments.finish();
  std::vector<const Method*> chosen;
  if (names)
    for (const std::string& name : *names) chosen.push_back(&find_method(name));
  else
    for (const Method& method : methods()) chosen.push_back(&method);
  problem.how.options.on_progress = callbacks.on_progress();
  problem.how.options.interrupted = callbacks.interrupted();
  Posed posed;
  Workload fitted;
  {
    const py::gil_scoped_release unlocked;
    settle_least(problem);
    posed = pose(problem.network, problem.device, problem.policy);
    // POET chooses the graph; the others get the coarsest parts that fit.
    fitted = posed.workload;
    if (fitted.cuts) cut_to_fit(fitted, posed.limits.ram_budget);
  }
  warn_of_least(problem, 3);  // of compare(), behind names_mistakes()
  const SolveOptions options = solve_options(problem.policy, problem.how.options);
  std::vector<std::string> rows;
  for (const Method* method : chosen) {
    Judged judged;
    const bool chooses = method->pages_persistent && posed.workload.cuts;
    const Workload& workload = chooses ? posed.workload : fitted;
    const MethodRequest request{workload.instance,     posed.limits,
                                workload.semantics,    options,
                                workload.choose_paged, chooses ? &*workload.cuts : nullptr};
    {
      const py::gil_scoped_release unlocked;
      judged = run_method(*method, request, posed.figures.keep_all);
    }
    callbacks.rethrow();
    if (callbacks.stopped()) break;  // nobody is to read that this method has no plan
    rows.push_back(json_text(to_json(*method, judged)));
  }
  return rows;
}

}  // namespace

void add_methods(py::module_& module) {
  module.def("compare", &compare);
  module.def("method_names", [] {
    std::vector<std::string> names;
    for (const Method& method : methods()) names.emplace_back(method.name);
    return names;
  });
}

}  // namespace poet::python
