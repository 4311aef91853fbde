#include "poet/base/process/child.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <utility>

#include "poet/base/error.h"
#include "poet/base/work_clock.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define POET_SANITIZED 1
#else
#define POET_SANITIZED 0
#endif

namespace poet {
namespace {

using Clock = std::chrono::steady_clock;

// A message is its size and its bytes. This size instead: the work has returned the exit code that follows.
constexpr std::uint64_t kEnd = ~std::uint64_t{0};
// So often a silent child is looked at: another process may hold its end of the connection.
constexpr double kLookSeconds = 0.1;
constexpr double kPollSeconds = 0.02;
constexpr std::array kRequests = {SIGINT, SIGTERM, SIGHUP};

[[noreturn]] void refuse_to_start(int error) {
  throw InputError("a child process", std::string("cannot be started: ") + std::strerror(error));
}

/// False when nobody reads any more.
bool write_all(int descriptor, const void* data, std::size_t size) {
  const auto* at = static_cast<const char*>(data);
  while (size > 0) {
    const ssize_t count = ::send(descriptor, at, size, MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    at += count;
    size -= static_cast<std::size_t>(count);
  }
  return true;
}

bool write_message(int descriptor, std::string_view message) {
  const std::uint64_t size = message.size();
  return write_all(descriptor, &size, sizeof size) && write_all(descriptor, message.data(), message.size());
}

bool read_all(int descriptor, void* data, std::size_t size) {
  auto* at = static_cast<char*>(data);
  while (size > 0) {
    const ssize_t count = ::recv(descriptor, at, size, 0);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    at += count;
    size -= static_cast<std::size_t>(count);
  }
  return true;
}

void set_signals(const ChildSettings& settings) {
  for (int signal = 1; signal < NSIG; ++signal) {
    struct sigaction action {};
    if (sigaction(signal, nullptr, &action) == 0 && action.sa_handler != SIG_IGN &&
        action.sa_handler != SIG_DFL)
      (void)std::signal(signal, SIG_DFL);
  }
  (void)std::signal(SIGPIPE, SIG_IGN);
  if (settings.obeys_requests) {
    setpgid(0, 0);
    (void)std::signal(SIGTTOU, SIG_IGN);  // its messages may go to the terminal, whose job it is not
  } else {
    for (const int request : kRequests) (void)std::signal(request, SIG_IGN);
  }
  sigset_t none;
  sigemptyset(&none);
  pthread_sigmask(SIG_SETMASK, &none, nullptr);
}

void set_streams(Streams streams) {
  if (streams == Streams::keep) return;
  const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
  if (null < 0) return;
  dup2(null, STDIN_FILENO);
  dup2(null, STDOUT_FILENO);
  if (streams == Streams::none && POET_SANITIZED == 0) dup2(null, STDERR_FILENO);
  if (null > STDERR_FILENO) close(null);
}

void set_limit(__rlimit_resource resource, rlim_t most) {
  rlimit limit{};
  (void)getrlimit(resource, &limit);
  limit.rlim_cur = std::min(most, limit.rlim_max);
  (void)setrlimit(resource, &limit);
}

// Up to the call of `work` only what is allowed between fork() and exec().
[[noreturn]] void be_child(int descriptor, pid_t parent, const ChildWork& work,
                           const ChildSettings& settings) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1);
  const auto kept = static_cast<unsigned>(descriptor);
  constexpr unsigned kFirst = STDERR_FILENO + 1;
  if (kept > kFirst) close_range(kFirst, kept - 1, 0);
  close_range(std::max(kept + 1, kFirst), ~0U, 0);
  set_signals(settings);
  set_streams(settings.streams);
  set_limit(RLIMIT_CORE, 0);
  if (settings.memory_limit_bytes && POET_SANITIZED == 0)
    set_limit(RLIMIT_AS, static_cast<rlim_t>(*settings.memory_limit_bytes));
  try {
    Parent link(descriptor);
    link.finish(work(link));
  } catch (...) {
    _exit(1);
  }
}

}  // namespace

void Parent::send(std::string_view message) {
  const std::lock_guard<std::mutex> lock(sending_);
  if (!write_message(descriptor_, message)) _exit(1);
}

std::optional<std::string> Parent::receive() const {
  std::uint64_t size = 0;
  if (!read_all(descriptor_, &size, sizeof size)) return std::nullopt;
  std::string message(size, '\0');
  if (!read_all(descriptor_, message.data(), size)) return std::nullopt;
  return message;
}

void Parent::finish(int exit_code) {
  const std::lock_guard<std::mutex> lock(sending_);  // not in the middle of another thread's message
  (void)std::fflush(stdout);
  const std::array<std::uint64_t, 2> end = {kEnd, static_cast<std::uint64_t>(exit_code)};
  (void)write_all(descriptor_, end.data(), sizeof end);
  _exit(exit_code);
}

std::string to_string(const ChildEnd& end) {
  return end.signal != 0 ? "signal " + std::to_string(end.signal)
                         : "exit code " + std::to_string(end.exit_code);
}

Child::Child(const ChildWork& work, const ChildSettings& settings)
    : own_group_(settings.obeys_requests), most_message_bytes_(settings.most_message_bytes) {
  std::array<int, 2> ends{};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) refuse_to_start(errno);
  if (settings.streams == Streams::keep) (void)std::fflush(stdout);  // else the child would write that, too
  const pid_t parent = getpid();
  // A handler of the parent's must not run in the child.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  process_ = fork();
  if (process_ == 0) be_child(ends[1], parent, work, settings);
  const int error = errno;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  close(ends[1]);
  if (process_ < 0) {
    close(ends[0]);
    refuse_to_start(error);
  }
  descriptor_ = ends[0];
  if (own_group_) setpgid(process_, process_);  // both sides do, so that it holds before either goes on
}

Child::~Child() {
  (void)kill();
  close(descriptor_);
}

bool Child::send(std::string_view message) const { return write_message(descriptor_, message); }

void Child::read_what_is_there() {
  constexpr int kMostChunks = 64;  // then their messages are taken first, however quickly more arrive
  std::array<char, 1 << 16> chunk{};
  for (int chunks = 0; open_ && chunks < kMostChunks; ++chunks) {
    const ssize_t count = recv(descriptor_, chunk.data(), chunk.size(), MSG_DONTWAIT);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno == EAGAIN) return;
    if (count <= 0) {
      open_ = false;
      return;
    }
    arrived_.append(chunk.data(), static_cast<std::size_t>(count));
    if (static_cast<std::size_t>(count) < chunk.size()) return;
  }
}

bool Child::next(std::string& message) {
  const std::size_t left = arrived_.size() - taken_;
  const char* at = arrived_.data() + taken_;
  std::uint64_t size = 0;
  if (left >= sizeof size) {
    std::memcpy(&size, at, sizeof size);
    if (size != kEnd && size > most_message_bytes_) {
      arrived_.clear();
      taken_ = 0;
      (void)kill();
      open_ = false;
      return false;
    }
    const std::size_t whole = sizeof size + (size == kEnd ? sizeof size : size);
    if (left >= whole) {
      taken_ += whole;
      if (size != kEnd) {
        message.assign(at + sizeof size, size);
        return true;
      }
      std::memcpy(&size, at + sizeof size, sizeof size);
      end_.how = ChildEnd::How::finished;
      end_.exit_code = static_cast<int>(size);
      end_.signal = 0;  // it may have been killed on its way out
      open_ = false;
      return false;
    }
  }
  arrived_.erase(0, taken_);
  taken_ = 0;
  return false;
}

std::optional<std::string> Child::receive(double seconds) {
  const Clock::time_point start = Clock::now();
  std::string message;
  while (!next(message)) {
    if (!open_) return std::nullopt;
    const std::size_t before = arrived_.size();
    const bool over = has_ended();  // then all that it wrote is there
    read_what_is_there();
    if (arrived_.size() > before) continue;
    if (over) open_ = false;
    const double left = seconds - std::chrono::duration<double>(Clock::now() - start).count();
    if (!open_) continue;
    if (left <= 0) return std::nullopt;
    wait_for_news({this}, std::min(left, kLookSeconds));
  }
  return message;
}

const ChildEnd& Child::kill() {
  // Also after its end: of its group somebody may be left.
  if (!reaped_) ::kill(own_group_ ? -process_ : process_, SIGKILL);
  reap();
  return end_;
}

const ChildEnd& Child::wait() {
  while (receive()) continue;
  return kill();  // it is ending; whatever it does besides does not count
}

bool Child::has_ended() const {
  siginfo_t info{};
  if (reaped_ || waitid(P_PID, static_cast<id_t>(process_), &info, WEXITED | WNOHANG | WNOWAIT) != 0)
    return true;
  return info.si_pid != 0;
}

void Child::reap() {
  if (reaped_) return;
  int status = 0;
  rusage usage{};
  pid_t ended = 0;
  do ended = wait4(process_, &status, 0, &usage);
  while (ended < 0 && errno == EINTR);
  reaped_ = true;
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  end_.cpu_seconds = seconds(usage.ru_utime) + seconds(usage.ru_stime);
  end_.peak_bytes = std::int64_t{1024} * usage.ru_maxrss;
  if (end_.how == ChildEnd::How::finished) return;
  if (ended < 0)
    end_.exit_code = -1;
  else if (WIFEXITED(status))
    end_.exit_code = WEXITSTATUS(status);
  else
    end_.signal = WTERMSIG(status);
}

void wait_for_news(const std::vector<const Child*>& children, double seconds) {
  std::vector<pollfd> ends;
  ends.reserve(children.size());
  for (const Child* child : children) ends.push_back({child->descriptor(), POLLIN, 0});
  const int milliseconds = static_cast<int>(std::ceil(1000 * std::clamp(seconds, 0.0, 1e6)));
  (void)poll(ends.data(), static_cast<nfds_t>(ends.size()), milliseconds);
}

double limit_seconds(const Child& child, bool limits_work) {
  return limits_work ? work_seconds_of(child.id())
                     : std::chrono::duration<double>(Clock::now().time_since_epoch()).count();
}

ChildEnd run_child(const ChildWork& work, const ChildWatch& watch, const ChildSettings& settings) {
  if (!(watch.time_limit_seconds > 0)) return {ChildEnd::How::stopped};
  Child child(work, settings);
  const double start = limit_seconds(child, watch.limits_work);
  const auto left = [&] {
    return watch.time_limit_seconds - (limit_seconds(child, watch.limits_work) - start);
  };
  for (;;) {
    wait_for_news({&child}, std::min(left(), kPollSeconds));
    bool goes_on = left() > 0 && (!watch.keep_going || watch.keep_going());
    if (!goes_on) (void)child.kill();  // what it has sent can still be received
    bool refused = false;
    while (!refused) {
      std::optional<std::string> message = child.receive(0);
      if (!message) break;
      refused = watch.receive && !watch.receive(std::move(*message));
    }
    goes_on = goes_on && !refused;
    if (goes_on && child.open()) continue;
    ChildEnd end = child.kill();
    if (!goes_on && end.how == ChildEnd::How::lost) end.how = ChildEnd::How::stopped;
    return end;
  }
}

}  // namespace poet
