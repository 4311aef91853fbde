// poet compare: one network, one device, one budget, every method.

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apps/cli/command.h"
#include "apps/cli/compare/compare_page.h"
#include "apps/cli/compare/comparison.h"
#include "apps/cli/solve/options.h"
#include "apps/cli/solve/progress.h"
#include "apps/cli/solve/ram_budget.h"
#include "apps/cli/solve/solving.h"
#include "apps/shared/activity.h"
#include "apps/shared/called_as.h"
#include "apps/shared/command_text.h"
#include "apps/shared/interrupt.h"
#include "apps/shared/output.h"
#include "poet/base/error.h"
#include "poet/base/nearest.h"
#include "poet/base/text.h"
#include "poet/base/write_file.h"
#include "poet/cost/json_reader.h"

namespace poet::cli {
namespace {

constexpr double kSecondsPerMethod = 30;

std::vector<const Method*> chosen_methods(const std::optional<std::string>& names) {
  std::vector<const Method*> chosen;
  if (!names || same_name(*names, "all")) {
    for (const Method& method : methods()) chosen.push_back(&method);
    return chosen;
  }
  for (const std::string& name : pieces_of(*names, ',')) {
    if (name.empty()) throw InputError("--methods", "has an empty item");
    try {
      const Method* method = &find_method(name);
      if (std::find(chosen.begin(), chosen.end(), method) != chosen.end())
        throw InputError(fmt::format("names {} twice", name));
      chosen.push_back(method);
    } catch (const InputError& error) {
      throw InputError("--methods", error.what());
    }
  }
  if (chosen.empty()) throw InputError("--methods", "names none");
  return chosen;
}

/// A mistake in one method does not take the others' answers with it.
Judged judged(const Method& method, const MethodRequest& request, const Report& keep_all) {
  try {
    return run_method(method, request, keep_all);
  } catch (const InternalError& error) {
    Judged none;
    none.reason = fmt::format("internal error: {}", error.what());
    return none;
  }
}

class Compare final : public Command {
 public:
  explicit Compare(CommandLine& program)
      : Command(program.command("compare", "compare published methods on one network, device and budget")) {
    add_input_options(parser_, options_.input);
    add_limit_options(parser_, options_.limits);
    add_effort_options(parser_, options_.solver, "time limit of each method (default 30s)");
    parser_.option("--methods", methods_, "run only these methods, in this order (default: all)", "NAME,...");
    parser_.flag("--list", list_, "list the methods with their sources and exit");
    const Parser output = parser_.group("Output");
    output.option("-o,--output", page_, "also write a page: a chart, the table, and every method's plan",
                  "FILE.html");
    output.option("--csv", csv_, "also write the table as CSV", "FILE");
    output.flag("--json", json_, "print one JSON object instead of text");
    parser_.footer(
        "Every plan is replayed by the verifier under the same rules. Methods that take no budget or no "
        "deadline\nare judged by what their plans need.\nExample:\n  poet compare --model resnet14_cifar "
        "--batch-size 8 --platform a72 --ram-budget 6MB -o methods.html\n\nExit code: 0 a method's plan "
        "meets the limits, "
        "1 none does, 2 bad input, 3 internal error.");
  }

  int run() override {
    if (list_) {
      print_answer(json_ ? json_text(methods_json(), 1) + "\n" : methods_text());
      return kAnswer;
    }
    const std::vector<const Method*> chosen = chosen_methods(methods_);
    if (csv_) check_writable("--csv", *csv_);
    if (page_) check_page("-o", *page_);
    if (csv_ && csv_ == page_) throw InputError("--csv", "must name another file than -o");
    if (!options_.solver.time_limit) options_.solver.time_limit = fmt::format("{}s", kSecondsPerMethod);
    Comparison comparison;
    options_.resident_for = "poet compare";  // as every other method has it
    comparison.posed = pose_problem(settled(options_));
    cut_to_fit(comparison.posed);
    judge(chosen, comparison);
    if (!comparison.interrupted) look_further(comparison);
    if (csv_) write_file(*csv_, comparison_csv(comparison));
    if (page_) write_file(*page_, comparison_page(comparison));
    if (json_) {
      print_answer(comparison_json(comparison));
    } else {
      std::string text = comparison_text(comparison);
      if (page_) text += fmt::format("{:<14}{}\n", "Page", *page_);
      if (csv_) text += fmt::format("{:<14}{}\n", "Table", *csv_);
      print_text(text);
    }
    return any_holds(comparison) ? kAnswer : kNoAnswer;
  }

 private:
  /// Looks for a plan of poet solve, which may page parameters and split ops, that beats all methods.
  void look_further(Comparison& comparison) const {
    constexpr double kSeconds = 5;
    constexpr double kLess = 1 - 1e-9;  // but for rounding
    const std::optional<Joules> least = least_energy(comparison);
    // What was asked for is compared with nothing else.
    const bool chosen = least ? options_.input.persistent || options_.input.split
                              : options_.input.persistent && options_.input.split;
    if (comparison.posed.request.semantics != Semantics::device || options_.input.instance || chosen) return;
    if (least && std::holds_alternative<LeastRam>(ram_budgets(options_.limits).front())) return;
    // No plan needs less than the step without limits, in parts or not.
    if (least && kLess * *least <= comparison.posed.figures.keep_all.energy) return;
    ProblemOptions options = options_;
    options.resident_for.clear();
    options.solver.quiet = true;
    const double limit = std::min(kSeconds, read_solver_options(options_.solver).time_limit_seconds);
    options.solver.time_limit = fmt::format("{}s", limit);
    Solving how;
    how.look_further = false;
    std::optional<Activity> activity;
    if (!options_.solver.quiet) activity.emplace("looking for a plan with operators in parts");
    std::optional<Solved> solved;
    try {
      solved = solve_problem(options, how);
    } catch (const InternalError&) {
      return;  // what the methods have answered is not lost
    }
    activity.reset();
    if (!has_plan(*solved)) return;
    // A deadline that is a factor is a later one of a graph in parts, whose step without limits takes longer.
    const std::optional<Seconds>& deadline = comparison.posed.request.limits.deadline;
    const Report& report = solved->result.report;
    if (!least) {
      comparison.suggestion = solve_command();
      comparison.persistent_typed = options_.input.persistent.has_value();
      comparison.split_typed = options_.input.split.has_value();
    } else if (report.energy < kLess * *least && !(deadline && report.runtime > latest_end(*deadline))) {
      comparison.in_parts = {report, solve_command()};
    }
  }

  /// The command of poet solve with these options; empty where no command line is known.
  [[nodiscard]] static std::string solve_command() {
    const std::string typed =
        command_text({"--methods=", "--csv=", "-o=", "--output=", "--color=", "--quiet", "--list", "--json"});
    const std::size_t arguments = typed.find(" compare ");
    if (arguments == std::string::npos) return {};
    return called_as() + " solve" + typed.substr(arguments + std::string_view(" compare").size());
  }

  void judge(const std::vector<const Method*>& chosen, Comparison& comparison) {
    const CompileRequest& posed = comparison.posed.request;
    const Report& keep_all = comparison.posed.figures.keep_all;
    const InterruptGuard guard;
    std::optional<ProgressDisplay> display;
    if (!options_.solver.quiet) display.emplace(stderr, keep_all.energy);
    MethodRequest request{posed.instance, posed.limits, posed.semantics, posed.options, posed.choose_paged};
    request.options.interrupted = [&guard] { return guard.interrupted(); };
    for (const Method* method : chosen) {
      if (guard.interrupted()) break;
      if (display) {
        Progress begins;
        begins.phase = method->title;
        display->show(begins);
        request.options.on_progress = [&](const Progress& progress) {
          Progress shown = progress;
          shown.phase = fmt::format("{}, {}", method->title, progress.phase);
          display->show(shown);
        };
      }
      comparison.rows.push_back({method, judged(*method, request, keep_all)});
    }
    comparison.interrupted = guard.interrupted();
  }

  ProblemOptions options_;
  std::optional<std::string> methods_, csv_, page_;
  bool list_ = false;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_compare(CommandLine& program) { return std::make_unique<Compare>(program); }

}  // namespace poet::cli
