#include "apps/shared/interrupt.h"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>

namespace poet::cli {
namespace {

constexpr std::array kRequests = {SIGINT, SIGTERM, SIGHUP};
constexpr int kWakeUp =
    SIGURG;  // sent to the watching thread alone, at the guard's end; ignored by all others

sigset_t watched_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : kRequests) {
    struct sigaction now {};
    // What is ignored (nohup) stays so; blocked, it would be delivered.
    if (sigaction(signal, nullptr, &now) == 0 && now.sa_handler == SIG_IGN) continue;
    sigaddset(&set, signal);
  }
  sigaddset(&set, kWakeUp);
  return set;
}

std::atomic<pthread_t> watching{};

/// In a thread that was there before the guard and does not block the request.
void pass_on(int signal) {
  const int error = errno;
  pthread_kill(watching, signal);
  errno = error;
}

}  // namespace

const char* request_name(int signal) {
  return signal == SIGTERM ? "SIGTERM" : signal == SIGHUP ? "SIGHUP" : "Ctrl-C";
}

InterruptGuard::InterruptGuard(const char* first) : first_(first), watched_(watched_signals()) {
  pthread_sigmask(SIG_BLOCK, &watched_, &previous_mask_);
  try {
    watcher_ = std::thread([this] { watch(); });
  } catch (...) {
    pthread_sigmask(SIG_SETMASK, &previous_mask_, nullptr);
    throw;
  }
  watching = watcher_.native_handle();
  struct sigaction action {};
  action.sa_handler = pass_on;
  action.sa_flags = SA_RESTART;
  for (std::size_t i = 0; i < kRequests.size(); ++i) {
    const bool watched = sigismember(&watched_, kRequests[i]) == 1;
    sigaction(kRequests[i], watched ? &action : nullptr, &previous_actions_[i]);
  }
}

InterruptGuard::~InterruptGuard() {
  for (std::size_t i = 0; i < kRequests.size(); ++i) sigaction(kRequests[i], &previous_actions_[i], nullptr);
  done_ = true;
  pthread_kill(watcher_.native_handle(), kWakeUp);
  watcher_.join();
  pthread_sigmask(SIG_SETMASK, &previous_mask_, nullptr);
}

void InterruptGuard::watch() {
  while (!done_) {
    int signal = 0;
    if (sigwait(&watched_, &signal) != 0 || signal == kWakeUp) continue;
    if (signal_.exchange(signal) != 0) _exit(128 + signal);
    // A terminal has just shown "^C" in the middle of a line.
    const char* start = isatty(STDERR_FILENO) == 1 ? "\n" : "";
    const char* name = request_name(signal);
    if (signal == SIGINT)
      std::fprintf(stderr, "%spoet: %s; Ctrl-C again quits at once\n", start, first_);
    else
      std::fprintf(stderr, "%spoet: %s: %s; %s again quits at once\n", start, name, first_, name);
    std::fflush(stderr);
  }
}

}  // namespace poet::cli
