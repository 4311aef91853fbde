#pragma once

// Child processes: a function in a forked copy of this process, and messages both ways. Every process that
// poet starts is started here (programs: program.h).
//
// In the child
// - There is the calling thread only. The allocator and stdio work (glibc sees to both when it forks); a lock
//   that another thread of the parent held stays locked for ever. So where the parent may have several
//   threads, `work` uses nothing that one of them may be in the middle of: no mutex of theirs, no
//   function-local static that they may be initialising, no library with locks that the parent uses, too.
// - It is killed when the parent ends, however that ends, and already when the thread ends that made it
//   (PR_SET_PDEATHSIG), if the child had begun by then.
// - Descriptors are closed but for standard streams and the connection: no other child's end is held open.
// - Signal handlers are reset, what the parent ignores stays ignored, nothing is blocked. SIGPIPE is ignored.
//   SIGINT, SIGTERM and SIGHUP, which reach whole groups of processes from terminals and batch systems, are
//   ignored, too: the parent decides (but see `obeys_requests`).
// - It ends by _exit(): destructors and exit handlers are the parent's. It dumps no core.
//
// In the parent
// - Nothing is installed and nothing ignored; all signals are blocked for the time of the fork in the calling
//   thread. Writing to a child that is gone is no SIGPIPE. Interrupted system calls are taken up again.
// - A child is waited for by its own number. Nobody else may wait for it, nor SIGCHLD be ignored; where it
//   is, how the child ended is not known ("exit code -1").
// - A Child is for one thread at a time; different ones are independent.
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
  /// Any thread may. Blocks while the parent is busy; ends the process when the parent is gone.
  void send(std::string_view message);
  /// The next message, waited for. Nothing: there will be none. One thread at a time.
  [[nodiscard]] std::optional<std::string> receive() const;
  /// As if the work had returned `exit_code`, from anywhere.
  [[noreturn]] void finish(int exit_code);

 private:
  std::mutex sending_;
  int descriptor_;
};

constexpr std::uint64_t kMostMessageBytes = std::uint64_t{1} << 30;

enum class Streams {
  keep,   // the parent's
  quiet,  // standard input and output are /dev/null
  none,   // standard error, too; not in a build with sanitizers, whose findings are to be seen
};

struct ChildSettings {
  Streams streams = Streams::quiet;
  /// SIGINT, SIGTERM and SIGHUP are as in the parent (its handlers reset), and the child has a process group
  /// of its own: a terminal's Ctrl-C does not reach it; who wants that passes it on. Its whole group is
  /// killed.
  bool obeys_requests = false;
  /// Of its address space, what it has from the parent included (RLIMIT_AS). Not in a build with sanitizers.
  std::optional<std::int64_t> memory_limit_bytes;
  /// A child that announces a longer message is killed and counts as lost: what runs in it may be led astray
  /// by its input.
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

/// What a child does; returns its exit code.
using ChildWork = std::function<int(Parent&)>;

class Child {
 public:
  /// Forks. Throws InputError "a child process: cannot be started: ..." if the system refuses, as for lack of
  /// processes, memory or descriptors.
  explicit Child(const ChildWork& work, const ChildSettings& settings = {});
  /// Kills it.
  ~Child();
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  Child(Child&&) = delete;
  Child& operator=(Child&&) = delete;

  /// Blocks while the child is busy and more than the system buffers (some 200 KB) is under way. False: it is
  /// gone.
  bool send(std::string_view message) const;

  /// The next message, waited for as long. Nothing: none has come in full, or there will be none (see
  /// open()).
  [[nodiscard]] std::optional<std::string> receive(double seconds = std::numeric_limits<double>::infinity());

  /// Whether more messages may come, where receive() has just given nothing; false when the work has ended.
  [[nodiscard]] bool open() const { return open_; }

  /// Readable when receive() may have something.
  [[nodiscard]] int descriptor() const { return descriptor_; }
  [[nodiscard]] pid_t id() const { return process_; }

  /// Ends it now, unless it has ended. Messages that have arrived can still be received.
  const ChildEnd& kill();

  /// Until it ends by itself. Messages that nobody received are dropped.
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

/// Waits until one of them may have news, at most so long.
void wait_for_news(const std::vector<const Child*>& children, double seconds);

struct ChildWatch {
  double time_limit_seconds = std::numeric_limits<double>::infinity();
  /// Called for every message in order; false stops, and later messages are dropped.
  std::function<bool(std::string&&)> receive;
  /// Called at least every 20 ms; false stops. Messages that have arrived by then are still received.
  std::function<bool()> keep_going;
};

/// Runs `work` in a child until it returns, is stopped, or dies. The child is gone when this returns, also by
/// an exception of a callback.
[[nodiscard]] ChildEnd run_child(const ChildWork& work, const ChildWatch& watch,
                                 const ChildSettings& settings = {});

}  // namespace poet
