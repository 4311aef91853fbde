#include "apps/cli/pending_signals.h"

#include <ctime>
#include <initializer_list>

namespace poet::cli {

PendingSignals::PendingSignals() {
  sigemptyset(&watched_);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&watched_, signal);
  pthread_sigmask(SIG_BLOCK, &watched_, &previous_);
}

PendingSignals::~PendingSignals() {
  (void)any();  // one that came late must not end the process now
  pthread_sigmask(SIG_SETMASK, &previous_, nullptr);
}

bool PendingSignals::any() {
  const timespec now{};
  while (sigtimedwait(&watched_, nullptr, &now) > 0) came_ = true;
  return came_;
}

}  // namespace poet::cli
