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

/// By which plan of a family a run goes on: what its options and signals say, and a line on stderr for each
/// change, and for the first plan where it is not the largest. Of one plan nothing.
class PlanChoice {
 public:
  /// Throws InputError as PlanWatch.
  PlanChoice(const PlanFamily& plans, const RunChoice& training, bool quiet);
  PlanChoice(const PlanChoice&) = delete;
  PlanChoice& operator=(const PlanChoice&) = delete;
  PlanChoice(PlanChoice&&) = delete;
  PlanChoice& operator=(PlanChoice&&) = delete;
  ~PlanChoice() = default;

  /// The plan to begin by with step `step`; before there is a trainer.
  [[nodiscard]] std::optional<std::size_t> first(std::int64_t step);

  /// Lets it choose while `trainer` trains under `options`; both must not outlive it.
  void add_to(runtime::TrainOptions& options, const runtime::Trainer& trainer);

 private:
  bool quiet_;
  PlanSignals signals_;
  std::vector<Bytes> budgets_;
  Bytes inside_{};  // the present plan's memory
  std::optional<runtime::PlanWatch> watch_;
  std::optional<runtime::PlanRequest> first_;  // where it is not the largest plan
};

}  // namespace poet::cli
