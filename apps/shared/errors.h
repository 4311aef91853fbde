#pragma once

#include <functional>
#include <string>

namespace poet::cli {

/// Thrown where a process of ours has failed and said why: nothing is left but to end with its exit code.
struct SaidElsewhere {
  int exit_code;
};

/// "poet: MESSAGE" on stderr, one line whatever a library wrote into its exception.
void print_diagnostic(std::string message);

/// Whether the command line asks for JSON: then errors are an object on stdout (docs/formats.md, "Errors"),
/// beside the line on stderr.
void report_errors_as_json(int argc, const char* const* argv);

/// What `work` returns; where it throws, the diagnostic and the exit code of that failure: 2 bad input, 3
/// internal error.
[[nodiscard]] int exit_code_of(const std::function<int()>& work);

/// At the program's beginning. A reader that leaves early (`poet models | head -1`) and a limit on the size
/// of files make writes fail instead of ending the process; the ends of child processes can be waited for,
/// whatever whoever started this one wanted; and an exception where none may be is a diagnostic and exit code
/// 3 instead of a signal.
void set_up_signals();

}  // namespace poet::cli
