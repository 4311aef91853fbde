// poet codegen: firmware that trains by a plan, and the image of its card; poet card: what a run has left on
// it.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <csignal>
#include <filesystem>
#include <functional>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "apps/cli/codegen/answer.h"
#include "apps/cli/command.h"
#include "apps/shared/amounts.h"
#include "apps/shared/interrupt.h"
#include "apps/shared/output.h"
#include "poet/base/amounts.h"
#include "poet/base/error.h"
#include "poet/firmware/card.h"
#include "poet/firmware/checkpoint.h"
#include "poet/firmware/draft.h"
#include "poet/firmware/folder.h"
#include "poet/firmware/memory.h"
#include "poet/graph/parts.h"
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

std::vector<std::string> board_names() {
  std::vector<std::string> names;
  for (const firmware::Board& b : firmware::boards()) names.push_back(b.name);
  return names;
}

/// A number of 32 bits.
std::uint32_t parse_word(const std::string& option, const std::string& text) {
  const std::uint64_t number = parse_number(option, text);
  if (number > std::numeric_limits<std::uint32_t>::max())
    throw InputError(option, "\"" + text + "\" is more than 4,294,967,295");
  return static_cast<std::uint32_t>(number);
}

/// Ctrl-C: the draft is removed on the way out.
struct Interrupted {};

std::string describe_network(const Graph& graph) {
  Bytes bytes;
  for (const Tensor& t : persistent_tensors(graph)) bytes += byte_count(t.shape, t.dtype);
  return fmt::format("{}, {} of parameters and optimiser state",
                     counted(static_cast<std::int64_t>(graph.ops.size()), "op"), format_bytes(bytes));
}

std::string describe_storage(const firmware::Program& p, const runtime::Dataset& data) {
  return fmt::format("`card.img` has {} blocks of 512 bytes: {}, and {} ({}).",
                     format_count(static_cast<std::int64_t>(firmware::card_blocks(p, data.samples()))),
                     counted(static_cast<std::int64_t>(p.pages.size()), "page"),
                     counted(data.samples(), "sample"), data.description());
}

class Codegen final : public Command {
 public:
  explicit Codegen(CommandLine& program)
      : Command(program.command("codegen",
                                "write firmware in C that trains by a plan, and the image of its card")) {
    parser_.option("PLAN", plan_, "a plan, as poet solve --plan-out writes it", "").required();
    parser_
        .option("-o", folder_,
                "the folder for the firmware: a new or empty one, or one that poet codegen has written",
                "DIR")
        .required();
    parser_.option("--board", board_,
                   fmt::format("what it is for: {} (default host)", fmt::join(board_names(), ", ")), "NAME");
    parser_.option("--ram", ram_, "RAM that the firmware may touch (default: all that the board stands for)",
                   "BYTES");
    parser_.option("--weights", weights_, "what training starts from; without, seeded like PyTorch's",
                   "FILE.safetensors");
    parser_.option("--data", data_, "training data, as for poet run; without, a synthetic set", "PATH");
    parser_.option("--samples", samples_, "of the synthetic set (default 64)", "N");
    parser_.option("--seed", seed_, "of weights, data and their order (default 0)", "N");
    parser_.option("--steps", steps_, "training steps in all (default 10; 0: until the power goes)", "N");
    parser_.flag("--json", json_, "one JSON object instead of text");
    parser_.footer(
        "Examples:\n"
        "  poet solve --model linear --platform m0 --ram-budget 24KiB --plan-out my.plan\n"
        "  poet codegen my.plan -o firmware --steps 20 && make -C firmware run\n"
        "  poet card my.plan firmware/card.img --checkpoint my.safetensors\n"
        "\nExit code: 0 written, 2 bad input, 3 internal error; 130 interrupted. Where it is not 0, the "
        "folder is "
        "as it was.");
  }

  int run() override {
    const InterruptGuard guard("stopping; the folder stays as it was");
    const auto pause = [&guard] {
      if (guard.interrupted()) throw Interrupted();
    };
    try {
      return write(pause);
    } catch (const Interrupted&) {
      return 128 + SIGINT;
    }
  }

 private:
  int write(const std::function<void()>& pause) {
    const PlanFile file = checked_plan(plan_);
    const Graph& graph = file.instance.graph;
    firmware::Board board = firmware::board(board_);
    if (ram_) board = firmware::with_ram(board, parse_bytes("--ram", *ram_).value());
    firmware::CardOptions options;
    options.seed = parse_number("--seed", seed_);
    options.steps = parse_word("--steps", steps_);
    options.pause = pause;
    const firmware::Program program = firmware::program_of(file);
    std::vector<firmware::Memory> memory = firmware::memory_of(program, board);
    if (memory.front().processor == "cortex-m4")
      memory.front().instructions_per_step = firmware::instructions_per_step(file, program);
    firmware::check_fits(memory.front(), board);
    const std::unique_ptr<runtime::Dataset> data =
        data_ ? runtime::open_dataset(*data_, graph)
              : runtime::synthetic_dataset(graph, parse_count("--samples", samples_), options.seed);
    if (data->samples() < program.batch)
      throw InputError("--data",
                       fmt::format("has {} samples, a step takes {}", data->samples(), program.batch));
    options.data = data->description();
    const runtime::SafetensorsWeights weights(graph,
                                              weights_ ? std::optional<fs::path>(*weights_) : std::nullopt);
    const runtime::InitialWeights seeds(graph);
    pause();
    firmware::Draft draft(folder_);
    firmware::write_folder(draft.path(), program, board, memory,
                           {fs::path(plan_).filename().string(), describe_network(graph),
                            describe_storage(program, *data), options.seed});
    firmware::write_card(
        draft.path() / "card.img", graph, program,
        [&](ValueId v, std::byte* to) {
          if (!weights.read(v, to)) seeds.write(v, options.seed, to);
        },
        *data, options);
    pause();
    draft.commit();
    const fs::path card = fs::path(folder_) / "card.img";
    if (json_)
      print_answer(answer_json(memory.front(), board, program, *data, card));
    else
      print_answer(answer_text(memory.front(), board, program, *data, card));
    return kAnswer;
  }

  std::string plan_, folder_, board_ = "host", samples_ = "64", seed_ = "0", steps_ = "10";
  std::optional<std::string> ram_, weights_, data_;
  bool json_ = false;
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
    if (checkpoint_)
      firmware::write_checkpoint(*checkpoint_, file.instance.graph, file.instance.batch_size, state);
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
