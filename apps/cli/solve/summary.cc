#include "apps/cli/solve/summary.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "apps/cli/solve/decisions.h"
#include "apps/cli/solve/way_out.h"
#include "apps/shared/option_names.h"
#include "poet/base/amounts.h"
#include "poet/cost/tabulate.h"
#include "poet/graph/dataflow.h"
#include "poet/graph/parts.h"
#include "poet/optimize/transfer_bound.h"
#include "poet/report/table.h"
#include "poet/split/indexed.h"

namespace poet::cli {
namespace {

constexpr int kIndent = 14;
constexpr int kWidth = 110;
constexpr std::size_t kNamed = 3;  // of the recomputed ops and the paged values; the rest is counted

void add(std::string& out, const std::string& label, const std::string& text) {
  out += fmt::format("{:<{}}{}\n", label, kIndent, wrapped(text, kWidth - kIndent, kIndent));
}

std::string times(int count) {
  return count == 1 ? "once" : count == 2 ? "twice" : fmt::format("{} times", count);
}

/// "a, b, c and 9 more".
std::string first_few(const std::vector<std::string>& names) {
  const std::size_t shown = std::min(names.size(), kNamed);
  std::string text =
      fmt::format("{}", fmt::join(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(shown), ", "));
  if (names.size() > shown) text += fmt::format(" and {} more", names.size() - shown);
  return text;
}

bool counts_persistent(const Solved& solved) { return solved.request.instance.costs.persistent > Bytes(0); }

std::string network(const Solved& solved) {
  const Instance& instance = solved.request.instance;
  std::string text =
      fmt::format("{} ({}), {}, {}", instance.model.empty() ? instance.graph.name : instance.model,
                  solved.workload.origin, counted(static_cast<std::int64_t>(instance.graph.ops.size()), "op"),
                  counted(std::ssize(dataflow(instance.graph).transients), "value"));
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

std::string rules(const Solved& solved) {
  switch (solved.request.semantics) {
    case Semantics::published:
      return "published: a page-in takes no time and no RAM until its stage ends; parameters are not counted";
    case Semantics::staged:
      return "staged: a transfer takes no time, and its bytes are in RAM during its whole stage";
    case Semantics::device:
      break;
  }
  std::string text = "device: transfers take time and RAM";
  if (solved.workload.part)
    text += fmt::format("; operators in parts of {}", format_bytes(*solved.workload.part));
  if (solved.workload.persistent_excluded) {
    text += "; parameters, their gradients and optimiser state live elsewhere (--persistent excluded)";
  } else if (counts_persistent(solved)) {
    text += fmt::format("; {} of parameters and optimiser state count",
                        format_bytes(solved.request.instance.costs.persistent));
  }
  if (const Bytes home = solved.workload.choose_paged ? bytes_at_home(solved) : Bytes(0); home > Bytes(0))
    text += fmt::format("; {} of {} live on storage", format_bytes(home),
                        counts_persistent(solved) ? "them" : "parameters and optimiser state");
  return text;
}

// After "at most" and "more than".
std::string without_less_than(const std::string& percent) {
  return percent.starts_with("<") ? percent.substr(1) : percent;
}

// "at most 1.2% of the overhead (0.03% of the energy)"
std::string saving(double gap, Joules missing, Joules energy) {
  const double of_energy = energy > Joules(0) ? std::max(0.0, missing / energy) : 0;
  return fmt::format("{} of the overhead ({} of the energy)", without_less_than(format_percent(gap, 2)),
                     without_less_than(format_percent(of_energy, 2)));
}

// Of staged schedules, where more is proven of them than of every plan.
std::string staged_status(const Certificate& certificate) {
  if (!certificate.bounds.staged) return "";
  if (certificate.staged_gap <= 0) return "; no staged schedule needs less energy";
  return fmt::format(
      "; a staged schedule could save at most {}",
      saving(certificate.staged_gap, certificate.energy - *certificate.bounds.staged, certificate.energy));
}

std::string status(const Solved& solved) {
  const Certificate& certificate = solved.result.certificate;
  const Joules missing = certificate.energy - certificate.bounds.every_plan;
  std::string text = to_string(certificate.status);
  if (certificate.status == Status::optimal) {
    return text + (certificate.gap <= 0
                       ? ": no plan needs less energy"
                       : ": no plan saves more than " + saving(certificate.gap, missing, certificate.energy));
  }
  return text + ", not proven best: a better plan could save at most " +
         saving(certificate.gap, missing, certificate.energy) + staged_status(certificate) + "; " +
         (solved.interrupted ? "stopped by Ctrl-C" : "a longer --time-limit may find it");
}

std::string solver(const Solved& solved) {
  const Outcome& outcome = solved.result.outcome;
  std::string text = fmt::format("{}, {}", outcome.solver, format_seconds(Seconds(outcome.solve_seconds), 2));
  if (outcome.nodes > 0) text += fmt::format(", {}", counted(outcome.nodes, "node"));
  return text;
}

// With --solver file: what the user is to do, or why there is nothing to do.
std::vector<std::string> next_step(const Solved& solved) {
  const SolveOptions& options = solved.request.options;
  const Outcome& outcome = solved.result.outcome;
  if (!outcome.next_step.empty()) return {with_option_names(outcome.next_step)};
  if (options.solver != Solver::file || options.file.mps.empty() || !options.file.solution.empty()) return {};
  if (solved.interrupted || !options.file.command.empty()) return {};
  return {"nothing was left to solve; no model was written"};
}

std::string energy(const Solved& solved) {
  const CompileResult& result = solved.result;
  const Report& report = result.report;
  std::string text = format_joules(report.energy, 6);
  if (result.overhead > 0) {
    text += fmt::format(", {} over the {} of the step without limits", format_percent(result.overhead),
                        format_joules(solved.figures.keep_all.energy, 6));
  } else {
    text += ", no more than the step without limits";
  }
  std::string parts = "compute " + format_joules(report.compute_energy);
  const auto part = [&parts](const std::string& name, Joules joules) {
    if (joules > Joules(0)) parts += fmt::format(", {} {}", name, format_joules(joules));
  };
  part("page in", report.page_in_energy);
  part("page out", report.page_out_energy);
  part("idle", report.idle_energy);
  return text + ": " + parts;
}

std::string time(const Solved& solved) {
  const Report& report = solved.result.report;
  const Seconds unlimited = solved.figures.keep_all.runtime;
  std::string text = format_seconds(report.runtime);
  if (const std::optional<Seconds> deadline = solved.request.limits.deadline) {
    text += fmt::format(" of {} allowed ({})", format_seconds(*deadline),
                        format_percent(report.runtime / *deadline));
  } else {
    text += ", no deadline";
  }
  if (report.runtime > unlimited) {
    text += fmt::format("; {} without limits", format_seconds(unlimited));
  }
  if (report.stalled > Seconds(0))
    text += fmt::format("; {} waiting for storage", format_seconds(report.stalled, 3));
  return text;
}

std::string ram(const Solved& solved) {
  const Bytes budget = solved.request.limits.ram_budget;
  const Report& report = solved.result.report;
  std::string text =
      fmt::format("peak {} of {} allowed", format_bytes(report.peak_ram), format_bytes(budget));
  if (budget > Bytes(0)) text += fmt::format(" ({})", format_percent(report.peak_ram / budget));
  const Graph& graph = solved.request.instance.graph;
  if (graph.ops.contains(report.peak_op)) text += fmt::format(", at {}", graph.ops[report.peak_op].name);
  return text + fmt::format("; keeping everything takes {}, no schedule less than {}",
                            format_bytes(solved.figures.keep_all.peak_ram),
                            format_bytes(solved.figures.floor.bytes()));
}

std::string addresses(const Solved& solved) {
  const CompileResult& result = solved.result;
  const Bytes least = result.layout.lower_bound;
  std::string text;
  if (result.arena.ram == result.report.peak_ram) {
    text = fmt::format("{} allocations in that peak, without a gap", result.layout.allocations.size());
  } else {
    text = fmt::format("an arena of {} for {} allocations", format_bytes(result.arena.arena),
                       result.layout.allocations.size());
    if (solved.request.instance.costs.persistent > Bytes(0))
      text += fmt::format(", {} with what is persistent", format_bytes(result.arena.ram));
  }
  if (result.arena.arena <= least) {
    text += "; none is smaller";
  } else {
    text += fmt::format("; none is smaller than {}", format_bytes(least));
  }
  if (result.solves > 1) {
    text += fmt::format("; {} of the budget went to gaps between addresses, found by solving {}",
                        format_bytes(result.reserve), times(result.solves));
  }
  return text;
}

/// Why anything had to be done, or why not.
std::string need(const Solved& solved) {
  const Bytes keep_all = solved.figures.keep_all.peak_ram;
  const Bytes budget = solved.request.limits.ram_budget;
  const Report& report = solved.result.report;
  const bool done = report.recomputations > 0 || report.page_ins > 0 || report.page_outs > 0;
  if (!done) return "nothing to do: every value can be kept until its last use";
  if (keep_all > budget) {
    return fmt::format("keeping everything needs {} more than the budget", format_bytes(keep_all - budget));
  }
  return "saves energy although everything could be kept";
}

std::string recomputed(const Solved& solved) {
  const Instance& instance = solved.request.instance;
  struct Repeated {
    OpId op;
    int count;
    Joules energy;
  };
  std::vector<int> counts(instance.graph.ops.size(), -1);  // computed once is not recomputed
  for (const Step& step : solved.result.plan.steps)
    if (step.kind == StepKind::compute) ++counts[static_cast<std::size_t>(step.op.index)];
  std::vector<Repeated> repeated;
  Joules total{};
  for (OpId op : ids<OpId>(instance.graph.ops.size())) {
    const int count = counts[static_cast<std::size_t>(op.index)];
    if (count <= 0) continue;
    repeated.push_back({op, count, count * instance.costs.ops[op].energy});
    total += repeated.back().energy;
  }
  std::stable_sort(repeated.begin(), repeated.end(),
                   [](const Repeated& a, const Repeated& b) { return a.energy > b.energy; });
  std::vector<std::string> names;
  names.reserve(repeated.size());
  for (const Repeated& item : repeated) {
    names.push_back(fmt::format("{} ({}{})", instance.graph.ops[item.op].name,
                                item.count > 1 ? times(item.count) + ", " : "",
                                format_joules(item.energy, 3)));
  }
  return fmt::format("{} for {}: {}", counted(std::ssize(repeated), "op"), format_joules(total),
                     first_few(names));
}

/// Of parameters and optimiser state on storage, or of what ops make; empty where nothing moves.
std::string paged(const Solved& solved, bool persistent) {
  const Instance& instance = solved.request.instance;
  std::vector<ValueId> moved;
  int ins = 0, outs = 0;
  Bytes written{};
  for (const Step& step : solved.result.plan.steps) {
    if (step.kind != StepKind::page_in && step.kind != StepKind::page_out) continue;
    if (is_persistent(instance.graph.values[step.value].persistence) != persistent) continue;
    moved.push_back(step.value);
    ++(step.kind == StepKind::page_in ? ins : outs);
    if (step.kind == StepKind::page_out) written += instance.costs.values[step.value].bytes;
  }
  if (moved.empty()) return {};
  std::sort(moved.begin(), moved.end());
  moved.erase(std::unique(moved.begin(), moved.end()), moved.end());
  const auto bytes = [&](ValueId v) { return instance.costs.values[v].bytes; };
  std::stable_sort(moved.begin(), moved.end(), [&](ValueId a, ValueId b) { return bytes(a) > bytes(b); });
  std::vector<std::string> names;
  names.reserve(moved.size());
  for (const ValueId v : moved)
    names.push_back(fmt::format("{} ({})", instance.graph.values[v].name, format_bytes(bytes(v))));
  return fmt::format("{} ({} out, {} in), {} written: {}", counted(std::ssize(moved), "value"), outs, ins,
                     format_bytes(written), first_few(names));
}

/// Of which a step transfers rows; empty where there are none.
std::string tables(const Solved& solved) {
  std::vector<std::string> texts;
  for (const IndexedTable& table : indexed_tables(solved.request.instance.graph))
    texts.push_back(fmt::format("{} ({}), of {} rows the {} that {} names", table.name,
                                format_bytes(table.bytes), format_count(table.rows),
                                format_count(table.named), table.indices));
  return texts.empty() ? std::string() : fmt::format("transferred by index: {}", fmt::join(texts, "; "));
}

/// All transfers of a step, and what no plan can do without; empty without any.
std::string storage_traffic(const Solved& solved) {
  const Report& report = solved.result.report;
  if (report.page_ins + report.page_outs == 0) return {};
  std::string out = fmt::format("{} read, {} written per step", format_bytes(report.bytes_read),
                                format_bytes(report.bytes_written));
  if (!solved.workload.choose_paged) return out;
  const TransferBound least = least_transfers(solved.request.instance, solved.request.limits.ram_budget);
  if (least.both > Bytes(0))
    out += fmt::format("; parameters and optimiser state alone have to move {} in this RAM",
                       format_bytes(least.both));
  return out;
}

/// What the import and the board itself say; empty when nothing.
std::vector<std::string> notes(const Solved& solved) {
  std::vector<std::string> out = solved.workload.notices;
  if (solved.result.synchronous)
    out.emplace_back(solved.result.paged.empty()
                         ? "this plan pages synchronously; --schedule-out would ask for a staged schedule"
                         : "this plan pages parameters; staged schedules (--schedule-out) cannot");
  const Graph& graph = solved.request.instance.graph;
  if (solved.workload.choose_paged && indexed_tables(graph).empty() && !indexable_tables(graph).empty())
    out.emplace_back(
        "tables of embeddings are whole in this step; with less RAM their rows are transferred by index, and "
        "a step may then take less energy than any of this one");
  if (!solved.workload.device) return out;
  const DeviceProfile& profile = *solved.workload.device;
  const Bytes budget = solved.request.limits.ram_budget;
  if (budget > profile.ram) {
    out.push_back(fmt::format("the budget of {} is more than the {} of RAM that {} has", format_bytes(budget),
                              format_ram(profile.ram), profile.name));
  }
  if (!has_answer(solved) || !profile.storage) return out;
  const Bytes written = solved.result.report.bytes_written;
  if (profile.storage->write_endurance && written > Bytes(0)) {
    out.push_back(fmt::format("the storage's endurance, {} written, is good for {} steps",
                              format_bytes(*profile.storage->write_endurance),
                              format_short(std::floor(*profile.storage->write_endurance / written))));
  }
  return out;
}

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

std::string no_answer_text(const Solved& solved) {
  const Explanation& explanation = solved.result.outcome.explanation;
  const Graph& graph = solved.request.instance.graph;
  const Limits& limits = solved.request.limits;
  std::string out;
  if (solved.result.certificate.status == Status::unknown) {
    add(out, "Status",
        fmt::format("unknown: {} after {} without a plan; that does not mean there is none",
                    solved.interrupted        ? "stopped by Ctrl-C"
                    : ran_out_of_time(solved) ? "time ran out"
                                              : "the search gave up",
                    format_seconds(Seconds(solved.result.outcome.solve_seconds), 2)));
  } else {
    add(out, "Status", "infeasible: " + why_not(solved));
  }
  std::string least = fmt::format("{} asked for; no schedule below {}", format_bytes(limits.ram_budget),
                                  format_bytes(solved.figures.floor.bytes()));
  if (graph.ops.contains(solved.figures.floor.op)) {
    least +=
        fmt::format(", what {} needs ({}what it reads and writes{})", graph.ops[solved.figures.floor.op].name,
                    counts_persistent(solved) ? "parameters, " : "",
                    solved.figures.floor.largest.workspace > Bytes(0) ? ", its workspace" : "");
  }
  if (explanation.proven_ram)
    least += fmt::format("; none below {} within these limits", format_bytes(*explanation.proven_ram));
  if (explanation.least_ram) {
    least += fmt::format("; one is known at {}{}", format_bytes(*explanation.least_ram),
                         limits.deadline ? " with this deadline" : "");
  }
  add(out, "RAM",
      least + fmt::format("; keeping everything takes {}", format_bytes(solved.figures.keep_all.peak_ram)));
  if (const std::string reason = uncut(solved); !reason.empty()) add(out, "Not split", reason);
  std::string least_time = limits.deadline ? format_seconds(*limits.deadline) + " asked for" : "no deadline";
  least_time +=
      fmt::format("; the step without limits takes {}", format_seconds(solved.figures.keep_all.runtime));
  if (explanation.least_deadline && limits.ram_budget >= solved.figures.floor.bytes()) {
    least_time +=
        fmt::format("; a schedule is known at {} with this RAM", format_seconds(*explanation.least_deadline));
  }
  add(out, "Time", least_time);
  if (!solved.result.outcome.solver.empty()) add(out, "Solver", solver(solved));
  bool first = true;
  for (const std::string& way : ways_out(solved)) {
    add(out, first ? "Way out" : "", (first ? "" : "or ") + way);
    first = false;
  }
  return out;
}

}  // namespace

std::string subject_text(const Solved& solved) {
  std::string out;
  add(out, "Network", network(solved));
  add(out, "Device", device(solved));
  add(out, "Rules", rules(solved));
  return out;
}

std::string summary_text(const Solved& solved) {
  std::string out = subject_text(solved) + "\n";
  if (!has_answer(solved)) {
    out += no_answer_text(solved);
  } else {
    const Report& report = solved.result.report;
    add(out, "Status", status(solved));
    add(out, "Energy", energy(solved));
    add(out, "Time", time(solved));
    add(out, "RAM", ram(solved));
    add(out, "Addresses", addresses(solved));
    add(out, "Why", need(solved));
    if (report.recomputations > 0) add(out, "Recomputed", recomputed(solved));
    if (const std::string text = paged(solved, false); !text.empty()) add(out, "Paged", text);
    if (const std::string text = paged(solved, true); !text.empty()) add(out, "Parameters", text);
    if (const std::string text = tables(solved); !text.empty()) add(out, "Tables", text);
    if (const std::string text = storage_traffic(solved); !text.empty()) add(out, "Storage", text);
    add(out, "Solver", solver(solved));
  }
  for (const std::string& line : next_step(solved)) add(out, "Next", line);
  for (const std::string& note : notes(solved)) add(out, "Note", note);
  return out;
}

}  // namespace poet::cli
