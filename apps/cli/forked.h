#pragma once

// Work in a process of its own, so that the memory it takes is not this process's.

#include <sys/types.h>

#include <functional>
#include <string>

namespace poet::cli {

class Forked {
 public:
  /// Starts `work` with the writing end of a pipe. What it throws is said on stderr, as the program says it.
  /// Ctrl-C is passed on to it while this process reads or waits; it ends with this process. To be made
  /// while no other thread of this process holds a lock. Throws InternalError when the system gives no
  /// process.
  explicit Forked(const std::function<int(int pipe)>& work);
  ~Forked();  // ends it
  Forked(const Forked&) = delete;
  Forked& operator=(const Forked&) = delete;
  Forked(Forked&&) = delete;
  Forked& operator=(Forked&&) = delete;

  /// Exactly `count` bytes of what it writes; false when it ends before.
  [[nodiscard]] bool read(void* to, std::size_t count);
  /// Everything that it writes until it closes the pipe or ends.
  [[nodiscard]] std::string read_all();
  /// Until it has ended: its exit code, 130 after Ctrl-C. `what` it is: "what solves for the plan". Throws
  /// InternalError when another signal has ended it, as systems do that run out of memory.
  [[nodiscard]] int wait(const std::string& what);

 private:
  /// What waitpid() says.
  int reap();

  pid_t child_ = -1;
  int pipe_ = -1;
};

/// All of them. Throws InternalError when the reader has gone.
void write_all(int pipe, const void* bytes, std::size_t count);

}  // namespace poet::cli
