#pragma once

#include <csignal>

namespace poet::cli {

/// While one lives, SIGUSR1 asks for the next smaller plan and SIGUSR2 for the next larger one: the handlers
/// do nothing but count. At most one at a time.
class PlanSignals {
 public:
  PlanSignals();
  ~PlanSignals();
  PlanSignals(const PlanSignals&) = delete;
  PlanSignals& operator=(const PlanSignals&) = delete;
  PlanSignals(PlanSignals&&) = delete;
  PlanSignals& operator=(PlanSignals&&) = delete;

  /// How many plans smaller (below 0: larger) were asked for since the last call.
  [[nodiscard]] static int take();

 private:
  struct sigaction smaller_ {};
  struct sigaction larger_ {};
};

}  // namespace poet::cli
