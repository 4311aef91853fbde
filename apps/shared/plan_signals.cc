#include "apps/shared/plan_signals.h"

#include <atomic>

namespace poet::cli {
namespace {

std::atomic<int> wanted{0};  // plans smaller
static_assert(std::atomic<int>::is_always_lock_free, "handlers may use it");

void count(int signal) { wanted += signal == SIGUSR1 ? 1 : -1; }

}  // namespace

PlanSignals::PlanSignals() {
  wanted = 0;
  struct sigaction action {};
  action.sa_handler = count;
  action.sa_flags = SA_RESTART;
  sigaction(SIGUSR1, &action, &smaller_);
  sigaction(SIGUSR2, &action, &larger_);
}

PlanSignals::~PlanSignals() {
  sigaction(SIGUSR1, &smaller_, nullptr);
  sigaction(SIGUSR2, &larger_, nullptr);
}

int PlanSignals::take() { return wanted.exchange(0); }

}  // namespace poet::cli
