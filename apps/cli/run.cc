// poet run: trains a network on this machine by a plan, under its RAM cap, with real paging.

#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "apps/cli/command.h"
#include "apps/cli/forked.h"
#include "apps/cli/output.h"
#include "apps/cli/result_json.h"
#include "apps/cli/solving.h"
#include "apps/cli/summary.h"
#include "apps/cli/training/report.h"
#include "apps/cli/training/weights.h"
#include "poet/base/error.h"
#include "poet/runtime/executor/program.h"

namespace poet::cli {
namespace {

using Json = nlohmann::ordered_json;

/// A plan to run and, where it was solved for just now, the answer of `poet solve --json`.
struct Runnable {
  PlanFile file;
  std::optional<Json> answer;
};

/// Solves in a process of its own, so that the solver's memory is not the training's. Null: there is no plan,
/// as `code` says and that process has said.
std::optional<Runnable> solve_apart(const ProblemOptions& problem, const MachineChoice& machine, bool json,
                                    int& code) {
  Forked solver([&](int pipe) {
    runtime::set_up_kernels(machine.kernels);
    const Solved solved = solve_problem(problem, true, [&machine](Instance& instance) {
      runtime::charge_workspaces(instance, machine.kernels);
    });
    if (!has_answer(solved)) {
      if (json)
        print_answer(result_json(solved));
      else
        print_answer(summary_text(solved));
      return kNoAnswer;
    }
    const CompileRequest& request = solved.request;
    const std::vector<std::uint8_t> plan = to_binary(
        {request.instance, request.semantics, request.limits, solved.result.plan, solved.result.layout});
    const std::uint64_t size = plan.size();
    const std::string answer = result_json(solved).dump(-1, ' ', false, Json::error_handler_t::replace);
    write_all(pipe, &size, sizeof size);
    write_all(pipe, plan.data(), plan.size());
    write_all(pipe, answer.data(), answer.size());
    return kAnswer;
  });
  std::uint64_t size = 0;
  std::vector<std::uint8_t> plan;
  if (solver.read(&size, sizeof size)) plan.resize(size);
  std::string answer;
  if (solver.read(plan.data(), plan.size())) answer = solver.read_all();
  code = solver.wait();
  if (code != kAnswer) return std::nullopt;
  return Runnable{plan_from_binary(plan, "the solver's plan"), Json::parse(answer)};
}

class Run final : public Command {
 public:
  explicit Run(CLI::App& parent) {
    app_ =
        parent.add_subcommand("run", "train a network here, under the RAM cap of a plan, with real paging");
    app_->add_option("plan", plan_,
                     "a plan file (poet solve --plan-out); else what to solve first, as for solve")
        ->type_name("PLAN");
    add_problem_options(*app_, problem_);
    app_->get_option("--steps")->description(
        "training steps to have done at the end (default 100); also what --total-deadline is for");
    add_run_options(*app_, training_);
    add_machine_options(*app_, machine_);
    const std::string group = "Output";
    app_->add_option("--plan-out", plan_out_, "write the plan that was solved for")
        ->group(group)
        ->type_name("FILE");
    app_->add_option("--onnx-out", onnx_out_, "write the trained network")->group(group)->type_name("FILE");
    app_->add_flag("--report", report_, "planned and measured figures side by side")->group(group);
    app_->add_flag("--json", json_, "one JSON object instead of text")->group(group);
    app_->footer(
        "Solving happens in a process of its own; then one arena of the planned size is all that the step "
        "works in.\nExamples:\n"
        "  poet run --model resnet18_cifar --platform a72 --ram-budget 56MB --batch-size 8 --steps 200\n"
        "  poet run my.plan --data cifar-10-batches-bin --checkpoint my.safetensors --checkpoint-every 100\n"
        "\nExit code: 0 all steps done, 1 no plan, interrupted, or a loss that is not finite, 2 bad input, 3 "
        "internal\nerror.");
  }

  int run() override {
    const bool solves = problem_.input.model || problem_.input.onnx || problem_.input.instance;
    if (plan_.has_value() == solves)
      throw InputError("poet run",
                       "needs a plan file, or --model, --onnx or --instance to solve for, not both");
    RunOptions typed = training_;
    typed.steps = problem_.limits.steps;
    const RunChoice choice = read_run_options(typed);
    const MachineChoice machine = read_machine_options(machine_);
    // Before the work, so that nobody waits for a result that cannot be written.
    check_outputs(choice, machine);
    std::optional<Runnable> runnable;
    if (plan_) {
      refuse_problem_options();
      runnable = Runnable{read_plan(*plan_), {}};
    } else {
      // --steps alone is no deadline.
      if (!problem_.limits.total_deadline) problem_.limits.steps.reset();
      int code = kAnswer;
      runnable = solve_apart(problem_, machine, json_, code);
      if (!runnable) return code;
    }
    if (plan_out_) write_plan(runnable->file, *plan_out_);
    return train(std::move(*runnable), choice, machine);
  }

 private:
  int train(Runnable runnable, const RunChoice& choice, const MachineChoice& machine) const {
    std::optional<OnnxNetwork> network;
    if (problem_.input.onnx)
      network = OnnxNetwork{*problem_.input.onnx, [this] { return read_onnx(problem_.input); }};
    Weights weights(runnable.file.instance.graph, choice.weights, choice.resume ? std::nullopt : network);
    const Finish finish = [&](const Graph& graph, const runtime::Program& program) {
      if (onnx_out_) export_weights(graph, program, network, *onnx_out_);
    };
    const Session session = run_session(std::move(runnable.file), choice, machine, weights.source(),
                                        problem_.solver.quiet, finish);
    if (json_) {
      Json json = runnable.answer.value_or(Json::object());
      json.update(session_json(session));
      print_answer(json);
    } else {
      std::string text = session_text(session);
      if (report_) text += "\n" + side_by_side_text(session);
      if (choice.checkpoint) text += fmt::format("{:<14}{}\n", "Checkpoint", choice.checkpoint->string());
      if (onnx_out_) text += fmt::format("{:<14}{}\n", "ONNX", *onnx_out_);
      print_answer(text);
    }
    if (choice.loss_out) write_losses(session, *choice.loss_out);
    return session.result.end == runtime::TrainEnd::done ? kAnswer : kNoAnswer;
  }
  /// A plan has its network, device and limits: an option that names another would be thought to hold.
  void refuse_problem_options() const {
    for (const CLI::Option* option : app_->get_options()) {
      const std::string group = option->get_group();
      const bool of_problem = group == "What to schedule" || group == "Limits" || group == "Solving";
      const std::string name = option->get_name();
      if (of_problem && option->count() > 0 && name != "--steps" && name != "--quiet")
        throw InputError(name, "is for solving; the plan that is given has been solved for");
    }
  }
  void check_outputs(const RunChoice& choice, const MachineChoice& machine) const {
    std::vector<std::pair<std::string, std::filesystem::path>> outputs;
    if (choice.checkpoint) outputs.emplace_back("--checkpoint", *choice.checkpoint);
    if (choice.loss_out) outputs.emplace_back("--loss-out", *choice.loss_out);
    if (plan_out_) outputs.emplace_back("--plan-out", *plan_out_);
    if (onnx_out_) outputs.emplace_back("--onnx-out", *onnx_out_);
    for (const auto& [option, file] : outputs) check_writable(option, file.string());
    // What is read, or paged to, is not to be written over; but a checkpoint may take the place of the
    // resumed one, and a trained network that of the untrained.
    std::vector<std::pair<std::string, std::filesystem::path>> others = outputs;
    if (plan_) others.emplace_back("the plan", *plan_);
    if (choice.data) others.emplace_back("--data", *choice.data);
    if (machine_.storage) others.emplace_back("--storage", machine.storage.where);
    for (std::size_t i = 0; i < outputs.size(); ++i)
      for (std::size_t k = i + 1; k < others.size(); ++k)
        if (std::filesystem::absolute(outputs[i].second).lexically_normal() ==
            std::filesystem::absolute(others[k].second).lexically_normal())
          throw InputError(outputs[i].first + " and " + others[k].first, "must be different files");
  }

  ProblemOptions problem_;
  RunOptions training_;
  MachineOptions machine_;
  std::optional<std::string> plan_, plan_out_, onnx_out_;
  bool report_ = false;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_run(CLI::App& parent) { return std::make_unique<Run>(parent); }

}  // namespace poet::cli
