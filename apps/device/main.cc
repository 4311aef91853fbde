// The program poet-device: what a board itself runs. Plans are made elsewhere; here they are trained by, and
// here the machine is measured for them.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "apps/cli/amounts.h"
#include "apps/cli/command.h"
#include "apps/cli/errors.h"
#include "apps/cli/output.h"
#include "apps/cli/profiling.h"
#include "apps/cli/training/report.h"
#include "apps/cli/training/safetensors_weights.h"
#include "poet/autodiff/differentiate.h"
#include "poet/base/error.h"
#include "poet/base/write_file.h"
#include "poet/cost/instance_json.h"
#include "poet/frontend/zoo.h"

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
    app_->add_flag("--report", report_, "planned and measured figures side by side")->group("Output");
    app_->add_flag("--json", json_, "one JSON object instead of text")->group("Output");
    app_->add_flag("--quiet", quiet_, "no progress on stderr")->group("Output");
  }

  int run() override {
    const RunChoice choice = read_run_options(training_);
    const MachineChoice machine = read_machine_options(machine_);
    if (choice.checkpoint) check_writable("--checkpoint", choice.checkpoint->string());
    PlanFile file = read_plan(plan_);
    const SafetensorsWeights weights(file.instance.graph, choice.weights);
    const Session session = run_session(std::move(file), choice, machine, weights.source(), quiet_);
    if (choice.loss_out) write_losses(session, *choice.loss_out);
    if (json_)
      print_answer(session_json(session));
    else
      print_answer(session_text(session) + (report_ ? "\n" + side_by_side_text(session) : ""));
    return session.result.end == runtime::TrainEnd::done ? kAnswer : kNoAnswer;
  }

 private:
  std::string plan_;
  RunOptions training_;
  MachineOptions machine_;
  bool report_ = false;
  bool json_ = false;
  bool quiet_ = false;
};

class ProfileBoard final : public Command {
 public:
  explicit ProfileBoard(CLI::App& parent) {
    app_ = parent.add_subcommand("profile", "measure this machine for a network: a device profile");
    app_->add_option("--model", model_, "a built-in network")->type_name("NAME");
    app_->add_option("--instance", instance_, "or the graph of an instance file (poet import -o)")
        ->type_name("FILE");
    app_->add_option("--batch-size", batch_size_, "samples per training step (default 1)")->type_name("N");
    add_profiling_options(*app_, options_);
  }

  int run() override {
    if (model_.has_value() == instance_.has_value())
      throw InputError("poet-device profile", "needs --model or --instance, one of them");
    if (!options_.output) throw InputError("-o FILE.json is needed: where to write the profile");
    check_writable("-o", *options_.output);
    const Profiled profiled = profile_machine(graph(), options_);
    write_file(*options_.output, to_json(profiled.device).dump(1) + "\n");
    print_answer(profile_text(profiled, *options_.output));
    return kAnswer;
  }

 private:
  Graph graph() const {
    if (instance_) return read_instance(*instance_).graph;
    ZooOptions size;
    if (batch_size_) size.batch_size = parse_count("--batch-size", *batch_size_);
    return differentiate(build_network(*model_, size));
  }

  std::optional<std::string> model_, instance_, batch_size_;
  ProfilingOptions options_;
};

int run(int argc, char** argv) {
  CLI::App app("poet-device: trains by poet's plans on this board, and measures it", "poet-device");
  app.set_version_flag("--version", "poet-device " POET_VERSION);
  app.require_subcommand(1, 1);
  RunPlan run_plan(app);
  ProfileBoard profile(app);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& wanted) {  // --help, --version
    return app.exit(wanted);
  } catch (const CLI::ParseError& error) {
    complain(error.what());
    return kBadInput;
  }
  return run_plan.called() ? run_plan.run() : profile.run();
}

}  // namespace
}  // namespace poet::cli

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);
  return poet::cli::exit_code_of([&] { return poet::cli::run(argc, argv); });
}
