#pragma once

#include <functional>
#include <string>

namespace poet::cli {

/// Thrown when a child process has failed and reported why: the program ends with its exit code.
struct SaidElsewhere {
  int exit_code;
};

/// Prints "poet: MESSAGE" to stderr, in one line even if the message has several.
void print_diagnostic(std::string message);

/// Makes errors print as JSON to stdout, too, if the command line has --json (docs/formats.md, "Errors").
void report_errors_as_json(int argc, const char* const* argv);

/// Returns the result of `work`. If it throws, prints the diagnostic and returns the exit code: 2 bad input,
/// 3 internal error.
[[nodiscard]] int exit_code_of(const std::function<int()>& work);

/// Call it first. Closed pipes (`poet models | head -1`) and file-size limits make writes fail instead of
/// killing the process; child processes can be waited for even if the parent ignored SIGCHLD; and an escaped
/// exception prints a diagnostic and exits with 3 instead of a signal.
void set_up_signals();

}  // namespace poet::cli
