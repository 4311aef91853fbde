// poet verify: replays a schedule file by every rule, as stages and as the plan that follows from it, or a
// plan file, as steps and on its addresses.

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "apps/cli/command.h"
#include "apps/shared/amounts.h"
#include "apps/shared/output.h"
#include "poet/base/amounts.h"
#include "poet/graph/precision.h"
#include "poet/report/loaded_plan.h"
#include "poet/report/verdict.h"

namespace poet::cli {
namespace {

using Json = nlohmann::ordered_json;

std::string addresses_text(const LoadedPlan& loaded) {
  const ArenaReport& arena = loaded.picture.arena;
  const std::string allocations = counted(std::ssize(loaded.picture.plan.layout.allocations), "allocation");
  std::string text = arena.ram == loaded.picture.report.peak_ram
                         ? fmt::format("{} in that peak, without a gap", allocations)
                         : fmt::format("an arena of {} for {}", format_bytes(arena.arena), allocations);
  if (loaded.stages > 0) text += ", as poet places them";
  const PlanFile& file = loaded.picture.plan;
  if (file.semantics == Semantics::device && arena.ram > file.limits.ram_budget)
    text += fmt::format("; that is {} with what is persistent, over the budget", format_bytes(arena.ram));
  return text;
}

std::string verdict_text(const std::string& name, const LoadedPlan& loaded) {
  const Report& report = loaded.picture.report;
  const PlanFile& file = loaded.picture.plan;
  if (!is_valid(loaded)) {
    const bool follows = loaded.stages > 0 && loaded.stage_report->valid;
    return fmt::format("{}: invalid{}: {}\n", name,
                       follows ? ", in the plan that follows from the stages" : "", violated_rule(loaded));
  }
  std::string out = fmt::format("{}: valid, every rule holds in {} ({} semantics)\n", name,
                                loaded.stages > 0 ? fmt::format("{} stages", loaded.stages)
                                                  : counted(std::ssize(file.plan.steps), "step"),
                                to_string(file.semantics));
  out += fmt::format("  energy  {}\n", format_joules(report.energy, 6));
  out +=
      fmt::format("  time    {}{}\n", format_seconds(report.runtime),
                  file.limits.deadline ? fmt::format(" of {} allowed", format_seconds(*file.limits.deadline))
                                       : ", no deadline");
  out += fmt::format("  RAM     peak {} of {} allowed\n", format_bytes(report.peak_ram),
                     format_bytes(file.limits.ram_budget));
  out += fmt::format("  arena   {}\n", addresses_text(loaded));
  if (precision_of(file.instance.graph) == Precision::bfloat16_mixed)
    out += "  values  activations are stored as bfloat16 (mixed precision)\n";
  out += fmt::format("  done    {}, {}, {}, {} read, {} written\n",
                     counted(report.recomputations, "recomputation"), counted(report.page_ins, "page-in"),
                     counted(report.page_outs, "page-out"), format_bytes(report.bytes_read),
                     format_bytes(report.bytes_written));
  return out;
}

class Verify final : public Command {
 public:
  explicit Verify(CommandLine& program)
      : Command(program.command("verify", "replay a schedule or plan file and check every rule")) {
    parser_.option("FILE", file_, "schedule or plan file (poet solve --schedule-out, --plan-out)", "")
        .required();
    parser_.option("--ram-budget", ram_,
                   "of a file with several plans, use the largest within this budget (default: all plans)",
                   "BYTES");
    parser_.flag("--json", json_, "print one JSON object instead of text");
    parser_.footer(
        "Exit code: 0 valid, 1 invalid (names the rule and the step), 2 unreadable, 3 internal error.");
  }

  int run() override {
    const std::optional<Bytes> ram = ram_ ? std::optional(parse_bytes("--ram-budget", *ram_)) : std::nullopt;
    const std::vector<LoadedPlan> loaded = load_plans(file_, {}, ram);
    set_byte_units(loaded.front().units);
    if (json_ && loaded.size() == 1) {
      print_answer(verdict_json(loaded.front()));
    } else if (json_) {
      Json json = Json::object();
      json["format"] = 1;
      json["plans"] = Json::array();
      for (const LoadedPlan& plan : loaded) json["plans"].push_back(verdict_json(plan));
      print_answer(json);
    } else {
      std::string text;
      for (const LoadedPlan& plan : loaded) text += verdict_text(plan.name, plan);
      print_text(text);
    }
    return std::all_of(loaded.begin(), loaded.end(), is_valid) ? kAnswer : kNoAnswer;
  }

 private:
  std::string file_;
  std::optional<std::string> ram_;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_verify(CommandLine& program) { return std::make_unique<Verify>(program); }

}  // namespace poet::cli
