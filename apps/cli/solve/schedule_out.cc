#include "apps/cli/solve/schedule_out.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "apps/shared/called_as.h"
#include "poet/base/amounts.h"
#include "poet/base/nearest.h"
#include "poet/plan/file/schedule_json.h"

namespace poet::cli {
namespace {

/// What of the answer no staged schedule can do; empty: it is one.
std::string beyond_stages(const CompileResult& result) {
  if (!result.paged.empty()) return "paging of parameters";
  if (result.synchronous) return "paging between ops";
  return "";
}

/// In what is left of the time limit, and in a moment at least.
Solved solve_in_stages(ProblemOptions options, double seconds_used) {
  constexpr double kMoment = 1;
  const double limit = read_solver_options(options.solver).time_limit_seconds;
  options.solver.time_limit = fmt::format("{}s", std::max(std::min(kMoment, limit), limit - seconds_used));
  options.resident_for = "--schedule-out";
  for (std::optional<std::string>* typed : {&options.input.persistent, &options.input.split})
    if (*typed && same_name(**typed, "auto")) typed->reset();
  Solving how;
  how.synchronous = false;
  return solve_problem(options, how);
}

void write(const Solved& solved, const std::string& leaves_out, const std::string& file) {
  const CompileRequest& request = solved.request;
  write_schedule(
      {request.instance, request.semantics, request.limits, solved.result.outcome.schedule, leaves_out},
      file);
}

}  // namespace

ScheduleOut write_schedule_of(const Solved& solved, const ProblemOptions& options, const std::string& file) {
  ScheduleOut out{file, std::nullopt, {}};
  const std::string beyond = beyond_stages(solved.result);
  if (beyond.empty()) {
    out.energy = solved.result.report.energy;
    write(solved, "", file);
    return out;
  }
  out.leaves_out =
      fmt::format("{}, by which the answer takes {}", beyond, format_joules(solved.result.report.energy));
  if (solved.interrupted) return out;
  ProblemOptions same = options;
  same.ram = SettledRam{solved.request.limits.ram_budget};
  const Solved staged = solve_in_stages(std::move(same), solved.result.outcome.solve_seconds);
  if (!has_plan(staged)) return out;
  out.energy = staged.result.report.energy;
  write(staged, out.leaves_out, file);
  return out;
}

std::string to_text(const ScheduleOut& out) {
  if (!out.energy)
    return fmt::format("{:<14}not written: no schedule was found in stages, which leave out {}\n", "Schedule",
                       out.leaves_out);
  const std::string check = fmt::format("check it with: {} verify {}", called_as(), shell_word(out.file));
  if (out.leaves_out.empty()) return fmt::format("{:<14}{}; {}\n", "Schedule", out.file, check);
  return fmt::format("{:<14}{}, another plan, in stages, of {}: it leaves out {}\n{:<14}{}\n", "Schedule",
                     out.file, format_joules(*out.energy), out.leaves_out, "", check);
}

nlohmann::ordered_json to_json(const ScheduleOut& out) {
  nlohmann::ordered_json json = nlohmann::ordered_json::object();
  json["file"] = out.file;
  json["energy_joules"] = nullptr;
  if (out.energy) json["energy_joules"] = out.energy->value();
  json["leaves_out"] = nullptr;
  if (!out.leaves_out.empty()) json["leaves_out"] = out.leaves_out;
  return json;
}

}  // namespace poet::cli
