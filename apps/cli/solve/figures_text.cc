#include "apps/cli/solve/figures_text.h"

#include <fmt/format.h>

#include <optional>

#include "apps/shared/answer_line.h"
#include "poet/base/amounts.h"
#include "poet/report/expected.h"
#include "poet/report/table.h"

namespace poet::cli {
namespace {

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
  return text + fmt::format("; keeping everything takes {}, no schedule{} less than {}",
                            format_bytes(solved.figures.keep_all.peak_ram), in_parts(solved.workload),
                            format_bytes(solved.figures.floor.bytes()));
}

std::string addresses(const Solved& solved) {
  const CompileResult& result = solved.result;
  const Bytes least = result.layout.lower_bound;
  const std::string allocations = counted(std::ssize(result.layout.allocations), "allocation");
  std::string text;
  if (result.arena.ram == result.report.peak_ram) {
    text = fmt::format("{} in that peak, without a gap", allocations);
  } else {
    text = fmt::format("an arena of {} for {}", format_bytes(result.arena.arena), allocations);
    if (solved.request.instance.costs.persistent > Bytes(0))
      text += fmt::format(", {} with what is persistent", format_bytes(result.arena.ram));
  }
  if (result.arena.arena <= least) {
    text += "; none is smaller";
  } else {
    text += fmt::format("; none is smaller than {}", format_bytes(least));
  }
  if (result.reserve > Bytes(0)) {
    text += fmt::format("; {} of the budget went to gaps between addresses, found by solving {}",
                        format_bytes(result.reserve), counted(result.solves, "time"));
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

}  // namespace

std::string figures_text(const Solved& solved) {
  std::string text = answer_line("Energy", energy(solved)) + answer_line("Time", time(solved));
  if (const std::optional<SimulatedSteps>& expected = solved.result.expected)
    text += answer_line("Expected", expected_text(*expected, solved.request.limits.deadline));
  return text + answer_line("RAM", ram(solved)) + answer_line("Addresses", addresses(solved)) +
         answer_line("Why", need(solved));
}

}  // namespace poet::cli
