#include "poet/frontend/onnx/isolated.h"

#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <exception>
#include <fstream>

namespace poet::onnx {
namespace {

constexpr rlim_t kMostSeconds = 2;
constexpr time_t kMostWaiting = 60;  // seconds by the clock
constexpr rlim_t kMostMemory = rlim_t{1} << 27U;
constexpr std::uint64_t kNoAnswer = ~std::uint64_t{0};

bool send_all(int to, const void* data, std::size_t size) {
  const char* at = static_cast<const char*>(data);
  while (size > 0) {
    const ssize_t count = send(to, at, size, MSG_NOSIGNAL);  // the other side may have died
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    at += count;
    size -= static_cast<std::size_t>(count);
  }
  return true;
}

bool receive_all(int from, void* data, std::size_t size) {
  char* at = static_cast<char*>(data);
  while (size > 0) {
    const ssize_t count = recv(from, at, size, 0);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    at += count;
    size -= static_cast<std::size_t>(count);
  }
  return true;
}

bool send_text(int to, const std::string& text) {
  const std::uint64_t size = text.size();
  return send_all(to, &size, sizeof(size)) && send_all(to, text.data(), text.size());
}

/// False when the other side is gone.
bool receive_text(int from, std::optional<std::string>& text) {
  std::uint64_t size = 0;
  if (!receive_all(from, &size, sizeof(size))) return false;
  text.reset();
  if (size == kNoAnswer) return true;
  text.emplace(size, '\0');
  return receive_all(from, text->data(), size);
}

void set_limit(__rlimit_resource resource, rlim_t most) {
  rlimit limit{};
  (void)getrlimit(resource, &limit);
  limit.rlim_cur = std::min(most, limit.rlim_max);
  (void)setrlimit(resource, &limit);
}

}  // namespace

void Isolated::serve() {
  // The parent's handlers are not for what happens here.
  for (const int signal : {SIGSEGV, SIGFPE, SIGABRT, SIGBUS, SIGILL, SIGXCPU, SIGPROF})
    (void)std::signal(signal, SIG_DFL);
  set_limit(RLIMIT_CORE, 0);
#ifndef __SANITIZE_ADDRESS__  // which breaks without memory, even for itself
  rlim_t pages = 0;           // that the parent has
  if (std::ifstream("/proc/self/statm") >> pages)
    set_limit(RLIMIT_AS, pages * static_cast<rlim_t>(sysconf(_SC_PAGESIZE)) + kMostMemory);
#endif
  for (std::optional<std::string> question; receive_text(channel_, question) && question;) {
    rusage used{};
    (void)getrusage(RUSAGE_SELF, &used);
    set_limit(RLIMIT_CPU, static_cast<rlim_t>(used.ru_utime.tv_sec + used.ru_stime.tv_sec) + kMostSeconds);
    std::optional<std::string> text;
    try {
      text = answer_(*question);
    } catch (const std::exception&) {
      text.reset();
    }
    if (!(text ? send_text(channel_, *text) : send_all(channel_, &kNoAnswer, sizeof(kNoAnswer)))) break;
  }
  _exit(0);  // without destructors: they are the parent's
}

void Isolated::start() {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return;
  child_ = fork();
  if (child_ == 0) {
    (void)close(ends[0]);
    channel_ = ends[1];
    serve();
  }
  (void)close(ends[1]);
  channel_ = ends[0];
  // For a child that waits instead of working, as after a crash in an allocator.
  const timeval most{kMostWaiting, 0};
  (void)setsockopt(channel_, SOL_SOCKET, SO_RCVTIMEO, &most, sizeof(most));
  if (child_ < 0) stop();
}

void Isolated::stop() {
  if (channel_ >= 0) (void)close(channel_);
  if (child_ > 0) (void)kill(child_, SIGKILL);
  channel_ = -1;
  while (child_ > 0 && waitpid(child_, nullptr, 0) < 0 && errno == EINTR) {
  }
  child_ = -1;
}

std::optional<std::string> Isolated::ask(const std::string& question) {
  if (child_ < 0) start();
  std::optional<std::string> text;
  if (child_ < 0) return text;
  if (!send_text(channel_, question) || !receive_text(channel_, text)) {
    stop();
    return std::nullopt;
  }
  return text;
}

}  // namespace poet::onnx
