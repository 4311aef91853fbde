// poet codegen: firmware that trains by a plan, and the image of its card; poet card: what a run has left on
// it.

#include <fmt/format.h>

#include <charconv>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "apps/cli/command.h"
#include "apps/shared/amounts.h"
#include "apps/shared/output.h"
#include "poet/base/amounts.h"
#include "poet/base/error.h"
#include "poet/firmware/card.h"
#include "poet/firmware/checkpoint.h"
#include "poet/firmware/folder.h"
#include "poet/runtime/data/dataset.h"
#include "poet/runtime/weights/initial_weights.h"
#include "poet/runtime/weights/safetensors_weights.h"
#include "poet/verify/replay.h"
#include "poet/verify/replay_layout.h"

namespace poet::cli {
namespace {

namespace fs = std::filesystem;

/// From 0 on.
std::uint64_t parse_number(const std::string& option, const std::string& text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size())
    throw InputError(option, "\"" + text + "\" is not a whole number from 0 on");
  return number;
}

/// A plan that the verifier accepts.
PlanFile checked_plan(const std::string& name) {
  PlanFile file = read_plan(name);
  const Report report = replay(file.instance, file.plan, file.semantics, file.limits);
  if (!report.valid) throw InputError(name, "is invalid: " + report.violation);
  const auto arena = replay_layout(file.instance, file.plan, file.layout, file.semantics, file.limits);
  if (!arena.valid) throw InputError(name, "its addresses are invalid: " + arena.violation);
  return file;
}

class Codegen final : public Command {
 public:
  explicit Codegen(CommandLine& program)
      : Command(program.command("codegen",
                                "write firmware in C that trains by a plan, and the image of its card")) {
    parser_.option("PLAN", plan_, "a plan, as poet solve --plan-out writes it", "").required();
    parser_.option("-o", folder_, "the folder for the firmware; made if it is not there", "DIR").required();
    parser_.option("--board", board_, "what it is for: host (default), lm3s6965evb, microbit or mps2-an386",
                   "NAME");
    parser_.option("--weights", weights_, "what training starts from; without, seeded like PyTorch's",
                   "FILE.safetensors");
    parser_.option("--data", data_, "training data, as for poet run; without, a synthetic set", "PATH");
    parser_.option("--samples", samples_, "of the synthetic set (default 64)", "N");
    parser_.option("--seed", seed_, "of weights, data and their order (default 0)", "N");
    parser_.option("--steps", steps_, "training steps in all (default 10; 0: until the power goes)", "N");
    parser_.footer(
        "Examples:\n"
        "  poet solve --model linear --platform m0 --ram-budget 24KiB --plan-out my.plan\n"
        "  poet codegen my.plan -o firmware --steps 20 && make -C firmware run\n"
        "  poet card my.plan firmware/card.img --checkpoint my.safetensors\n"
        "\nExit code: 0 written, 2 bad input, 3 internal error.");
  }

  int run() override {
    const PlanFile file = checked_plan(plan_);
    const Graph& graph = file.instance.graph;
    const firmware::Board& board = firmware::board(board_);
    const auto seed = parse_number("--seed", seed_);
    const firmware::Program program = firmware::program_of(file);
    if (board.ram_bytes > 0 && program.ram_bytes > board.ram_bytes)
      throw InputError("--board", fmt::format("{} has {} of RAM, the plan takes {}", board.name,
                                              format_bytes(Bytes(board.ram_bytes)),
                                              format_bytes(Bytes(program.ram_bytes))));
    const std::unique_ptr<runtime::Dataset> data =
        data_ ? runtime::open_dataset(*data_, graph)
              : runtime::synthetic_dataset(graph, parse_count("--samples", samples_), seed);
    if (data->samples() < program.batch)
      throw InputError("--data",
                       fmt::format("has {} samples, a step takes {}", data->samples(), program.batch));
    const runtime::SafetensorsWeights weights(graph,
                                              weights_ ? std::optional<fs::path>(*weights_) : std::nullopt);
    const runtime::InitialWeights seeds(graph);
    firmware::write_folder(folder_, program, board, seed);
    firmware::CardOptions options;
    options.steps = static_cast<std::uint32_t>(parse_number("--steps", steps_));
    const fs::path card = fs::path(folder_) / "card.img";
    firmware::write_card(
        card, graph, program,
        [&](ValueId v, std::byte* to) {
          if (!weights.read(v, to)) seeds.write(v, seed, to);
        },
        *data, options);
    print_answer(text(program, *data, card));
    return kAnswer;
  }

 private:
  static std::string text(const firmware::Program& p, const runtime::Dataset& data, const fs::path& card) {
    return fmt::format(
        "RAM       {} B: arena {}, resident values {}; besides, 4.6 KB of stack and buffers\n"
        "flash     {} B of program and {} B of shapes, besides the code\n"
        "storage   {} blocks of 512 B: {} pages, {} samples; {}\n",
        p.ram_bytes, p.arena_bytes, p.ram_bytes - p.arena_bytes, p.code.size(), p.shape_bytes.size(),
        firmware::card_blocks(p, data.samples()), p.pages.size(), data.samples(), card.string());
  }

  std::string plan_, folder_, board_ = "host", samples_ = "64", seed_ = "0", steps_ = "10";
  std::optional<std::string> weights_, data_;
};

class Card final : public Command {
 public:
  explicit Card(CommandLine& program)
      : Command(program.command("card", "read what training has left on a board's card")) {
    parser_.option("PLAN", plan_, "the plan that the firmware was made for", "").required();
    parser_.option("CARD", card_, "the card's image, or the card itself", "").required();
    parser_.option("--checkpoint", checkpoint_, "write parameters and optimiser state, as poet run does",
                   "FILE.safetensors");
    parser_.footer("Exit code: 0 read, 2 no such card, damaged, or of another plan, 3 internal error.");
  }

  int run() override {
    const PlanFile file = checked_plan(plan_);
    const firmware::CardState state =
        firmware::read_card(card_, file.instance.graph, firmware::program_of(file));
    if (checkpoint_) firmware::write_checkpoint(*checkpoint_, file.instance.graph, state);
    print_answer(fmt::format("step {}, loss {}\n", state.step, state.loss));
    return kAnswer;
  }

 private:
  std::string plan_, card_;
  std::optional<std::string> checkpoint_;
};

}  // namespace

std::unique_ptr<Command> make_codegen(CommandLine& program) { return std::make_unique<Codegen>(program); }
std::unique_ptr<Command> make_card(CommandLine& program) { return std::make_unique<Card>(program); }

}  // namespace poet::cli
