// poet pack: addresses for the buffers of other compilers, in one arena or several memories.

#include <fmt/format.h>

#include <iostream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "apps/cli/command.h"
#include "apps/cli/pack/pack_answer.h"
#include "apps/shared/amounts.h"
#include "apps/shared/interrupt.h"
#include "apps/shared/output.h"
#include "poet/base/error.h"
#include "poet/base/write_file.h"
#include "poet/cost/json_reader.h"
#include "poet/report/memory_map.h"

namespace poet::cli {
namespace {

std::string read_input(const std::string& file) {
  if (file != "-") return read_text_file(file);
  return {std::istreambuf_iterator<char>(std::cin), std::istreambuf_iterator<char>()};
}

std::vector<Bank> parse_banks(const std::vector<std::string>& texts) {
  std::vector<Bank> banks;
  for (const std::string& text : texts) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0 || text.find(',') != std::string::npos)
      throw InputError("--bank", fmt::format("\"{}\" is not NAME=BYTES, such as sram=256KiB", text));
    Bank bank{text.substr(0, equals), parse_bytes("--bank", text.substr(equals + 1)).value()};
    for (const Bank& other : banks)
      if (other.name == bank.name) throw InputError("--bank", fmt::format("names \"{}\" twice", bank.name));
    banks.push_back(std::move(bank));
  }
  return banks;
}

class Pack final : public Command {
 public:
  explicit Pack(CommandLine& program)
      : Command(program.command("pack", "place another compiler's buffers in memory")) {
    parser_
        .option("FILE", file_,
                "table of buffers (.csv) with the columns id, lower, upper and size; - reads stdin", "")
        .required();
    parser_.option("--capacity", capacity_,
                   "bytes that the arena may take (default: the least that is found)", "BYTES");
    parser_.option("--bank", banks_,
                   "a memory and its bytes, such as sram=256KiB; again for each one: every buffer goes into "
                   "one of them",
                   "NAME=BYTES");
    parser_.option("--time-limit", time_limit_, "time limit of the search (default 10s)", "TIME");
    parser_.option("-o,--output", output_, "file for the table with offsets (default, or -: stdout)",
                   "FILE.csv");
    parser_.option("--picture", picture_,
                   "also draw addresses over time: a figure (.svg, .png, .pdf) or its gnuplot script (.gp)",
                   "FILE");
    parser_.flag("--json", json_, "print one JSON object instead of the table and text");
    parser_.footer(
        "Example:\n"
        "  poet pack buffers.csv --capacity 1MiB -o offsets.csv\n"
        "\nExit code: 0 packed, 1 no packing within the capacity or found, 2 bad input, 3 internal error.");
  }

  int run() override {
    if (output_ == "-") {
      if (json_) throw InputError("-o", "- and --json exclude each other: both are stdout");
      output_.reset();
    }
    check_options();
    const BufferTable table = read_buffer_table(read_input(file_), file_ == "-" ? "stdin" : file_);
    PackProblem problem{table.buffers, parse_banks(banks_), std::nullopt};
    if (capacity_) problem.capacity = parse_bytes("--capacity", *capacity_).value();
    if (problem.capacity) use_units_of(Bytes(*problem.capacity));
    if (!problem.banks.empty()) use_units_of(Bytes(problem.banks.front().bytes));
    const double seconds = time_limit_ ? parse_duration("--time-limit", *time_limit_).value() : 10;
    const Stop time;
    const PackSolution solution = solved(problem, seconds);
    const double elapsed = time.elapsed();
    const bool packed = is_packed(solution.verdict);
    if (packed && output_) write_file(*output_, buffer_table_text(table, problem.banks, solution));
    if (packed && picture_) write_memory_map(pack_map(problem, solution), *picture_);
    print(table, problem, solution, elapsed);
    return packed ? kAnswer : kNoAnswer;
  }

 private:
  void check_options() const {
    if (capacity_ && !banks_.empty())
      throw InputError("--capacity", "excludes --bank: each bank has its own");
    if (output_) check_writable("-o", *output_);
    if (!picture_) return;
    if (!is_figure(*picture_))
      throw InputError("--picture", fmt::format("\"{}\" must end in .svg, .png, .pdf or .gp", *picture_));
    check_writable("--picture", *picture_);
  }

  static PackSolution solved(const PackProblem& problem, double seconds) {
    constexpr std::int64_t kUnlimited = std::int64_t{1} << 60;  // but for the time
    const InterruptGuard guard;
    return solve_packing(problem, kUnlimited, Stop(seconds, [&guard] { return guard.interrupted(); }));
  }

  void print(const BufferTable& table, const PackProblem& problem, const PackSolution& solution,
             double seconds) const {
    if (json_) {
      print_answer(pack_json(problem, solution, seconds));
      return;
    }
    std::string text = pack_text(problem, solution, seconds);
    if (output_ && is_packed(solution.verdict)) text += fmt::format("{:<14}{}\n", "Offsets", *output_);
    if (picture_ && is_packed(solution.verdict)) text += fmt::format("{:<14}{}\n", "Picture", *picture_);
    if (output_ || !is_packed(solution.verdict)) {
      print_text(text);
    } else {
      std::fputs(text.c_str(), stderr);
      print_answer(buffer_table_text(table, problem.banks, solution));
    }
  }

  std::string file_;
  std::optional<std::string> capacity_, time_limit_, output_, picture_;
  std::vector<std::string> banks_;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_pack(CommandLine& program) { return std::make_unique<Pack>(program); }

}  // namespace poet::cli
