#include "apps/cli/solve/summary.h"

#include <fmt/format.h>

#include <string>
#include <vector>

#include "apps/cli/solve/figures_text.h"
#include "apps/cli/solve/moves_text.h"
#include "apps/cli/solve/no_answer.h"
#include "apps/cli/solve/notes.h"
#include "apps/cli/solve/proof_text.h"
#include "apps/shared/answer_line.h"
#include "apps/shared/option_names.h"
#include "poet/base/amounts.h"
#include "poet/cost/tabulate.h"
#include "poet/graph/parts.h"
#include "poet/report/size_text.h"
#include "poet/report/table.h"

namespace poet::cli {
namespace {

std::string network(const Solved& solved) {
  const Instance& instance = solved.request.instance;
  std::string text = fmt::format("{} ({}), {}", instance.model.empty() ? instance.graph.name : instance.model,
                                 solved.workload.origin, size_text(instance.graph));
  const std::int64_t parameters = parameter_count(instance.graph);
  if (parameters > 0) text += fmt::format(", {} parameters", format_count(parameters));
  return text + fmt::format(", batch {}", instance.batch_size);
}

std::string device(const Solved& solved) {
  const Instance& instance = solved.request.instance;
  if (solved.workload.device)
    return solved.workload.device->name + ": " + solved.workload.device->description;
  return instance.platform.empty() ? "costs from the file" : instance.platform + ", costs as in the instance";
}

/// Persistent values that the plan pages.
Bytes bytes_at_home(const Solved& solved) {
  Bytes sum;
  const auto& values = solved.request.instance.graph.values;
  for (const ValueId v : solved.result.paged)
    if (stands_for_home(values[v])) sum += at_home(values[v]).bytes;
  return sum;
}

/// Where parameters and optimiser state are by this plan.
std::string persistent_rule(const Solved& solved) {
  const Bytes home = solved.workload.choose_paged ? bytes_at_home(solved) : Bytes(0);
  const std::string resident = format_bytes(solved.request.instance.costs.persistent);
  if (counts_persistent(solved) && home > Bytes(0))
    return fmt::format("; of parameters and optimiser state {} stay in RAM and {} live on storage", resident,
                       format_bytes(home));
  if (counts_persistent(solved))
    return fmt::format("; {} of {} count", resident, solved.request.instance.costs.persistent_of);
  if (home > Bytes(0))
    return fmt::format("; {} of parameters and optimiser state live on storage", format_bytes(home));
  return "";
}

std::string rules(const Solved& solved, const std::string& persistent) {
  switch (solved.request.semantics) {
    case Semantics::published:
      return "published: a page-in takes no time and no RAM until its stage ends; parameters are not counted";
    case Semantics::staged:
      return "staged: a transfer takes no time, and its bytes are in RAM during its whole stage";
    case Semantics::device:
      break;
  }
  std::string text = "device: transfers take time and RAM";
  if (solved.workload.cut.part)
    text += fmt::format("; operators in parts of {}", format_bytes(*solved.workload.cut.part));
  if (solved.workload.persistent_excluded)
    return text +
           "; parameters, their gradients and optimiser state are outside the plan (--persistent excluded)";
  return text + persistent;
}

std::string subject(const Solved& solved, const std::string& persistent) {
  return answer_line("Network", network(solved)) + answer_line("Device", device(solved)) +
         answer_line("Rules", rules(solved, persistent));
}

}  // namespace

std::string subject_text(const Solved& solved) { return subject(solved, persistent_rule(solved)); }

std::string subject_of_several_text(const Solved& one) {
  return subject(one, one.workload.choose_paged
                          ? "; parameters and optimiser state count unless they live on storage"
                          : persistent_rule(one));
}

std::string summary_text(const Solved& solved) {
  std::string out = subject_text(solved) + "\n";
  if (has_plan(solved))
    out += status_line(proof_text(solved)) + figures_text(solved) + moves_text(solved) +
           answer_line("Solver", solver_text(solved));
  else
    out += no_answer_text(solved);
  if (const std::string& external = solved.result.outcome.external_solver; !external.empty())
    out += answer_line("Command", with_option_names(external));
  if (const std::string& next = solved.result.outcome.next_step; !next.empty())
    out += answer_line("Next", with_option_names(next));
  for (const std::string& note : notes(solved)) out += answer_line("Note", note);
  return out;
}

}  // namespace poet::cli
