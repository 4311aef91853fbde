#pragma once

namespace poet::cli {

/// The whole program: parses the command line, runs its command, reports errors as one line on stderr.
/// Returns the exit code. It changes the process's signals, so it is the last thing that a process does.
/// `file` starts the program again.
[[nodiscard]] int run_program(int argc, const char* const* argv, const char* file = "/proc/self/exe");

}  // namespace poet::cli
