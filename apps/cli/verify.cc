// poet verify: replays a schedule file by every rule, as stages and as the linear plan that follows from it.

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>

#include "apps/cli/command.h"
#include "apps/cli/output.h"
#include "poet/base/amounts.h"
#include "poet/plan/plan.h"
#include "poet/plan/schedule_json.h"
#include "poet/referee/replay.h"

namespace poet::cli {
namespace {

using Json = nlohmann::ordered_json;

struct Verdict {
  Report stages;
  std::optional<Report> plan;  // absent when the stages are broken already: no plan follows from them

  [[nodiscard]] bool valid() const { return stages.valid && plan && plan->valid; }
  [[nodiscard]] const Report& report() const { return plan ? *plan : stages; }
};

Verdict judge(const ScheduleFile& file) {
  Verdict verdict;
  verdict.stages = replay(file.instance, file.schedule, file.semantics, file.limits);
  if (verdict.stages.valid) {
    const Plan plan = linearise(file.instance, file.schedule, file.semantics);
    verdict.plan = replay(file.instance, plan, file.semantics, file.limits);
  }
  return verdict;
}

Json verdict_json(const ScheduleFile& file, const Verdict& verdict) {
  const Report& report = verdict.report();
  // Figures of a broken schedule go only as far as the replay came; they would be read as the schedule's.
  const auto figure = [&](const auto& value) { return verdict.valid() ? Json(value) : Json(nullptr); };
  Json json;
  json["format"] = 1;
  json["valid"] = verdict.valid();
  json["broken"] = verdict.valid() ? Json(nullptr) : Json(report.broken);
  json["broken_in"] = verdict.valid() ? Json(nullptr) : Json(verdict.plan ? "plan" : "schedule");
  json["energy_joules"] = figure(report.energy.value());
  json["compute_joules"] = figure(report.compute_energy.value());
  json["page_in_joules"] = figure(report.page_in_energy.value());
  json["page_out_joules"] = figure(report.page_out_energy.value());
  json["idle_joules"] = figure(report.idle_energy.value());
  json["runtime_seconds"] = figure(report.runtime.value());
  json["deadline_seconds"] = file.limits.deadline ? Json(file.limits.deadline->value()) : Json(nullptr);
  json["peak_ram_bytes"] = figure(report.peak_ram.value());
  json["ram_budget_bytes"] = file.limits.ram_budget.value();
  json["recomputations"] = figure(report.recomputations);
  json["page_ins"] = figure(report.page_ins);
  json["page_outs"] = figure(report.page_outs);
  json["bytes_written"] = figure(report.bytes_written.value());
  json["semantics"] = to_string(file.semantics);
  return json;
}

std::string verdict_text(const std::string& name, const ScheduleFile& file, const Verdict& verdict) {
  const Report& report = verdict.report();
  if (!verdict.valid()) {
    return fmt::format("{}: broken{}: {}\n", name,
                       verdict.plan ? ", in the plan that follows from the stages" : "", report.broken);
  }
  std::string out = fmt::format("{}: valid, every rule holds in {} stages ({} semantics)\n", name,
                                file.schedule.stages.size(), to_string(file.semantics));
  out += fmt::format("  energy  {}\n", format_joules(report.energy, 6));
  out +=
      fmt::format("  time    {}{}\n", format_seconds(report.runtime),
                  file.limits.deadline ? fmt::format(" of {} allowed", format_seconds(*file.limits.deadline))
                                       : ", no deadline");
  out += fmt::format("  RAM     peak {} of {} allowed\n", format_bytes(report.peak_ram),
                     format_bytes(file.limits.ram_budget));
  out += fmt::format("  done    {} recomputations, {} page-ins, {} page-outs, {} written\n",
                     report.recomputations, report.page_ins, report.page_outs,
                     format_bytes(report.bytes_written));
  return out;
}

class Verify final : public Command {
 public:
  explicit Verify(CLI::App& parent) {
    app_ = parent.add_subcommand("verify", "replay a schedule file by every rule");
    app_->add_option("FILE", file_, "a schedule, as poet solve --schedule-out writes it")
        ->required()
        ->type_name("");
    app_->add_flag("--json", json_, "one JSON object instead of text");
    app_->footer(
        "Exit code: 0 valid, 1 broken (names the rule and the step), 2 unreadable, 3 internal error.");
  }

  int run() override {
    const ScheduleFile file = read_schedule(file_);
    const Verdict verdict = judge(file);
    print_answer(json_ ? verdict_json(file, verdict).dump(2) + "\n" : verdict_text(file_, file, verdict));
    return verdict.valid() ? kAnswer : kNoAnswer;
  }

 private:
  std::string file_;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_verify(CLI::App& parent) { return std::make_unique<Verify>(parent); }

}  // namespace poet::cli
