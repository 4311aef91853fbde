#include "apps/cli/forked.h"

#include <fmt/format.h>

#include <atomic>
#include <csignal>
#include <cstring>

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

Forked::Forked(const std::function<int(Parent&)>& work)
    : child_([&work](Parent& parent) { return exit_code_of([&] { return work(parent); }); },
             {Streams::keep, true, {}}) {}

std::optional<std::string> Forked::receive() {
  const PassingOn passing(child_.id());
  return child_.receive();
}

int Forked::wait(const std::string& what) {
  const PassingOn passing(child_.id());
  const ChildEnd& end = child_.wait();
  if (end.signal == SIGINT) return 128 + SIGINT;
  if (end.signal != 0)
    throw InternalError(fmt::format("{} was ended by a signal: {}", what, strsignal(end.signal)));
  return end.exit_code;
}

}  // namespace poet::cli
