#pragma once

// A subcommand of a program: it declares its options when made, and runs after the command line was parsed.

#include <memory>

namespace CLI {
class App;
}

namespace poet::cli {

/// Exit codes that every command keeps to; the last two come from exceptions (errors.h).
constexpr int kAnswer = 0;
constexpr int kNoAnswer = 1;  // infeasible or unknown; for verify: invalid; for run: not all steps
constexpr int kBadInput = 2;
constexpr int kInternalError = 3;

class Command {
 public:
  virtual ~Command() = default;
  Command() = default;
  Command(const Command&) = delete;
  Command& operator=(const Command&) = delete;
  Command(Command&&) = delete;
  Command& operator=(Command&&) = delete;

  /// Runs with the options as parsed and returns the exit code.
  virtual int run() = 0;

  /// Whether the user called this one.
  [[nodiscard]] bool called() const;

 protected:
  CLI::App* app_ = nullptr;  // owned by the parent
};

/// `profile`, which both programs have.
[[nodiscard]] std::unique_ptr<Command> make_profile(CLI::App& parent);

}  // namespace poet::cli
