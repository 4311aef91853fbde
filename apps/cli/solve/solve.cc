// poet solve: the schedule of least energy within RAM and time, with its proof.

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "apps/cli/command.h"
#include "apps/cli/solve/family.h"
#include "apps/cli/solve/family_text.h"
#include "apps/cli/solve/ram_budget.h"
#include "apps/cli/solve/result_json.h"
#include "apps/cli/solve/schedule_out.h"
#include "apps/cli/solve/solving.h"
#include "apps/cli/solve/summary.h"
#include "apps/shared/answer_line.h"
#include "apps/shared/called_as.h"
#include "apps/shared/output.h"
#include "poet/base/error.h"
#include "poet/plan/file/plan_file.h"

namespace poet::cli {
namespace {

class Solve final : public Command {
 public:
  explicit Solve(CommandLine& program)
      : Command(program.command("solve", "find the training schedule of least energy within RAM and time")) {
    add_problem_options(parser_, options_);
    parser_.describe("--ram-budget", kRamBudgetsHelp);
    const Parser output = parser_.group("Output");
    output.option("--schedule-out", schedule_out_,
                  "write the schedule in staged (Checkmate) form, for poet verify; if the answer has none, "
                  "as it pages between ops or pages parameters, the best staged schedule found",
                  "FILE.json");
    output.option("--plan-out", plan_out_,
                  "write the plan with its addresses, for poet show and devices; as JSON if named .json",
                  "FILE");
    output.option("--image-out", image_out_,
                  "write the part of the plan that a device needs: schedule and addresses", "FILE");
    output.flag("--json", json_, "print one JSON object instead of text");
    output.flag("--check", check_, "check the input and --op-limit without solving");
    parser_.footer(
        "Examples:\n"
        "  poet solve --model resnet14_cifar --batch-size 8 --platform a72 --ram-budget 6MB --plan-out p\n"
        "  poet solve --model resnet14_cifar --batch-size 8 --platform a72 --ram-budget 8MB,6MB,5MB "
        "--plan-out "
        "several\n"
        "  poet solve --semantics published --model resnet18_cifar --platform a72 --ram-budget 1MB\n"
        "\nExit code: 0 answers to all, 1 infeasible, unknown or no --schedule-out, 2 bad input, 3 internal "
        "error.");
  }

  int run() override {
    // Before the work, so that nobody waits for a result that cannot be written.
    if (schedule_out_) check_writable("--schedule-out", *schedule_out_);
    if (plan_out_) check_writable("--plan-out", *plan_out_);
    if (image_out_) check_writable("--image-out", *image_out_);
    check_distinct();
    if (check_) return check_input();
    if (ram_budgets(options_.limits).size() > 1) return run_family();
    const Solved solved = solve_problem(options_);
    if (has_plan(solved) && (plan_out_ || image_out_)) {
      const PlanFile plan = plan_file_of(solved);
      if (plan_out_) write_plan(plan, *plan_out_);
      if (image_out_) write_device_image(plan, *image_out_);
    }
    std::optional<ScheduleOut> schedule;
    if (has_plan(solved) && schedule_out_) schedule = write_schedule_of(solved, options_, *schedule_out_);
    if (schedule && !schedule->energy) mention_stale("--schedule-out", *schedule_out_);
    if (!has_plan(solved)) {
      for (const auto& [option, file] :
           {std::pair("--schedule-out", &schedule_out_), std::pair("--plan-out", &plan_out_),
            std::pair("--image-out", &image_out_)})
        if (*file) mention_stale(option, **file);
    }
    if (json_) {
      nlohmann::ordered_json answer = result_json(solved);
      if (schedule) answer["schedule"] = to_json(*schedule);
      print_answer(answer);
    } else {
      std::string text = summary_text(solved);
      if (schedule) text += to_text(*schedule);
      if (has_plan(solved) && plan_out_)
        text += answer_line("Plan", fmt::format("{}; look at it with: {} show {}", *plan_out_, called_as(),
                                                shell_word(*plan_out_)));
      print_text(text);
    }
    if (schedule && !schedule->energy) return kNoAnswer;
    return exit_code(solved);
  }

 private:
  int check_input() const {
    Policy policy = policy_of(options_.input);
    policy.split = {};  // takes long, and is no matter of the input
    policy.op_limit = read_op_limit(options_.solver.op_limit);
    (void)load(network_spec(options_.input), device_spec(options_.input), policy);
    return kAnswer;
  }

  /// Several RAM budgets: nothing is written unless each has a plan.
  int run_family() {
    if (schedule_out_) throw InputError("--schedule-out", "holds one schedule; --ram-budget names several");
    if (image_out_) throw InputError("--image-out", "holds one plan; --ram-budget names several");
    if (options_.solver.order == "best")
      throw InputError("--order", "best is for one RAM budget: plans of one file compute in one order");
    const std::vector<Solved> answers = solve_budgets(options_);
    const bool answered = all_answered(answers);
    if (plan_out_ && answered) write_plans(family_of_answers(answers), *plan_out_);
    if (plan_out_ && !answered) mention_stale("--plan-out", *plan_out_);
    if (json_) {
      print_answer(answers_json(answers));
    } else {
      std::string text = answers_text(answers);
      if (plan_out_ && answered)
        text +=
            "\n" + answer_line("Plans", fmt::format("{}, {} plans; train by them with: {} run {}", *plan_out_,
                                                    answers.size(), called_as(), shell_word(*plan_out_)));
      if (plan_out_ && !answered)
        text += "\n" + answer_line("Plans", "not written: not every budget has a plan");
      print_text(text);
    }
    return answered ? kAnswer : kNoAnswer;
  }

  void check_distinct() const {
    if (schedule_out_ && schedule_out_ == plan_out_)
      throw InputError("--schedule-out", "must name another file than --plan-out");
    if (image_out_ && (image_out_ == plan_out_ || image_out_ == schedule_out_))
      throw InputError("--image-out", fmt::format("must name another file than {}",
                                                  image_out_ == plan_out_ ? "--plan-out" : "--schedule-out"));
  }

  ProblemOptions options_;
  std::optional<std::string> schedule_out_, plan_out_, image_out_;
  bool json_ = false;
  bool check_ = false;
};

}  // namespace

std::unique_ptr<Command> make_solve(CommandLine& program) { return std::make_unique<Solve>(program); }

}  // namespace poet::cli
