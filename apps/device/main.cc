// The program poet-device: what a board itself runs. Plans are made elsewhere; here they are trained by, and
// here the machine is measured for them.

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "apps/shared/command.h"
#include "apps/shared/errors.h"
#include "apps/shared/training/options.h"
#include "apps/shared/training/outputs.h"
#include "apps/shared/training/session.h"
#include "poet/base/error.h"
#include "poet/version.h"

namespace poet::cli {
namespace {

class RunPlan final : public Command {
 public:
  explicit RunPlan(CLI::App& parent) {
    app_ = parent.add_subcommand("run", "train by a plan, under its RAM cap, with real paging");
    app_->add_option("plan", plan_, "a plan file (poet solve --plan-out)")->required()->type_name("PLAN");
    app_->add_option("--steps", training_.steps, "training steps to have done at the end (default 100)")
        ->group("Training")
        ->type_name("N");
    add_run_options(*app_, training_);
    add_machine_options(*app_, machine_);
    add_run_output_options(*app_, output_);
    app_->add_flag("--quiet", quiet_, "no progress on stderr")->group("Output");
    app_->footer(
        "Example:\n"
        "  poet-device run my.plan --data cifar-10-batches-bin --checkpoint my.safetensors\n"
        "\nExit code: 0 all steps done, 1 interrupted, or a loss that is not finite, 2 bad input, 3 internal "
        "error.");
  }

  int run() override {
    const RunChoice choice = read_run_options(training_, machine_);
    check_outputs(choice, {}, {{"the plan", plan_}});
    if (choice.weights && is_onnx(*choice.weights))
      throw InputError("--weights", "this program reads no ONNX files; safetensors it does");
    const Session session = run_session(read_plan(plan_), choice, quiet_);
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
  CLI::App app("poet-device: trains by poet's plans on this board, and measures it", "poet-device");
  app.set_version_flag("--version", std::string("poet-device ") + version());
  app.require_subcommand(1, 1);
  RunPlan run_plan(app);
  const std::unique_ptr<Command> profile = make_profile(app);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& wanted) {  // --help, --version
    return app.exit(wanted);
  } catch (const CLI::ParseError& error) {
    complain(error.what());
    return kBadInput;
  }
  return run_plan.called() ? run_plan.run() : profile->run();
}

}  // namespace
}  // namespace poet::cli

int main(int argc, char** argv) {
  poet::cli::set_up_signals();
  return poet::cli::exit_code_of([&] { return poet::cli::run(argc, argv); });
}
