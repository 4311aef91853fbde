#pragma once

// A command of a program: its constructor declares options, run() runs after parsing.

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "apps/shared/parser.h"

namespace poet::cli {

/// Exit codes of all commands; the last two come from exceptions (errors.h).
constexpr int kAnswer = 0;
constexpr int kNoAnswer = 1;  // infeasible or unknown; for verify: invalid; for run: not all steps
constexpr int kBadInput = 2;
constexpr int kInternalError = 3;

class Command {
 public:
  virtual ~Command() = default;
  explicit Command(Parser parser) : parser_(std::move(parser)) {}
  Command(const Command&) = delete;
  Command& operator=(const Command&) = delete;
  Command(Command&&) = delete;
  Command& operator=(Command&&) = delete;

  /// Runs with the parsed options and returns the exit code.
  virtual int run() = 0;

  /// Whether the command line names this command.
  [[nodiscard]] bool called() const { return parser_.called(); }

 protected:
  Parser parser_;
};

/// `profile`, which both programs have.
[[nodiscard]] std::unique_ptr<Command> make_profile(CommandLine& program);

/// Parses the command line and runs its command, or prints help or version. Returns the exit code. `names`
/// lists the commands for the error that none is given. Throws InputError, and as the command does.
[[nodiscard]] int run_commands(CommandLine& program, const std::vector<std::unique_ptr<Command>>& commands,
                               const std::string& names, int argc, const char* const* argv);

}  // namespace poet::cli
