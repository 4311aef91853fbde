// The program poet-device: what a board itself runs. Plans are made elsewhere; here they are trained by, and
// here the machine is measured for them.

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "apps/shared/called_as.h"
#include "apps/shared/command.h"
#include "apps/shared/errors.h"
#include "apps/shared/training/options.h"
#include "apps/shared/training/outputs.h"
#include "apps/shared/training/session.h"
#include "poet/base/error.h"
#include "poet/pipeline/evaluation.h"
#include "poet/runtime/executor/program.h"
#include "poet/version.h"

namespace poet::cli {
namespace {

class RunPlan final : public Command {
 public:
  explicit RunPlan(CommandLine& program)
      : Command(program.command("run", "train by a plan, under its RAM cap, with real paging")) {
    parser_.option("PLAN", plan_, "a plan file (poet solve --plan-out)", "").required();
    parser_.group("Training")
        .option("--steps", training_.steps, "total number of training steps (default 100)", "N");
    add_run_options(parser_, training_);
    add_machine_options(parser_, machine_);
    add_kernel_threads_option(parser_, machine_);
    add_run_output_options(parser_, output_);
    parser_.group("Output").flag("--quiet", quiet_, "no progress on stderr");
    parser_.footer(
        "Example:\n"
        "  poet-device run my.plan --data cifar-10-batches-bin --checkpoint my.safetensors\n"
        "\nExit code: 0 all steps done, 1 interrupted, or a loss that is not finite, 2 bad input, 3 internal "
        "error.");
  }

  int run() override {
    RunChoice choice = read_run_options(training_, machine_);
    check_outputs(choice, {}, {{"the plan", plan_}});
    if (choice.weights && is_onnx(*choice.weights))
      throw InputError("--weights", "this program reads safetensors, not ONNX files");
    PlanFamily plans = read_plans(plan_);
    if (choice.trainer.validation) {
      const auto charge = [&](Instance& instance) {
        runtime::charge_workspaces_as(plans.instance, instance, choice.trainer.kernels);
      };
      for (std::size_t i = 0; i < plans.plans.size(); ++i)
        choice.trainer.validation_plans.push_back(evaluation_in_order(plan_of(plans, i), charge));
    }
    const Session session = run_session(std::move(plans), choice, quiet_);
    return conclude(session, choice, output_, nlohmann::ordered_json::object());
  }

 private:
  std::string plan_;
  RunOptions training_;
  MachineOptions machine_;
  RunOutput output_;
  bool quiet_ = false;
};

int run(int argc, char** argv) {
  set_called_as(argc > 0 ? argv[0] : nullptr);
  CommandLine program("poet-device", "poet-device: trains by poet's plans on this board, and measures it",
                      version());
  std::vector<std::unique_ptr<Command>> commands;
  commands.push_back(std::make_unique<RunPlan>(program));
  commands.push_back(make_profile(program));
  return run_commands(program, commands, "run or profile", argc, argv);
}

}  // namespace
}  // namespace poet::cli

int main(int argc, char** argv) {
  poet::cli::set_up_signals();
  poet::cli::report_errors_as_json(argc, argv);
  return poet::cli::exit_code_of([&] { return poet::cli::run(argc, argv); });
}
