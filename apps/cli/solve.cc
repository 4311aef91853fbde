// poet solve: the schedule of least energy within RAM and time, with its proof.

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "apps/cli/command.h"
#include "apps/cli/output.h"
#include "apps/cli/result_json.h"
#include "apps/cli/solving.h"
#include "apps/cli/summary.h"
#include "poet/plan/schedule_json.h"

namespace poet::cli {
namespace {

class Solve final : public Command {
 public:
  explicit Solve(CLI::App& parent) {
    app_ = parent.add_subcommand("solve", "find the training schedule of least energy within RAM and time");
    add_problem_options(*app_, options_);
    app_->add_option("--schedule-out", schedule_out_, "write the schedule, for poet verify")
        ->group("Output")
        ->type_name("FILE.json");
    app_->add_flag("--json", json_, "one JSON object instead of text")->group("Output");
    app_->footer(
        "Examples:\n"
        "  poet solve --model resnet18_cifar --platform a72 --ram-budget 100MB --runtime-budget 1.3\n"
        "  poet solve --semantics published --model resnet18_cifar --platform a72 --ram-budget 3000000\n"
        "\nExit code: 0 an answer, 1 infeasible or unknown, 2 bad input, 3 internal error.");
  }

  int run() override {
    // Before the work, so that nobody waits for a result that cannot be written.
    if (schedule_out_) check_writable("--schedule-out", *schedule_out_);
    const Solved solved = solve_problem(options_);
    const bool exported = schedule_out_ && has_answer(solved);
    if (exported) {
      write_schedule({solved.request.instance, solved.request.semantics, solved.request.limits,
                      solved.result.outcome.schedule},
                     *schedule_out_);
    }
    if (json_) {
      print_answer(result_json(solved).dump(2) + "\n");
    } else {
      std::string text = summary_text(solved);
      if (exported)
        text += fmt::format("{:<14}{}; check it with: poet verify {}\n", "Schedule", *schedule_out_,
                            *schedule_out_);
      print_answer(text);
    }
    return exit_code(solved);
  }

 private:
  ProblemOptions options_;
  std::optional<std::string> schedule_out_;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_solve(CLI::App& parent) { return std::make_unique<Solve>(parent); }

}  // namespace poet::cli
