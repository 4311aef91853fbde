#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "apps/shared/plan_signals.h"
#include "apps/shared/training/options.h"
#include "poet/plan/file/plan_family.h"
#include "poet/runtime/training/plan_watch.h"
#include "poet/runtime/training/trainer.h"

namespace poet::cli {

/// Chooses the plan of a family by options and signals. Prints a line to stderr for each change, and for the
/// first plan unless it is the largest. Does nothing for a single plan.
class PlanChoice {
 public:
  /// Throws InputError as PlanWatch.
  PlanChoice(const PlanFamily& plans, const RunChoice& training, bool quiet);
  PlanChoice(const PlanChoice&) = delete;
  PlanChoice& operator=(const PlanChoice&) = delete;
  PlanChoice(PlanChoice&&) = delete;
  PlanChoice& operator=(PlanChoice&&) = delete;
  ~PlanChoice() = default;

  /// Returns the plan to start step `step` with, before a trainer exists.
  [[nodiscard]] std::optional<std::size_t> first(std::int64_t step);

  /// Installs it in `options` for `trainer`; neither may outlive it.
  void add_to(runtime::TrainOptions& options, const runtime::Trainer& trainer);

 private:
  bool quiet_;
  PlanSignals signals_;
  std::vector<Bytes> budgets_;
  Bytes inside_{};  // the present plan's memory
  std::optional<runtime::PlanWatch> watch_;
  std::optional<runtime::PlanRequest> first_;  // unless it is the largest plan
};

}  // namespace poet::cli
