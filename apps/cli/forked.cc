#include "apps/cli/forked.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>

#include "apps/cli/command.h"
#include "apps/shared/errors.h"
#include "poet/base/error.h"

namespace poet::cli {
namespace {

std::atomic<pid_t> receiver = 0;  // of Ctrl-C

void pass_on(int signal) {
  const pid_t child = receiver;
  if (child > 0) kill(child, signal);
}

/// While one lives, Ctrl-C is the child's business, unless it is ignored. Other requests to stop end both.
class PassingOn {
 public:
  explicit PassingOn(pid_t child) {
    receiver = child;
    sigaction(SIGINT, nullptr, &before_);
    if (before_.sa_handler == SIG_IGN) return;
    struct sigaction passing {};
    passing.sa_handler = pass_on;
    sigaction(SIGINT, &passing, nullptr);
  }
  ~PassingOn() {
    sigaction(SIGINT, &before_, nullptr);
    receiver = 0;
  }
  PassingOn(const PassingOn&) = delete;
  PassingOn& operator=(const PassingOn&) = delete;
  PassingOn(PassingOn&&) = delete;
  PassingOn& operator=(PassingOn&&) = delete;

 private:
  struct sigaction before_ {};
};

}  // namespace

Forked::Forked(const std::function<int(int pipe)>& work) {
  std::array<int, 2> ends{};
  ensure(pipe2(ends.data(), O_CLOEXEC) == 0, "a pipe can be made");
  std::fflush(nullptr);  // else what is buffered would be written twice
  const pid_t parent = getpid();
  child_ = fork();
  ensure(child_ >= 0, "a process can be started");
  if (child_ == 0) {
    close(ends[0]);
    // A terminal's Ctrl-C reaches the parent, who passes it on: once, wherever it came from.
    setpgid(0, 0);
    // Its progress may go to the terminal, whose job it is not.
    std::signal(SIGTTOU, SIG_IGN);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(1);
    const int code = exit_code_of([&] { return work(ends[1]); });
    std::fflush(nullptr);
    _exit(code);
  }
  close(ends[1]);
  pipe_ = ends[0];
}

Forked::~Forked() {
  if (child_ > 0) {
    kill(child_, SIGKILL);
    while (waitpid(child_, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  close(pipe_);
}

bool Forked::read(void* to, std::size_t count) {
  const PassingOn passing(child_);
  auto* next = static_cast<char*>(to);
  while (count > 0) {
    const ssize_t got = ::read(pipe_, next, count);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    next += got;
    count -= static_cast<std::size_t>(got);
  }
  return true;
}

std::string Forked::read_all() {
  const PassingOn passing(child_);
  std::string all;
  std::array<char, 1 << 16> buffer{};
  for (;;) {
    const ssize_t got = ::read(pipe_, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return all;
    all.append(buffer.data(), static_cast<std::size_t>(got));
  }
}

int Forked::wait(const std::string& what) {
  const int status = reap();
  if (WIFEXITED(status)) return WEXITSTATUS(status);
  if (WTERMSIG(status) == SIGINT) return 128 + SIGINT;
  throw InternalError(fmt::format("{} was ended by a signal: {}", what, strsignal(WTERMSIG(status))));
}

int Forked::reap() {
  const PassingOn passing(child_);
  int status = 0;
  pid_t ended = 0;
  do ended = waitpid(child_, &status, 0);
  while (ended < 0 && errno == EINTR);
  ensure(ended == child_, "nobody else waits for the processes of this one");
  child_ = -1;
  return status;
}

void write_all(int pipe, const void* bytes, std::size_t count) {
  const auto* next = static_cast<const char*>(bytes);
  while (count > 0) {
    const ssize_t put = ::write(pipe, next, count);
    if (put < 0 && errno == EINTR) continue;
    ensure(put > 0, "whoever started this process reads what it writes");
    next += put;
    count -= static_cast<std::size_t>(put);
  }
}

}  // namespace poet::cli
