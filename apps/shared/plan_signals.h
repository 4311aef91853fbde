#pragma once

#include <csignal>

namespace poet::cli {

/// While it exists, SIGUSR1 requests the next smaller plan and SIGUSR2 the next larger one; the handlers only
/// count. At most one at a time.
class PlanSignals {
 public:
  PlanSignals();
  ~PlanSignals();
  PlanSignals(const PlanSignals&) = delete;
  PlanSignals& operator=(const PlanSignals&) = delete;
  PlanSignals(PlanSignals&&) = delete;
  PlanSignals& operator=(PlanSignals&&) = delete;

  /// Returns by how many plans to go smaller (below 0: larger) since the last call.
  [[nodiscard]] static int take();

 private:
  struct sigaction smaller_ {};
  struct sigaction larger_ {};
};

}  // namespace poet::cli
