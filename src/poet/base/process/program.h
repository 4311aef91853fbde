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
};

/// Runs it in a process group of its own, with SIGINT, SIGTERM and SIGPIPE as they are by default,
/// and otherwise as any child (child.h). Stopped, with all that it has started in its group, when time is up
/// or when keep_going, called every 20 ms, is false. Else it is `finished`, with its exit code, or 128 + the
/// signal that ended it. Callers may have several threads. Throws InputError, the program's name its place,
/// where it cannot be started.
[[nodiscard]] ChildEnd run_program(const ProgramCall& call,
                                   double time_limit_seconds = std::numeric_limits<double>::infinity(),
                                   const std::function<bool()>& keep_going = {});

}  // namespace poet
