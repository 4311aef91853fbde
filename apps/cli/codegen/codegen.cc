// poet codegen: firmware that trains by a plan, and the image of its card.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "apps/cli/codegen/answer.h"
#include "apps/cli/codegen/plan_for_board.h"
#include "apps/cli/command.h"
#include "apps/shared/activity.h"
#include "apps/shared/amounts.h"
#include "apps/shared/interrupt.h"
#include "apps/shared/live_line.h"
#include "apps/shared/output.h"
#include "apps/shared/terminal.h"
#include "apps/shared/training/optimizer_options.h"
#include "apps/shared/training/options.h"
#include "firmware/engine/poet_engine.h"
#include "poet/base/amounts.h"
#include "poet/base/error.h"
#include "poet/firmware/card.h"
#include "poet/firmware/draft.h"
#include "poet/firmware/folder.h"
#include "poet/firmware/memory.h"
#include "poet/frontend/onnx/weights.h"
#include "poet/graph/parts.h"
#include "poet/runtime/data/dataset.h"
#include "poet/runtime/training/checkpoint.h"
#include "poet/runtime/weights/initial_weights.h"
#include "poet/runtime/weights/safetensors_weights.h"
#include "poet/weights/onnx_network.h"

namespace poet::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kWhichPlan =
    "is no amount of bytes (try 300KiB): it says which of the file's plans to take, by the RAM that they "
    "have";

std::vector<std::string> board_names() {
  std::vector<std::string> names;
  for (const firmware::Board& b : firmware::boards()) names.push_back(b.name);
  return names;
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

/// What training starts from: --weights, be it a checkpoint or an ONNX file, else seeds.
class FirstWeights {
 public:
  FirstWeights(const Graph& graph, std::int64_t batch_size, const std::optional<std::string>& file,
               std::uint64_t seed)
      : graph_(graph),
        seed_(seed),
        checkpoint_(graph, file && !is_onnx(*file) ? std::optional<fs::path>(*file) : std::nullopt),
        seeds_(graph) {
    if (!file || !is_onnx(*file)) return;
    onnx_.emplace(*file, import_for_weights(*file, batch_size, parameter_names(graph)));
    std::vector<std::byte> bytes;
    for (const ValueId v : runtime::persistent_values(graph)) {
      const Value value = at_home(graph.values[v]);
      bytes.resize(static_cast<std::size_t>(value.bytes.value()));
      if (onnx_->read(value, bytes.data())) return;
    }
    throw InputError(*file, "holds no tensor with the name of one of the network's parameters");
  }
  void write(ValueId v, std::byte* to) const {
    if (onnx_ ? onnx_->read(at_home(graph_.values[v]), to) : checkpoint_.read(v, to)) return;
    seeds_.write(v, seed_, to);
  }

 private:
  const Graph& graph_;
  std::uint64_t seed_;
  runtime::SafetensorsWeights checkpoint_;
  runtime::InitialWeights seeds_;
  std::optional<OnnxWeights> onnx_;
};

/// A line on stderr while a large card is written: over and over on a terminal, else now and then.
class CardProgress {
 public:
  CardProgress(bool quiet, std::uint64_t blocks) : quiet_(quiet), blocks_(blocks) {}
  ~CardProgress() {
    if (live_ && shown_) remove_line(stderr);
  }
  CardProgress(const CardProgress&) = delete;
  CardProgress& operator=(const CardProgress&) = delete;
  CardProgress(CardProgress&&) = delete;
  CardProgress& operator=(CardProgress&&) = delete;

  void show(std::uint64_t blocks) {
    const Clock::time_point now = Clock::now();
    if (quiet_ || now - last_ < (live_ ? std::chrono::milliseconds(200) : std::chrono::seconds(10))) return;
    last_ = now;
    shown_ = true;
    const std::string text = fmt::format("writing the card: {} of {}", bytes_of(blocks), bytes_of(blocks_));
    if (live_)
      draw_line(stderr, text);
    else
      std::fputs(("poet: " + text + "\n").c_str(), stderr);
  }

 private:
  using Clock = std::chrono::steady_clock;
  static std::string bytes_of(std::uint64_t blocks) {
    return format_bytes(Bytes(static_cast<std::int64_t>(blocks * POET_BLOCK)));
  }

  bool quiet_;
  bool live_ = is_live(stderr);
  std::uint64_t blocks_;
  bool shown_ = false;
  Clock::time_point last_ = Clock::now();
};

class Codegen final : public Command {
 public:
  explicit Codegen(CommandLine& program)
      : Command(
            program.command("codegen", "generate C firmware that trains by a plan, with its card image")) {
    parser_.option("PLAN", plan_, "plan file (poet solve --plan-out)", "").required();
    parser_
        .option("-o", folder_, "folder for the firmware: new, empty, or written by poet codegen before",
                "DIR")
        .required();
    parser_.option("--board", board_,
                   fmt::format("target board: {} (default host)", fmt::join(board_names(), ", ")),
                   fmt::format("{}", fmt::join(board_names(), "|")));
    parser_.option("--ram", ram_,
                   "RAM that the firmware may use, a power of two (default: all RAM of the microcontroller "
                   "that the board stands for)",
                   "BYTES");
    parser_.option("--ram-budget", budget_,
                   "of a file with several plans, use the largest within this budget (default: the largest "
                   "that fits the board)",
                   "BYTES");
    parser_.option("--weights", weights_,
                   "initial weights: a checkpoint or an ONNX file (default: initialised as in PyTorch)",
                   "FILE");
    parser_.option("--data", data_,
                   "training data, in the formats of poet run --data (default: a synthetic data set)",
                   "PATH");
    parser_.option("--samples", samples_, "size of the synthetic data set (default 64)", "N");
    parser_.option("--seed", seed_, "seed of initial weights, data and data order (default 0)", "N");
    parser_.option("--steps", steps_, "total training steps (default 10; 0: until power is lost)", "N");
    add_optimizer_options(parser_.group("Optimiser"), optimizer_);
    parser_.flag("--json", json_, "print one JSON object instead of text");
    parser_.flag("--quiet", quiet_, "no progress on stderr");
    parser_.footer(
        "Examples:\n"
        "  poet solve --model linear --platform m0 --ram-budget 24KiB --plan-out my.plan\n"
        "  poet codegen my.plan -o firmware --steps 20 && make -C firmware run\n"
        "  poet card my.plan firmware/card.img --checkpoint my.safetensors\n"
        "\nExit code: 0 written, 2 bad input, 3 internal error; 130 interrupted. "
        "Where it is not 0, the folder is as it was.");
  }

  int run() override {
    const InterruptGuard guard("stopping; the folder stays as it was");
    try {
      return write([&guard] {
        if (guard.interrupted()) throw Interrupted();
      });
    } catch (const Interrupted&) {
      return 128 + SIGINT;
    }
  }

 private:
  int write(const std::function<void()>& pause) {
    firmware::Board board = firmware::board(board_);
    if (ram_) board = firmware::with_ram(board, parse_bytes("--ram", *ram_).value());
    firmware::CardOptions options;
    options.seed = parse_whole("--seed", seed_);
    options.steps = parse_word("--steps", steps_);
    options.optimizer = {read_hyperparameters(optimizer_), read_schedule(optimizer_)};
    const auto budget =
        budget_ ? std::optional(parse_bytes("--ram-budget", *budget_, kWhichPlan)) : std::nullopt;
    std::optional<Activity> activity;
    if (!quiet_) activity.emplace("checking " + plan_);
    std::vector<firmware::Memory> memory;
    const PlanForBoard plan = plan_for_board(checked_plans(plan_, budget), options.optimizer, board, memory);
    const firmware::Program& program = plan.program;
    const Graph& graph = plan.file.instance.graph;
    if (memory.front().processor == "cortex-m4")
      memory.front().instructions_per_step = firmware::instructions_per_step(plan.file, program);
    const std::unique_ptr<runtime::Dataset> data =
        data_ ? runtime::open_dataset(*data_, graph)
              : runtime::synthetic_dataset(graph, parse_count("--samples", samples_), options.seed);
    if (data->samples() < program.batch)
      throw InputError("--data",
                       fmt::format("has {} samples, a step takes {}", data->samples(), program.batch));
    options.data = data->description();
    options.power_of_two = board.has_sd_card && !board.machine.empty();
    const std::uint64_t blocks = firmware::card_blocks(program, data->samples());
    check_card(board, firmware::image_blocks(blocks, options.power_of_two));
    const FirstWeights weights(graph, program.batch, weights_, options.seed);
    pause();
    firmware::Draft draft(folder_);
    firmware::write_folder(
        draft.path(), program, board, memory,
        {fs::path(plan_).filename().string(), describe_network(graph), describe_storage(program, *data),
         fmt::format("{}, the rate's schedule {}", runtime::describe_optimizer(graph),
                     runtime::describe_schedule(options.optimizer.schedule)),
         options.seed});
    const fs::path card = fs::path(folder_) / "card.img";
    activity.reset();
    {
      CardProgress progress(quiet_, blocks);
      options.name = card;
      options.progress = [&](std::uint64_t written) {
        pause();
        progress.show(written);
      };
      firmware::write_card(
          draft.path() / "card.img", graph, program, [&](ValueId v, std::byte* to) { weights.write(v, to); },
          *data, options);
    }
    pause();
    draft.commit();
    if (json_)
      print_answer(answer_json(memory.front(), board, program, *data, card));
    else
      print_text(answer_text(memory.front(), board, program, *data, card));
    return kAnswer;
  }

  static void check_card(const firmware::Board& board, std::uint64_t blocks) {
    const std::uint64_t most = board.most_card_bytes();
    if (most > 0 && blocks > most / POET_BLOCK)
      throw InputError(
          "--data",
          fmt::format("the card would have {}, and {} reaches less than 4 GiB of a file",
                      format_bytes(Bytes(static_cast<std::int64_t>(blocks * POET_BLOCK))), board.name));
  }

  std::string plan_, folder_, board_ = "host", samples_ = "64", seed_ = "0", steps_ = "10";
  std::optional<std::string> ram_, budget_, weights_, data_;
  OptimizerOptions optimizer_;
  bool json_ = false, quiet_ = false;
};

}  // namespace

std::unique_ptr<Command> make_codegen(CommandLine& program) { return std::make_unique<Codegen>(program); }

}  // namespace poet::cli
