#include "poet/optimize/solvers/apart.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#ifdef __linux__
#include <sys/prctl.h>
#endif

#include "poet/base/error.h"

namespace poet {
namespace {

constexpr int kPollMilliseconds = 20;
constexpr int kFinished = -1;  // the kind of the last message

struct Header {
  std::int64_t kind;
  std::uint64_t count;
};

// Without destructors and exit handlers, which belong to the parent.
[[noreturn]] void vanish(int code) { _exit(code); }

void write_all(int descriptor, const void* data, std::size_t size) {
  const char* at = static_cast<const char*>(data);
  while (size > 0) {
    const ssize_t written = write(descriptor, at, size);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) vanish(1);
    at += written;
    size -= static_cast<std::size_t>(written);
  }
}

[[noreturn]] void be_child(int descriptor, pid_t parent, const std::function<void(Outbox&)>& work) {
#ifdef __linux__
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) vanish(1);
#else
  (void)parent;
#endif
  std::signal(SIGINT, SIG_IGN);  // Ctrl-C reaches the whole group; the parent decides
  std::signal(SIGPIPE, SIG_DFL);
  std::signal(SIGABRT, SIG_DFL);  // a failed assertion of the solver is no crash of the program
  rlimit no_core{};
  setrlimit(RLIMIT_CORE, &no_core);
  if (const int null = open("/dev/null", O_WRONLY | O_CLOEXEC); null >= 0) {
    dup2(null, STDOUT_FILENO);
#if !defined(__SANITIZE_ADDRESS__)
    dup2(null, STDERR_FILENO);
#endif
  }
  try {
    Outbox outbox(descriptor);
    work(outbox);
    outbox.leave();
  } catch (...) {
    vanish(1);
  }
}

class Child {
 public:
  explicit Child(const std::function<void(Outbox&)>& work) {
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) != 0)
      throw InternalError(std::string("no pipe to a solver: ") + std::strerror(errno));
    const pid_t parent = getpid();
    process_ = fork();
    if (process_ == 0) {
      close(ends[0]);  // a child whose parent is gone must not wait for itself to read
      be_child(ends[1], parent, work);
    }
    const int error = errno;
    close(ends[1]);
    descriptor_ = ends[0];
    if (process_ < 0) {
      close(descriptor_);
      throw InternalError(std::string("no process for a solver: ") + std::strerror(error));
    }
  }
  ~Child() {
    kill();
    close(descriptor_);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  Child(Child&&) = delete;
  Child& operator=(Child&&) = delete;

  void kill() {
    if (process_ <= 0) return;
    ::kill(process_, SIGKILL);
    while (waitpid(process_, nullptr, 0) < 0 && errno == EINTR) continue;
    process_ = 0;
  }

  void wait_for_news(int milliseconds) const {
    pollfd end{descriptor_, POLLIN, 0};
    poll(&end, 1, milliseconds);
  }

  // Takes what has arrived; false when there will be no more.
  bool read_some() {
    std::array<char, 1 << 16> chunk{};
    pollfd end{descriptor_, POLLIN, 0};
    while (poll(&end, 1, 0) > 0) {
      const ssize_t count = read(descriptor_, chunk.data(), chunk.size());
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) return false;
      buffer_.insert(buffer_.end(), chunk.data(), chunk.data() + count);
      if (static_cast<std::size_t>(count) < chunk.size()) break;
    }
    return true;
  }

  // The next message that has arrived in full.
  bool next(ChildMessage& message) {
    Header header{};
    if (buffer_.size() - taken_ < sizeof header) return drop_taken();
    std::memcpy(&header, buffer_.data() + taken_, sizeof header);
    const std::size_t size = header.count * sizeof(double);
    if (buffer_.size() - taken_ - sizeof header < size) return drop_taken();
    message.kind = static_cast<int>(header.kind);
    message.numbers.resize(header.count);
    if (size > 0) std::memcpy(message.numbers.data(), buffer_.data() + taken_ + sizeof header, size);
    taken_ += sizeof header + size;
    return true;
  }

 private:
  bool drop_taken() {
    buffer_.erase(buffer_.begin(), buffer_.begin() + static_cast<std::ptrdiff_t>(taken_));
    taken_ = 0;
    return false;
  }

  pid_t process_ = 0;
  int descriptor_ = -1;
  std::vector<char> buffer_;
  std::size_t taken_ = 0;
};

enum class Handed { all, finished, refused };

Handed hand_on(Child& child, const ChildWatch& watch) {
  ChildMessage message;
  while (child.next(message)) {
    if (message.kind == kFinished) return Handed::finished;
    if (watch.receive && !watch.receive(std::move(message))) return Handed::refused;
  }
  return Handed::all;
}

}  // namespace

void Outbox::send(int kind, const std::vector<double>& numbers) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const Header header{kind, numbers.size()};
  write_all(descriptor_, &header, sizeof header);
  if (!numbers.empty()) write_all(descriptor_, numbers.data(), numbers.size() * sizeof(double));
}

void Outbox::leave() {
  send(kFinished, {});
  vanish(0);
}

ChildEnd run_apart(const std::function<void(Outbox&)>& work, const ChildWatch& watch) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point start = Clock::now();
  const auto left = [&] {
    return watch.time_limit_seconds - std::chrono::duration<double>(Clock::now() - start).count();
  };
  if (!(watch.time_limit_seconds > 0)) return ChildEnd::stopped;
  Child child(work);
  bool open = true;
  for (;;) {
    child.wait_for_news(std::clamp(static_cast<int>(std::min(left(), 1.0) * 1000) + 1, 0, kPollMilliseconds));
    const bool in_time = left() > 0 && (!watch.keep_going || watch.keep_going());
    if (!in_time) child.kill();  // what it has sent can still be read
    open = child.read_some();
    const Handed handed = hand_on(child, watch);
    if (handed == Handed::finished) return ChildEnd::finished;
    if (handed == Handed::refused || !in_time) return ChildEnd::stopped;
    if (!open) return ChildEnd::lost;
  }
}

}  // namespace poet
