#include "poet/firmware/memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "firmware/engine/poet_engine.h"
#include "poet/base/amounts.h"
#include "poet/base/data_dir.h"
#include "poet/base/error.h"
#include "poet/cost/device.h"
#include "poet/cost/json_reader.h"
#include "poet/cost/tabulate.h"
#include "poet/graph/float32_copies.h"

namespace poet::firmware {
namespace {

constexpr std::int64_t kStackAlignment = 8;  // of the ABI, and of what a Cortex-M pushes for an interrupt
constexpr std::int64_t kFlashAlignment = 8;
constexpr std::int64_t kPointer = 4;

std::int64_t rounded_up(std::int64_t bytes, std::int64_t alignment) {
  return (bytes + alignment - 1) / alignment * alignment;
}

std::int64_t bytes_in(const JsonField& field) { return field.integer(0, kMostBytes); }

/// The tables that plan.c has.
std::int64_t table_bytes(const Program& p) {
  const auto count = [](const auto& items) { return static_cast<std::int64_t>(items.size()); };
  std::int64_t bytes =
      rounded_up(count(p.shapes) * static_cast<std::int64_t>(sizeof(poet_shape)), 8) +
      rounded_up(count(p.shape_bytes), 8) + rounded_up(2 * kPointer * count(p.kernels), 8) +
      static_cast<std::int64_t>(sizeof(poet_plan_data));  // pointers there are 4 bytes, here 8
  bytes += count(p.row_indices) * static_cast<std::int64_t>(sizeof(poet_indices)) +
           count(p.rows) * static_cast<std::int64_t>(sizeof(poet_table_rows));
  for (const KernelFunction* k : p.kernels) bytes += rounded_up(count(k->name) + 1, 4);
  return bytes;
}

void add_stack(Memory& to, const Program& program, const JsonField& processor, const JsonField& board) {
  std::int64_t deepest = bytes_in(board.at("stack_besides"));
  const std::int64_t to_kernel = bytes_in(board.at("stack_to_kernel"));
  for (const KernelFunction* k : program.kernels) {
    const std::int64_t depth = to_kernel + bytes_in(processor.at("kernels").at(k->name).at("stack"));
    if (depth <= deepest) continue;
    deepest = depth;
    to.deepest_kernel = k->name;
  }
  to.stack_bytes = rounded_up(deepest, kStackAlignment) + bytes_in(processor.at("frame")) +
                   rounded_up(bytes_in(board.at("stack_handler")), kStackAlignment);
}

std::int64_t code_bytes(const Program& program, const JsonField& processor, const JsonField& board) {
  std::set<std::string> pieces;
  const auto take = [&pieces](const JsonField& names) {
    for (const JsonField& name : names.items()) pieces.insert(name.text());
  };
  take(board.at("pieces"));
  for (const KernelFunction* k : program.kernels) take(processor.at("kernels").at(k->name).at("pieces"));
  std::int64_t bytes = kFlashAlignment;  // between code and constants
  for (const std::string& piece : pieces) bytes += bytes_in(processor.at("pieces").at(piece));
  return rounded_up(bytes, kFlashAlignment);
}

/// Instructions of poet_widen and poet_round, as e2e_firmware_counts_off pins them.
double conversions(const Graph& graph, OpId op) {
  constexpr double kPerCall = 60, kPerWidened = 5, kPerRounded = 11;
  const Float32Copies copies = float32_copies(graph, op);
  double sum = 0;
  for (const Float32Copies::Copy& copy : copies.read)
    sum += kPerCall + kPerWidened * static_cast<double>(copy.count);
  for (const Float32Copies::Copy& copy : copies.written)
    sum += kPerCall + kPerRounded * static_cast<double>(copy.count);
  return sum;
}

}  // namespace

PlanArrays plan_arrays(const Program& program) {
  const auto even = [](std::size_t n) { return std::max<std::size_t>(n + n % 2, 2); };
  std::size_t most = 0;
  for (const ShapeEntry& shape : program.shapes) most = std::max(most, shape.operands);
  return {even(program.row_numbers), even(most)};
}

std::vector<Memory> memory_of(const Program& program, const Board& board) {
  Memory plan;
  const PlanArrays arrays = plan_arrays(program);
  const auto array_bytes = kPointer * static_cast<std::int64_t>(arrays.row_numbers + arrays.operands);
  plan.arena_bytes = program.arena_bytes;
  plan.resident_bytes = program.ram_bytes - program.arena_bytes;
  plan.shape_bytes = table_bytes(program);
  plan.program_bytes = static_cast<std::int64_t>(program.code.size());
  if (board.ram_bytes == 0) return {plan};

  const std::filesystem::path file = data_dir() / "firmware_memory.json";
  const nlohmann::ordered_json json = read_json_file(file);
  const JsonField table(json, file.string());
  std::vector<Memory> all;
  const JsonField processors = table.at("boards").at(board.name);
  for (const auto& name : board.processors) {
    Memory& memory = all.emplace_back(plan);
    const JsonField processor = table.at("processors").at(name);
    const JsonField of_board = processors.at(name);
    memory.processor = name;
    memory.buffer_bytes = bytes_in(of_board.at("buffers")) + array_bytes;
    add_stack(memory, program, processor, of_board);
    memory.code_bytes = code_bytes(program, processor, of_board);
  }
  // One folder for all of the processors: the program lies at one place.
  const bool on_card = std::any_of(all.begin(), all.end(), [&board](const Memory& memory) {
    return memory.flash_bytes() > board.flash_bytes;
  });
  for (Memory& memory : all) {
    memory.program_on_card = on_card;
    if (on_card) memory.program_bytes = 0;
  }
  return all;
}

std::int64_t instructions_per_step(const PlanFile& file, const Program& program) {
  constexpr double kHertz = 64e6;  // of the profile: one instruction per clock
  const DeviceProfile device = find_device("m4-emulated");
  const CostTable costs = tabulate(file.instance.graph, device, PersistentPolicy::automatic);
  const Graph& graph = file.instance.graph;
  Seconds sum;
  for (const Step& step : file.plan.steps) {
    if (step.kind == StepKind::compute)
      sum += costs.ops[step.op].runtime + Seconds(conversions(graph, step.op) / kHertz);
    if (step.kind == StepKind::page_in) sum += costs.values[step.value].page_in.seconds;
    if (step.kind == StepKind::page_out) sum += costs.values[step.value].page_out.seconds;
  }
  const auto record = static_cast<double>(program.ram_bytes - program.arena_bytes);
  sum += Seconds(record / device.storage->page_out.bytes_per_second);
  return static_cast<std::int64_t>(sum.value() * kHertz);
}

void check_fits(const Memory& m, const Board& board) {
  if (board.ram_bytes == 0) return;
  const auto bytes = [](std::int64_t n) { return format_count(n); };
  if (m.ram_bytes() > board.ram_bytes) {
    const std::int64_t left = board.ram_bytes - m.buffer_bytes - m.stack_bytes;
    const std::string suggestion =
        left > 0 ? fmt::format("solve with --ram-budget {} --split auto --persistent auto", left)
                 : "no plan fits beside buffers and stack";
    throw InputError(
        "--board",
        fmt::format("{} has {} bytes of RAM; the plan takes {}, buffers {}, the stack {}, in all {}: {}",
                    board.name, bytes(board.ram_bytes), bytes(m.arena_bytes + m.resident_bytes),
                    bytes(m.buffer_bytes), bytes(m.stack_bytes), bytes(m.ram_bytes()), suggestion));
  }
  if (m.flash_bytes() > board.flash_bytes)
    throw InputError(
        "--board",
        fmt::format("{} has {} bytes of flash; code takes up to {}, shapes of operands {}, in all {}: solve "
                    "with a larger --ram-budget (fewer parts have fewer shapes), or take a board with more",
                    board.name, bytes(board.flash_bytes), bytes(m.code_bytes), bytes(m.shape_bytes),
                    bytes(m.flash_bytes())));
}

}  // namespace poet::firmware
