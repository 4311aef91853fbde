#pragma once

// A training step that keeps every value, ready to be run again and again: what a machine is measured with.

#include <cstdint>
#include <memory>
#include <vector>

#include "poet/graph/graph.h"
#include "poet/runtime/executor/program.h"
#include "poet/runtime/training/trainer.h"

namespace poet::runtime {

class TrainingStep {
 public:
  /// On synthetic data and seeded weights, zeros where only a file would know better. Takes bytes_of() of
  /// memory. Throws InputError for an op without a kernel.
  TrainingStep(const Graph& training, const KernelOptions& kernels);
  /// By such a step's plan.
  TrainingStep(const PlanFile& plan, const KernelOptions& kernels);
  TrainingStep(const TrainingStep&) = delete;
  TrainingStep& operator=(const TrainingStep&) = delete;
  TrainingStep(TrainingStep&&) = delete;
  TrainingStep& operator=(TrainingStep&&) = delete;
  ~TrainingStep() = default;

  /// A plan that keeps everything. Throws as the constructor.
  [[nodiscard]] static PlanFile plan_of(const Graph& training, const KernelOptions& kernels);
  /// RAM that it takes.
  [[nodiscard]] static Bytes bytes_of(const PlanFile& plan);

  void run() { last_ = trainer_.step(); }

  /// Of the last run, without fetching its data.
  [[nodiscard]] Seconds makespan() const { return last_.makespan - last_.fetching; }
  /// The ops in their order, and what each took in the last run.
  [[nodiscard]] const std::vector<PreparedStep>& steps() const { return trainer_.program().steps(); }
  [[nodiscard]] const std::vector<double>& seconds() const { return trainer_.seconds(); }

 private:
  Trainer trainer_;
  StepFigures last_;
};

/// Null where it takes more than `available`, less what a program needs besides.
[[nodiscard]] std::unique_ptr<TrainingStep> training_step_within(Bytes available, const Graph& training,
                                                                 const KernelOptions& kernels);

}  // namespace poet::runtime
