#pragma once

// Other programs, run and waited for.

#include <filesystem>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "poet/base/process/child.h"

namespace poet {

struct ProgramCall {
  std::vector<std::string> arguments;  // the first is the program, looked for in PATH
  std::filesystem::path folder;        // that it works in; empty: this process's
  std::filesystem::path input;         // its standard input; empty: /dev/null. Relative to the folder
  std::filesystem::path output;        // its standard output, replaced; empty: /dev/null
  std::filesystem::path messages;      // its standard error, replaced; empty: this process's
  std::optional<std::vector<std::string>> environment;  // "NAME=value"; absent: this process's
  std::optional<std::int64_t> memory_limit_bytes = {};  // of its address space (ChildSettings)
  bool is_background = false;                           // it leaves the processor to others (nice 10)
  bool limits_work = false;                             // its time limit is one of work (ChildWatch)
};

/// Runs a program as a child (child.h) with its own process group and default SIGINT, SIGTERM and SIGPIPE.
/// Kills the group once time is up or keep_going, called every 20 ms, returns false: the end is `stopped`.
/// Otherwise it is `finished`, with the exit code, or 128 + the number of the signal that ended it. Callers
/// may have several threads. Throws InputError with the program's name as its place if it cannot be run, or
/// if no process can be started.
[[nodiscard]] ChildEnd run_program(const ProgramCall& call,
                                   double time_limit_seconds = std::numeric_limits<double>::infinity(),
                                   const std::function<bool()>& keep_going = {});

}  // namespace poet
