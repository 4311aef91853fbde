// poet card: what training has left on a board's card, and how long it goes on.

#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "apps/cli/codegen/plan_for_board.h"
#include "apps/cli/command.h"
#include "apps/shared/amounts.h"
#include "apps/shared/output.h"
#include "poet/base/error.h"
#include "poet/firmware/card.h"
#include "poet/firmware/checkpoint.h"
#include "poet/runtime/training/checkpoint.h"
#include "poet/runtime/training/learning_rate.h"

namespace poet::cli {
namespace {

namespace fs = std::filesystem;

class Card final : public Command {
 public:
  explicit Card(CommandLine& program)
      : Command(program.command("card", "read the results of training from a board's card")) {
    parser_.option("PLAN", plan_, "plan that the firmware was generated for", "").required();
    parser_.option("CARD", card_, "card image or block device", "").required();
    parser_.option("--checkpoint", checkpoint_,
                   "write parameters and optimiser state, as poet run --checkpoint does", "FILE.safetensors");
    parser_.option("--steps", steps_, "make the firmware train until step N (0: until power is lost)", "N");
    parser_.flag("--json", json_, "print one JSON object instead of text");
    parser_.footer("Exit code: 0 read, 2 card missing, damaged or of another plan, 3 internal error.");
  }

  int run() override {
    std::optional<std::uint32_t> steps;
    if (steps_) steps = parse_word("--steps", *steps_);
    if (checkpoint_) check_checkpoint();
    const PlanForBoard plan = plan_of_card(checked_plans(plan_, std::nullopt), card_);
    const Graph& graph = plan.file.instance.graph;
    const firmware::CardState state = firmware::read_card(card_, graph, plan.program);
    if (checkpoint_) firmware::write_checkpoint(*checkpoint_, graph, plan.file.instance.batch_size, state);
    if (steps) firmware::set_steps(card_, plan.program, *steps);
    if (json_)
      print_answer(answer(graph, state));
    else if (state.step == 0)
      print_answer(std::string("no step yet\n"));
    else
      print_answer(fmt::format("step {}, loss {}\n", state.step, state.loss));
    return kAnswer;
  }

 private:
  /// What is read is not written over.
  void check_checkpoint() const {
    for (const std::string* read : {&plan_, &card_}) {
      std::error_code ignored;
      if (fs::equivalent(*checkpoint_, *read, ignored))
        throw InputError("--checkpoint", fmt::format("{} is what is read", *checkpoint_));
    }
    check_writable("--checkpoint", *checkpoint_);
  }

  static nlohmann::ordered_json answer(const Graph& graph, const firmware::CardState& state) {
    nlohmann::ordered_json json = nlohmann::ordered_json::object();
    json["format"] = 1;
    json["step"] = state.step;
    json["loss"] = state.step > 0 ? nlohmann::ordered_json(state.loss) : nlohmann::ordered_json(nullptr);
    json["seed"] = state.seed;
    json["data"] = state.data;
    json["optimizer"] = runtime::describe_optimizer(graph);
    json["schedule"] = runtime::describe_schedule(state.schedule);
    return json;
  }

  std::string plan_, card_;
  std::optional<std::string> checkpoint_, steps_;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_card(CommandLine& program) { return std::make_unique<Card>(program); }

}  // namespace poet::cli
