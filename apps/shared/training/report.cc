#include "apps/shared/training/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "apps/shared/answer_line.h"
#include "apps/shared/interrupt.h"
#include "apps/shared/option_names.h"
#include "apps/shared/terminal.h"
#include "poet/base/amounts.h"
#include "poet/cost/tabulate.h"
#include "poet/graph/parts.h"
#include "poet/graph/precision.h"
#include "poet/report/expected.h"
#include "poet/report/table.h"
#include "poet/runtime/training/kind_times.h"
#include "poet/runtime/training/notes.h"

namespace poet::cli {
namespace {

constexpr std::size_t kShownKinds = 12;  // of operators; the rest is one line

std::string losses_text(const std::vector<float>& losses) {
  if (losses.empty()) return "no step was run";
  if (!std::isfinite(losses.front())) return runtime::not_finite_text(losses.front());
  if (!std::isfinite(losses.back()))
    return fmt::format("{:.4g}, then {}", losses.front(), runtime::not_finite_text(losses.back()));
  // The mean of a tenth of the steps at either end says more than two noisy steps.
  const std::size_t window = std::max<std::size_t>(1, losses.size() / 10);
  const auto mean = [window](auto begin) {
    double sum = 0;
    for (std::size_t i = 0; i < window; ++i) sum += *begin++;
    return sum / static_cast<double>(window);
  };
  if (losses.size() == 1) return fmt::format("{:.4g}", losses.front());
  return fmt::format("{:.4g} -> {:.4g} (mean of the first and the last {})", mean(losses.begin()),
                     mean(losses.end() - static_cast<std::ptrdiff_t>(window)),
                     counted(static_cast<std::int64_t>(window), "step"));
}

/// Eight heights, one character per column.
std::string curve_text(const std::vector<float>& losses) {
  constexpr std::array<const char*, 8> kBars = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  constexpr std::size_t kColumns = 60;
  const std::size_t columns = std::min(kColumns, losses.size());
  std::vector<double> means;
  for (std::size_t c = 0; c < columns; ++c) {
    const std::size_t begin = c * losses.size() / columns;
    const std::size_t end = (c + 1) * losses.size() / columns;
    double sum = 0;
    for (std::size_t i = begin; i < end; ++i) sum += losses[i];
    means.push_back(sum / static_cast<double>(end - begin));
  }
  const auto [least, most] = std::minmax_element(means.begin(), means.end());
  const double range = *most - *least;
  std::string text;
  for (const double mean : means) {
    const double height = range > 0 ? (mean - *least) / range : 0;
    text += kBars[std::min<std::size_t>(7, static_cast<std::size_t>(height * 8))];
  }
  return text;
}

bool all_finite(const Session& session) { return session.result.end != runtime::TrainEnd::not_finite; }

std::string trained_text(const Session& session) {
  const auto count = static_cast<std::int64_t>(session.result.losses.size());
  std::string text = fmt::format("{} in {}", counted(count, "step"),
                                 format_seconds(Seconds(session.result.wall_seconds), 3));
  const double samples = static_cast<double>(count * session.file.instance.batch_size);
  if (session.result.wall_seconds > 0)
    text += fmt::format(", {} samples/s", format_number(samples / session.result.wall_seconds, 3));
  if (session.result.first_step > 1)
    text += fmt::format(", from step {} on", format_count(session.result.first_step));
  return text;
}

std::string weights_text(const Session& session) {
  if (session.setup.goes_on) return "of the run that " + session.storage.string() + " held";
  if (session.result.first_step > 1) return "of the checkpoint";
  std::int64_t parameters = 0;
  for (const Value& value : session.file.instance.graph.values)
    if (value.persistence == Persistence::parameter && !value.alias_of.valid() &&
        begins_tensor(at_home(value)) && stands_for_home(value))
      ++parameters;
  if (session.setup.seeded == 0) return "of the file";
  std::string seeded = fmt::format("seeded with {}", session.state.seed);
  if (session.setup.seeded == parameters) return seeded;
  return fmt::format("of the file, but {} of {} parameters that it does not hold: {}", session.setup.seeded,
                     parameters, seeded);
}

std::string ram_text(const Session& session) {
  const runtime::MemoryMap& map = session.setup.map;
  std::string text = fmt::format("arena {} + parameters and optimiser state {} = {} of {} allowed",
                                 format_bytes(map.arena), format_bytes(map.persistent),
                                 format_bytes(session.setup.map.arena + session.setup.map.persistent),
                                 format_bytes(session.file.limits.ram_budget));
  text += fmt::format("; the process peaked at {}, {} of it the program itself",
                      format_bytes(session.result.stretches.back().process_peak),
                      format_bytes(outside_plan(session)));
  if (map.workspace > Bytes(0))
    text += fmt::format(", of which {} are scratch memory of kernels that the plan has no room for",
                        format_bytes(map.workspace));
  if (map.excluded > Bytes(0))
    text += fmt::format(", of which {} are what the budget leaves out (--persistent excluded)",
                        format_bytes(map.excluded));
  return text;
}

std::string time_text(const Session& session) {
  const runtime::Measured& measured = session.result.measured;
  std::string text = fmt::format("{} a step (median of {}, {} to {})", format_seconds(measured.step),
                                 format_count(measured.steps), format_seconds(measured.fastest, 3),
                                 format_seconds(measured.slowest, 3));
  if (!session.paging.storage.empty())
    text += fmt::format(", {} of it waiting for storage", format_seconds(measured.stalled, 3));
  text += fmt::format(
      "; planned {} on {}", format_seconds(session.setup.planned.runtime),
      session.file.instance.platform.empty() ? "the instance's device" : session.file.instance.platform);
  return text;
}

std::string paged_text(const Session& session) {
  const runtime::TransferTotals& moved = session.result.measured.transferred;
  std::string text =
      fmt::format("{} out and {} in per step; {} ({})", format_bytes(moved.written), format_bytes(moved.read),
                  session.paging.storage, format_bytes(session.paging.size));
  if (session.paging.record > Bytes(0))
    text += fmt::format("; after each step {} more, so that --resume can continue",
                        format_bytes(session.paging.record));
  if (session.paging.in_ram) text += "; that file system is in RAM, so paging saves no RAM: try --storage";
  return text;
}

std::string validation_text(const Session& session) {
  const std::vector<runtime::ValidationFigures>& found = session.result.validations;
  std::string text = session.setup.validation + ": ";
  if (found.empty()) return text + "the run ended before the first validation";
  const auto figures = [](const runtime::ValidationFigures& one) {
    std::string said = fmt::format("loss {:.4g}", one.loss);
    if (one.accuracy) said += fmt::format(", {:.4g}% right", 100 * *one.accuracy);
    return said;
  };
  text += fmt::format("{} after step {}", figures(found.back()), format_count(found.back().step));
  if (!found.back().cause.empty()) text += fmt::format(" ({})", found.back().cause);
  if (session.state.best_step >= 0 && session.state.best_step != found.back().step)
    text += fmt::format("; the lowest loss, {:.4g}, after step {}", session.state.best_loss,
                        format_count(session.state.best_step));
  return text + fmt::format("; in {} of the arena, {} each", format_bytes(session.setup.validation_arena),
                            format_seconds(found.back().took, 3));
}

std::string end_text(const Session& session) {
  switch (session.result.end) {
    case runtime::TrainEnd::done:
      return "";
    case runtime::TrainEnd::interrupted:
      return fmt::format("by {} after step {}", request_name(session.stopped_by),
                         format_count(session.state.step)) +
             (session.resumable ? "; --resume " + session.storage.string() + " goes on" : "");
    case runtime::TrainEnd::no_better:
      if (session.state.best_step < 0)
        return fmt::format("after step {}: the loss of no validation was a finite number",
                           format_count(session.state.step));
      return fmt::format("after step {}: no validation since step {} was better",
                         format_count(session.state.step), format_count(session.state.best_step));
    case runtime::TrainEnd::not_finite:
      return with_option_names(
          runtime::not_finite_note(session.file.instance.graph, session.state, session.result.cause));
  }
  return "";
}

/// Of several plans: which there are, and by which it trained from when on, why.
std::string plans_text(const Session& session) {
  const std::vector<runtime::PlannedFigures>& plans = session.setup.plans;
  const auto budget = [&](std::size_t plan) { return format_bytes(plans[plan].limits.ram_budget); };
  const std::vector<runtime::Stretch>& stretches = session.result.stretches;
  std::string text = fmt::format("{}; by that for {} from step {} on", counted(std::ssize(plans), "plan"),
                                 budget(stretches.front().plan), format_count(stretches.front().first_step));
  constexpr std::size_t kNamedChanges = 8;
  const std::vector<runtime::PlanChange>& changes = session.result.changes;
  for (std::size_t i = 0; i < std::min(changes.size(), kNamedChanges); ++i)
    text += fmt::format(", {} from step {} on ({})", budget(changes[i].to), format_count(changes[i].step),
                        changes[i].reason);
  if (changes.size() > kNamedChanges)
    text += fmt::format(" and {} more changes", changes.size() - kNamedChanges);
  return changes.empty() ? text : text + "; time, RAM and transfers below are since then";
}

/// Steps by one plan, next to its cap.
std::string stretches_text(const Session& session) {
  Table table({{"plan for", Align::right},
               {"from step", Align::right},
               {"steps", Align::right},
               {"arena and parameters", Align::right},
               {"written up to", Align::right},
               {"process at most", Align::right},
               {"a step", Align::right},
               {"written per step", Align::right}});
  for (const runtime::Stretch& stretch : session.result.stretches) {
    table.add({format_bytes(session.setup.plans[stretch.plan].limits.ram_budget),
               format_count(stretch.first_step), format_count(stretch.steps),
               format_bytes(stretch.map.arena + stretch.map.persistent),
               format_bytes(stretch.measured.high_water + stretch.map.persistent),
               format_bytes(stretch.process_peak), format_seconds(stretch.measured.step, 3),
               format_bytes(stretch.measured.transferred.written)});
  }
  return terminal_table(table);
}

/// Of a step; the sensor does not tell the plans of a run from one another.
std::string measured_energy(const Session& session) {
  const auto steps = static_cast<double>(session.result.losses.size());
  if (!session.result.energy || steps == 0) return "not measured";
  return format_joules((1 / steps) * *session.result.energy) +
         (session.result.stretches.size() > 1 ? " by all plans" : "");
}

std::string kinds_text(const Session& session) {
  const std::vector<runtime::KindTime> times = runtime::times_by_kind(session.file, session.result.measured);
  Table table({{"operator"},
               {"runs", Align::right},
               {"again", Align::right},
               {"planned", Align::right},
               {"measured", Align::right}});
  runtime::KindTime rest;
  std::size_t others = 0;
  const auto row = [&table](const std::string& name, const runtime::KindTime& time) {
    table.add({name, format_count(time.runs), format_count(time.again),
               format_seconds(Seconds(time.planned), 3), format_seconds(Seconds(time.measured), 3)});
  };
  for (std::size_t i = 0; i < times.size(); ++i) {
    if (i < kShownKinds) {
      row(times[i].kind, times[i]);
      continue;
    }
    ++others;
    rest.runs += times[i].runs;
    rest.again += times[i].again;
    rest.planned += times[i].planned;
    rest.measured += times[i].measured;
  }
  if (others > 0) row(fmt::format("{} other kinds", others), rest);
  return terminal_table(table);
}

}  // namespace

std::string session_text(const Session& session) {
  const Instance& instance = session.file.instance;
  std::string out;
  out +=
      answer_line("Network", fmt::format("{}, {}, {} parameters, batch {}",
                                         instance.model.empty() ? instance.graph.name : instance.model,
                                         counted(static_cast<std::int64_t>(instance.graph.ops.size()), "op"),
                                         format_count(parameter_count(instance.graph)), instance.batch_size));
  out += answer_line("Data", session.setup.data);
  for (const std::string& notice : session.notes) out += answer_line("Note", notice);
  out += answer_line("Weights", weights_text(session));
  out += '\n';
  out += answer_line("Trained", trained_text(session));
  out += answer_line("Loss", losses_text(session.result.losses));
  if (session.result.losses.size() > 1 && all_finite(session))
    out += answer_line("", curve_text(session.result.losses));
  if (!session.setup.validation.empty()) out += answer_line("Validation", validation_text(session));
  if (const std::string end = end_text(session); !end.empty()) out += answer_line("Stopped", end);
  if (!session.result.losses.empty()) {
    if (session.setup.plans.size() > 1) out += answer_line("Plans", plans_text(session));
    out += answer_line("Time", time_text(session));
    out += answer_line("RAM", ram_text(session));
    if (!session.paging.storage.empty()) out += answer_line("Paged", paged_text(session));
    if (session.setup.planned.recomputations > 0)
      out += answer_line("Recomputed", counted(session.setup.planned.recomputations, "op") + " per step");
    out += answer_line("Energy", session.result.energy ? fmt::format("{} in all, idle power included ({})",
                                                                     format_joules(*session.result.energy),
                                                                     session.result.energy_source)
                                                       : session.result.energy_source);
  }
  if (precision_of(instance.graph) == Precision::bfloat16_mixed)
    out += answer_line("Precision", "mixed: activations are stored as bfloat16, ops compute with float32");
  out += answer_line("Kernels", session.setup.kernels);
  return out;
}

std::string side_by_side_text(const Session& session) {
  const runtime::Measured& measured = session.result.measured;
  Table table({{""}, {"planned", Align::right}, {"measured", Align::right}});
  const auto row = [&table](const char* what, const std::string& planned, const std::string& found) {
    table.add({what, planned, found});
  };
  row("arena", format_bytes(session.setup.arena.arena), format_bytes(measured.high_water));
  row("parameters and optimiser state", format_bytes(session.file.instance.costs.persistent),
      format_bytes(session.setup.map.persistent));
  row("RAM of the process", format_bytes(session.file.limits.ram_budget),
      format_bytes(session.result.stretches.back().process_peak));
  row("time of a step", format_seconds(session.setup.planned.runtime), format_seconds(measured.step));
  if (session.expected)
    row("  expected, as times vary", format_seconds(session.expected->runtime.median), "");
  row("  95% of steps within", session.expected ? format_seconds(session.expected->runtime.high) : "",
      format_seconds(measured.p95_step));
  row("fetching its data", "", format_seconds(measured.fetching));
  row("waiting for storage", format_seconds(session.setup.planned.stalled), format_seconds(measured.stalled));
  if (session.expected)
    row("  expected, as times vary", format_seconds(session.expected->stalled.median), "");
  row("  95% of steps within", session.expected ? format_seconds(session.expected->stalled.high) : "",
      format_seconds(measured.p95_stalled));
  row("written per step", format_bytes(session.setup.planned.bytes_written),
      format_bytes(measured.transferred.written));
  row("writing", "", format_seconds(measured.transferred.writing));
  row("reading", "", format_seconds(measured.transferred.reading));
  row("energy of a step", format_joules(session.setup.planned.energy), measured_energy(session));
  std::string out;
  if (session.setup.plans.size() > 1) out = stretches_text(session) + "\n";
  if (session.result.stretches.size() > 1)
    out += fmt::format("From step {} on, by the plan for {}:\n",
                       format_count(session.result.stretches.back().first_step),
                       format_bytes(session.file.limits.ram_budget));
  return out + terminal_table(table) + "\n" + kinds_text(session);
}

}  // namespace poet::cli
