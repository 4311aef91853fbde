#pragma once

// Child processes: run a function in a forked copy of this process, with messages both ways. All processes of
// poet are started here (programs: program.h).
//
// In the child
// - Only the calling thread exists. The allocator and stdio work (glibc handles both in fork()); a lock that
//   another thread of the parent held stays locked for ever. If the parent may have several threads, `work`
//   must use no mutex of theirs, no function-local static that they may be initialising, and no library with
//   locks that the parent uses too.
// - It is killed when the thread that made it ends, or the parent in any way (PR_SET_PDEATHSIG).
// - All descriptors but standard streams and the connection are closed.
// - Signal handlers are reset, signals that the parent ignores stay ignored, none is blocked. SIGPIPE is
//   ignored. SIGINT, SIGTERM and SIGHUP, which terminals and batch systems send to whole process groups, are
//   ignored too: the parent decides (but see `obeys_requests`).
// - It ends by _exit(), without destructors and exit handlers of the parent. It dumps no core.
//
// In the parent
// - No signal handlers are installed; all signals are blocked in the calling thread during the fork. Writing
//   to a child that has ended raises no SIGPIPE. Interrupted system calls are resumed.
// - A child is waited for by its process id. If other code waits for it, or SIGCHLD is ignored, its end is
//   unknown ("exit code -1").
// - A Child must be used by one thread at a time; different ones are independent.
//
// A fork takes about a millisecond for processes of a few megabytes; memory is shared until written to.

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <limits>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace poet {

/// The child's end of the connection.
class Parent {
 public:
  explicit Parent(int descriptor) : descriptor_(descriptor) {}
  /// Thread-safe. Blocks while the parent is busy; ends the process if the parent has ended.
  void send(std::string_view message);
  /// Waits for the next message and returns it, or nullopt if there will be none. One thread at a time.
  [[nodiscard]] std::optional<std::string> receive() const;
  /// Ends the process as if the work had returned `exit_code`. Thread-safe.
  [[noreturn]] void finish(int exit_code);

 private:
  std::mutex sending_;
  int descriptor_;
};

constexpr std::uint64_t kMostMessageBytes = std::uint64_t{1} << 30;

enum class Streams {
  keep,   // those of the parent
  quiet,  // standard input and output are /dev/null
  none,   // standard error, too; not in a build with sanitizers, whose findings are to be seen
};

struct ChildSettings {
  Streams streams = Streams::quiet;
  /// SIGINT, SIGTERM and SIGHUP are as in the parent (its handlers reset), and the child leads its own
  /// process group, which is killed as a whole. A terminal's Ctrl-C does not reach it; callers may forward
  /// it.
  bool obeys_requests = false;
  /// Limit of its address space, including what it inherits (RLIMIT_AS). Ignored in builds with sanitizers.
  std::optional<std::int64_t> memory_limit_bytes;
  /// A child that announces a longer message is killed and counts as lost: its code may be corrupted by
  /// untrusted input.
  std::uint64_t most_message_bytes = kMostMessageBytes;
};

/// How a child ended.
struct ChildEnd {
  enum class How {
    finished,  // the work returned
    stopped,   // by run_child(): the clock or a callback
    lost,      // it crashed, threw, exited by itself or was killed
  };
  How how = How::lost;
  int exit_code = 0;            // the work's, when finished; 1 after an exception
  int signal = 0;               // that ended it; 0: it exited
  double cpu_seconds = 0;       // with children that it waited for
  std::int64_t peak_bytes = 0;  // resident
};

/// "signal 9", "exit code 1".
[[nodiscard]] std::string to_string(const ChildEnd& end);

/// The function that a child runs; returns its exit code.
using ChildWork = std::function<int(Parent&)>;

class Child {
 public:
  /// Forks. Throws InputError "a child process: cannot be started: ..." if the system refuses, as for lack of
  /// processes, memory or descriptors.
  explicit Child(const ChildWork& work, const ChildSettings& settings = {});
  /// Kills the child.
  ~Child();
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  Child(Child&&) = delete;
  Child& operator=(Child&&) = delete;

  /// Sends a message; blocks while the system's buffer (some 200 KB) is full. Returns false if the child has
  /// ended.
  bool send(std::string_view message) const;

  /// Waits up to `seconds` for the next message. Returns nullopt if none has arrived in full, or if there
  /// will be none (see open()).
  [[nodiscard]] std::optional<std::string> receive(double seconds = std::numeric_limits<double>::infinity());

  /// After receive() has returned nullopt: whether more messages may come. False once the work has ended.
  [[nodiscard]] bool open() const { return open_; }

  /// Readable if receive() may return a message.
  [[nodiscard]] int descriptor() const { return descriptor_; }
  [[nodiscard]] pid_t id() const { return process_; }

  /// Kills the child unless it has ended. Messages that have arrived can still be received.
  const ChildEnd& kill();

  /// Waits until the child ends. Drops messages that were not received.
  const ChildEnd& wait();

  [[nodiscard]] bool has_ended() const;

 private:
  bool next(std::string& message);
  void read_what_is_there();
  void reap();

  pid_t process_ = 0;
  int descriptor_ = -1;
  bool own_group_ = false;
  std::uint64_t most_message_bytes_ = kMostMessageBytes;
  bool reaped_ = false;
  bool open_ = true;
  std::string arrived_;
  std::size_t taken_ = 0;
  ChildEnd end_;
};

/// Waits until receive() of one of them may return a message, at most `seconds`.
void wait_for_news(const std::vector<const Child*>& children, double seconds);

/// Seconds since some moment, on the clock of a child's time limit: of its work (work_clock.h), or the
/// wall's.
[[nodiscard]] double limit_seconds(const Child& child, bool limits_work);

struct ChildWatch {
  double time_limit_seconds = std::numeric_limits<double>::infinity();
  /// Whether the limit is one of work (work_clock.h), for children that compute and wait for nothing.
  bool limits_work = false;
  /// Called for every message in order; if it returns false the child is stopped and later messages are
  /// dropped.
  std::function<bool(std::string&&)> receive;
  /// Called at least every 20 ms; if it returns false the child is stopped. Messages that have arrived by
  /// then are still received.
  std::function<bool()> keep_going;
};

/// Runs `work` in a child until it returns, is stopped or dies. The child has ended when this returns or
/// throws an exception of a callback.
[[nodiscard]] ChildEnd run_child(const ChildWork& work, const ChildWatch& watch,
                                 const ChildSettings& settings = {});

}  // namespace poet
