#include "apps/cli/solve/no_answer.h"

#include <fmt/format.h>

#include <set>

#include "apps/cli/solve/proof_text.h"
#include "apps/cli/solve/suggestions.h"
#include "apps/shared/answer_line.h"
#include "poet/base/amounts.h"
#include "poet/cost/tabulate.h"
#include "poet/graph/parts.h"
#include "poet/report/table.h"

namespace poet::cli {
namespace {

/// What the op that needs most reads or writes and is larger than the parts; why it is not cut; empty where
/// there is none.
std::string uncut(const Solved& solved) {
  const Graph& graph = solved.request.instance.graph;
  const OpId largest = solved.figures.floor.op;
  if (!graph.ops.contains(largest)) return {};
  std::set<std::string> tensors;
  const Op& op = graph.ops[largest];
  for (const auto* values : {&op.inputs, &op.outputs})
    for (const ValueId v : *values) tensors.insert(tensor_name(graph.values[storage(graph, v)]));
  for (const Unsplit& tensor : solved.workload.unsplit)
    if (tensors.contains(tensor.tensor))
      return fmt::format("{} stays in parts of {}: {}", tensor.tensor, format_bytes(tensor.bytes),
                         tensor.reason);
  return {};
}

}  // namespace

std::string no_answer_text(const Solved& solved) {
  const Explanation& explanation = solved.result.outcome.explanation;
  const Graph& graph = solved.request.instance.graph;
  const Limits& limits = solved.request.limits;
  std::string out;
  if (solved.result.certificate.status == Status::unknown) {
    out += status_line(
        fmt::format("unknown: {} after {} without a plan, which does not mean that none exists",
                    solved.interrupted        ? fmt::format("stopped by {}", request_name(solved.stopped_by))
                    : ran_out_of_time(solved) ? "time ran out"
                                              : "the search ended",
                    format_seconds(Seconds(solved.result.outcome.solve_seconds), 2)));
    if (explanation.on_time) out += answer_line("Why", why_not(solved));
  } else {
    out += status_line(fmt::format("infeasible{}: {}", in_parts(solved.workload), why_not(solved)));
  }
  std::string least = fmt::format("{} requested; no schedule{} below {}", format_bytes(limits.ram_budget),
                                  in_parts(solved.workload), format_bytes(solved.figures.floor.bytes()));
  if (graph.ops.contains(solved.figures.floor.op)) {
    least +=
        fmt::format(", which {} needs ({}its operands and results{})",
                    graph.ops[solved.figures.floor.op].name, counts_persistent(solved) ? "parameters, " : "",
                    solved.figures.floor.largest.workspace > Bytes(0) ? ", its workspace" : "");
  }
  if (explanation.proven_ram)
    least += fmt::format("; none below {} within these limits", format_bytes(*explanation.proven_ram));
  if (explanation.least_ram) {
    least += fmt::format("; one is known at {}{}", format_bytes(*explanation.least_ram),
                         limits.deadline ? " with this deadline" : "");
  }
  out += answer_line("RAM", least + fmt::format("; keeping everything takes {}",
                                                format_bytes(solved.figures.keep_all.peak_ram)));
  if (const std::string reason = uncut(solved); !reason.empty()) out += answer_line("Not split", reason);
  std::string least_time = limits.deadline ? format_seconds(*limits.deadline) + " requested" : "no deadline";
  least_time +=
      fmt::format("; the step without limits takes {}", format_seconds(solved.figures.keep_all.runtime));
  if (explanation.least_deadline && limits.ram_budget >= solved.figures.floor.bytes()) {
    least_time +=
        fmt::format("; a schedule is known at {} with this RAM", format_seconds(*explanation.least_deadline));
  }
  out += answer_line("Time", least_time);
  if (!solved.result.outcome.solver.empty()) out += answer_line("Solver", solver_text(solved));
  bool first = true;
  for (const std::string& suggestion : suggestion_texts(solved)) {
    out += answer_line(first ? "Suggestion" : "", (first ? "" : "or ") + suggestion);
    first = false;
  }
  return out;
}

}  // namespace poet::cli
