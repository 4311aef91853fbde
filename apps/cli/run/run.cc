// poet run: trains a network on this machine by a plan, under its RAM cap, with real paging.

#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "apps/cli/command.h"
#include "apps/cli/forked.h"
#include "apps/cli/run/onnx_weights.h"
#include "apps/cli/solve/family.h"
#include "apps/cli/solve/family_text.h"
#include "apps/cli/solve/ram_budget.h"
#include "apps/cli/solve/solving.h"
#include "apps/shared/output.h"
#include "apps/shared/terminal.h"
#include "apps/shared/training/outputs.h"
#include "poet/answer/evaluation_plan.h"
#include "poet/base/error.h"
#include "poet/cost/json_reader.h"
#include "poet/runtime/executor/program.h"

namespace poet::cli {
namespace {

using Json = nlohmann::ordered_json;

/// A plan to run and, where it was solved for just now, the answer of `poet solve --json`.
struct Runnable {
  PlanFamily plans;
  std::optional<Json> answer;
};

class Run final : public Command {
 public:
  explicit Run(CommandLine& program)
      : Command(
            program.command("run", "train a network on this machine within a plan's RAM, with real paging")) {
    parser_.option(
        "PLAN", plan_,
        "plan file (poet solve --plan-out); without one, the options of solve say what to solve first", "");
    add_problem_options(parser_, problem_);
    parser_.describe("--ram-budget", kRamBudgetsHelp);
    parser_.describe("--steps",
                     "total number of training steps (default 100); --total-deadline covers as many");
    add_run_options(parser_, training_);
    add_machine_options(parser_, machine_);
    parser_.describe("--threads",
                     "threads: of the search (default: the machine's cores) and of the kernels (default 1)");
    const Parser output = parser_.group("Output");
    output.option("--plan-out", plan_out_, "write the plan that was found", "FILE");
    output.option("--onnx-out", onnx_out_,
                  "write the trained network as ONNX; for the plan of an ONNX file, --onnx names that file",
                  "FILE");
    add_run_output_options(parser_, output_);
    parser_.footer(
        "Solving happens in a process of its own; then one arena of the planned size is all that the step "
        "works in.\nExamples:\n"
        "  poet run --model resnet14_cifar --batch-size 8 --platform a72 --ram-budget 6MB --steps 200\n"
        "  poet run several.plan --control FILE    # which says, while it runs: 6MB\n"
        "  poet run my.plan --data cifar-10-batches-bin --checkpoint my.safetensors --checkpoint-every 100\n"
        "\nExit code: 0 all steps done, 1 no plan, interrupted, or a loss that is not finite, 2 bad input, 3 "
        "internal\nerror.");
  }

  int run() override {
    const bool solves = problem_.input.model || problem_.input.instance || (!plan_ && problem_.input.onnx);
    if (!plan_ && !solves)
      throw InputError("PLAN", "is missing, or --model, --onnx or --instance to solve for");
    if (plan_ && solves)
      throw InputError(problem_.input.model ? "--model" : "--instance",
                       "is for solving; the given plan has already been solved for");
    RunOptions typed = training_;
    typed.steps = problem_.limits.steps;
    machine_.threads = problem_.solver.threads;
    const RunChoice choice = read_run_options(typed, machine_);
    std::vector<NamedFile> written;
    if (plan_out_) written.emplace_back("--plan-out", *plan_out_);
    if (onnx_out_) {
      if (std::filesystem::path(*onnx_out_).extension() == ".safetensors")
        throw InputError("--onnx-out", "is an ONNX file; --checkpoint writes safetensors");
      written.emplace_back("--onnx-out", *onnx_out_);
    }
    std::vector<NamedFile> read;
    if (plan_) read.emplace_back("the plan", *plan_);
    const InputOptions& input = problem_.input;
    for (const auto& [option, file] :
         {std::pair("--onnx", &input.onnx), std::pair("--instance", &input.instance),
          std::pair("--platform", &input.platform)})
      if (*file) read.emplace_back(option, **file);
    check_outputs(choice, written, read);
    std::optional<Runnable> runnable;
    if (plan_) {
      refuse_problem_options();
      runnable = Runnable{read_plans(*plan_), {}};
      origin_ = origin_of(runnable->plans.instance, choice, network(runnable->plans.instance.batch_size),
                          onnx_out_.has_value());
    } else {
      const std::size_t budgets = ram_budgets(problem_.limits).size();
      check_several(budgets, choice);
      origin_ = network({});
      // --steps alone is no deadline.
      if (!problem_.limits.total_deadline) problem_.limits.steps.reset();
      int code = kAnswer;
      runnable = solve_apart(choice, code);
      if (!runnable) return code;
    }
    const FamilyPlan& first = runnable->plans.plans.front();
    set_byte_units(units_of(first.made, first.limits.ram_budget));  // what solves is another process
    if (plan_out_) write_plans(runnable->plans, *plan_out_);
    RunChoice chosen = choice;
    if (choice.trainer.validation) {
      int code = kAnswer;
      chosen.trainer.validation_plans = plan_validation(runnable->plans, choice, code);
      if (chosen.trainer.validation_plans.empty()) return code;
    }
    return train(std::move(*runnable), std::move(chosen));
  }

 private:
  /// Solves in a process of its own, so that the solver's memory is not the training's. Null: there is no
  /// plan, as `code` says and that process has said.
  std::optional<Runnable> solve_apart(const RunChoice& training, int& code) const {
    Forked solver([&](Parent& parent) {
      runtime::set_up_kernels(training.trainer.kernels);
      Solving solving;
      solving.on_interrupt = "training by the best plan found so far, if there is one";
      const runtime::KernelOptions& kernels = training.trainer.kernels;
      if (kernels.library == runtime::KernelLibrary::fast) {
        const auto with_lean_kernels = [lean = kernels](Instance& instance, Semantics) mutable {
          lean.library = runtime::KernelLibrary::lean;
          runtime::charge_workspaces(instance, lean);
        };
        solving.alternatives.push_back({"--kernels lean, which need less workspace", with_lean_kernels});
      }
      solving.adjust = [&](Instance& instance, Semantics semantics) {
        // Before the search, so that nobody waits for a plan that cannot be trained by.
        runtime::charge_workspaces(instance, kernels);
        runtime::check_rules(semantics);
        check_run(instance.graph, training, onnx_source(training, origin_, instance));
        if (onnx_out_) check_exportable(instance.graph, origin_);
      };
      const std::vector<Solved> answers = solve_budgets(problem_, solving);
      if (!problem_.solver.quiet && !answers.front().ram_note.empty())
        std::fputs(message_text("poet: " + answers.front().ram_note, stderr).c_str(), stderr);
      if (!all_answered(answers)) {
        if (plan_out_) mention_stale("--plan-out", *plan_out_);
        if (output_.json)
          print_answer(answers_json(answers));
        else
          print_text(answers_text(answers));
        return kNoAnswer;
      }
      const std::vector<std::uint8_t> plan = to_binary(family_of_answers(answers));
      parent.send({reinterpret_cast<const char*>(plan.data()), plan.size()});
      parent.send(json_text(answers_json(answers)));
      return kAnswer;
    });
    const std::optional<std::string> plan = solver.receive();
    const std::optional<std::string> answer = solver.receive();
    code = solver.wait("what solves for the plan");
    if (code != kAnswer) return std::nullopt;
    ensure(plan && answer, "what solves for the plan tells it");
    return Runnable{plans_from_binary({plan->begin(), plan->end()}, "the solver's plan"),
                    parse_json(*answer, "the solver's answer")};
  }

  /// The same for the plans that the network is validated by, each within the memory of one of the
  /// training's. Empty: as null there.
  std::vector<PlanFile> plan_validation(const PlanFamily& plans, const RunChoice& training, int& code) const {
    Forked solver([&](Parent& parent) {
      runtime::set_up_kernels(training.trainer.kernels);
      const auto charge = [&](Instance& instance) {
        runtime::charge_workspaces_as(plans.instance, instance, training.trainer.kernels);
      };
      for (std::size_t i = 0; i < plans.plans.size(); ++i) {
        const std::vector<std::uint8_t> plan = to_binary(plan_evaluation(plan_of(plans, i), charge));
        parent.send({reinterpret_cast<const char*>(plan.data()), plan.size()});
      }
      return kAnswer;
    });
    std::vector<PlanFile> found;
    while (const std::optional<std::string> plan = solver.receive())
      found.push_back(plan_from_binary({plan->begin(), plan->end()}, "the validation's plan"));
    code = solver.wait("what plans the validation");
    if (code != kAnswer) return {};
    ensure(found.size() == plans.plans.size(), "what plans the validation tells all of it");
    return found;
  }

  /// The ONNX file that is named as the network's; `batch_size`: a given plan's.
  std::optional<OnnxNetwork> network(std::optional<std::int64_t> batch_size) const {
    if (!problem_.input.onnx) return std::nullopt;
    return OnnxNetwork{*problem_.input.onnx, [this, batch_size] {
                         InputOptions input = problem_.input;
                         if (batch_size) input.batch_size = std::to_string(*batch_size);
                         return read_onnx(input);
                       }};
  }

  int train(Runnable runnable, RunChoice choice) const {
    std::optional<OnnxWeightsApart> weights;
    if (const auto source = onnx_source(choice, origin_, runnable.plans.instance)) {
      weights.emplace(runnable.plans.instance.graph, *source);
      choice.trainer.weights = weights->source();
      choice.trainer.weights_origin = source->file;
    }
    const Finish finish = [&](const runtime::Trainer& trainer) {
      if (onnx_out_) export_weights(trainer, origin_, *onnx_out_);
    };
    const Session session = run_session(std::move(runnable.plans), choice, problem_.solver.quiet, finish);
    std::vector<NamedFile> written;
    if (onnx_out_) written.emplace_back("ONNX", *onnx_out_);
    return conclude(session, choice, output_, runnable.answer.value_or(Json::object()), written);
  }

  /// A plan has its network, device and limits: an option that names another would be thought to hold. --onnx
  /// says which file the network came from.
  void refuse_problem_options() const {
    std::set<std::string> welcome = {"--steps", "--quiet", "--threads", "--onnx"};
    if (problem_.input.onnx) welcome.insert({"--input-shape", "--input-value", "--loss", "--allow-opaque"});
    for (const char* group : {"What to schedule", "Limits", "Solving"})
      for (const std::string& name : parser_.group(group).given())
        if (!welcome.contains(name))
          throw InputError(name, "is for solving; the given plan has already been solved for");
    check_onnx_options(problem_.input);
  }

  ProblemOptions problem_;
  RunOptions training_;
  MachineOptions machine_;
  std::optional<std::string> plan_, plan_out_, onnx_out_;
  std::optional<OnnxNetwork> origin_;  // the ONNX file that the network comes from
  RunOutput output_;
};

}  // namespace

std::unique_ptr<Command> make_run(CommandLine& program) { return std::make_unique<Run>(program); }

}  // namespace poet::cli
