#include "poet/study/worker_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#ifdef __linux__
#include <sys/prctl.h>
#endif

#include "poet/base/error.h"

namespace poet {
namespace {

constexpr unsigned kFirstOther = 3;  // after stdin, stdout, stderr

/// False when nobody reads any more.
bool write_all(int descriptor, const char* data, std::size_t size) {
  while (size > 0) {
    const ssize_t count = write(descriptor, data, size);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    data += count;
    size -= static_cast<std::size_t>(count);
  }
  return true;
}

/// The length, then the bytes.
bool write_message(int descriptor, const std::string& text) {
  const std::uint64_t size = text.size();
  std::array<char, sizeof size> head{};
  std::memcpy(head.data(), &size, sizeof size);
  return write_all(descriptor, head.data(), head.size()) && write_all(descriptor, text.data(), text.size());
}

bool read_all(int descriptor, char* data, std::size_t size) {
  while (size > 0) {
    const ssize_t count = read(descriptor, data, size);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    data += count;
    size -= static_cast<std::size_t>(count);
  }
  return true;
}

/// Nothing when the other side is gone.
std::optional<std::string> read_message(int descriptor) {
  std::uint64_t size = 0;
  std::array<char, sizeof size> head{};
  if (!read_all(descriptor, head.data(), head.size())) return std::nullopt;
  std::memcpy(&size, head.data(), sizeof size);
  std::string text(size, '\0');
  if (!read_all(descriptor, text.data(), text.size())) return std::nullopt;
  return text;
}

/// Everything that the parent has open (other workers, the results store) but what this worker needs.
void close_inherited(int keep, int keep_too) {
  const auto first = static_cast<unsigned>(std::min(keep, keep_too));
  const auto second = static_cast<unsigned>(std::max(keep, keep_too));
  if (first > kFirstOther) close_range(kFirstOther, first - 1, 0);
  if (second > first + 1) close_range(first + 1, second - 1, 0);
  close_range(second + 1, ~0U, 0);
}

[[noreturn]] void be_worker(int from, int to, pid_t parent, const Work& work) {
#ifdef __linux__
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1);
#else
  (void)parent;
#endif
  // These reach the whole group of processes, from a terminal, a batch system or mpirun; the parent decides.
  // A worker that obeyed would be taken for one that its item has killed. Solvers inherit this.
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) std::signal(signal, SIG_IGN);
  std::signal(SIGPIPE, SIG_IGN);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);  // the parent may have blocked what it waits for
  close_inherited(from, to);
  if (const int null = open("/dev/null", O_RDWR | O_CLOEXEC); null >= 0) {
    dup2(null, STDIN_FILENO);
    dup2(null, STDOUT_FILENO);
    close(null);
  }
  try {
    while (const std::optional<std::string> item = read_message(from)) {
      if (!write_message(to, work(*item))) break;
    }
  } catch (...) {
    _exit(1);
  }
  _exit(0);  // destructors and exit handlers belong to the parent
}

}  // namespace

WorkerProcess::WorkerProcess(const Work& work) {
  std::array<int, 2> items{};
  std::array<int, 2> answers{};
  if (pipe2(items.data(), O_CLOEXEC) != 0)
    throw InternalError(std::string("no pipe to a worker: ") + std::strerror(errno));
  if (pipe2(answers.data(), O_CLOEXEC) != 0) {
    const int error = errno;
    close(items[0]);
    close(items[1]);
    throw InternalError(std::string("no pipe to a worker: ") + std::strerror(error));
  }
  const pid_t parent = getpid();
  process_ = fork();
  if (process_ == 0) be_worker(items[0], answers[1], parent, work);
  const int error = errno;
  close(items[0]);
  close(answers[1]);
  to_ = items[1];
  from_ = answers[0];
  if (process_ < 0) {
    close(to_);
    close(from_);
    throw InternalError(std::string("no process for a worker: ") + std::strerror(error));
  }
  fcntl(from_, F_SETFL, O_NONBLOCK);
}

WorkerProcess::~WorkerProcess() {
  if (process_ > 0) {
    kill(process_, SIGKILL);
    (void)reap();
  }
  close(to_);
  close(from_);
}

void WorkerProcess::give(const std::string& item) { (void)write_message(to_, item); }

std::optional<WorkerNews> WorkerProcess::take() {
  bool open = true;
  std::array<char, 1 << 16> chunk{};
  for (;;) {
    const ssize_t count = read(from_, chunk.data(), chunk.size());
    if (count > 0) {
      arrived_.append(chunk.data(), static_cast<std::size_t>(count));
      continue;
    }
    if (count < 0 && errno == EINTR) continue;
    open = count < 0 && errno == EAGAIN;
    break;
  }
  std::uint64_t size = 0;
  if (arrived_.size() >= sizeof size) {
    std::memcpy(&size, arrived_.data(), sizeof size);
    if (arrived_.size() - sizeof size >= size) {
      WorkerNews news{arrived_.substr(sizeof size, size), ""};
      arrived_.erase(0, sizeof size + size);
      return news;
    }
  }
  if (open) return std::nullopt;
  return WorkerNews{"", reap()};
}

std::string WorkerProcess::reap() {
  int status = 0;
  while (process_ > 0 && waitpid(process_, &status, 0) < 0 && errno == EINTR) continue;
  process_ = 0;
  if (WIFSIGNALED(status)) return fmt::format("signal {}", WTERMSIG(status));
  return fmt::format("exit code {}", WEXITSTATUS(status));
}

void wait_for_news(const std::vector<const WorkerProcess*>& workers, int milliseconds) {
  std::vector<pollfd> ends;
  ends.reserve(workers.size());
  for (const WorkerProcess* worker : workers) ends.push_back({worker->descriptor(), POLLIN, 0});
  (void)poll(ends.data(), static_cast<nfds_t>(ends.size()), milliseconds);
}

}  // namespace poet
