#pragma once

// A training step that keeps every value, ready to be run again and again: what a machine is measured with.

#include <cstdint>
#include <memory>
#include <vector>

#include "poet/graph/graph.h"
#include "poet/runtime/data/batches.h"
#include "poet/runtime/executor/executor.h"

namespace poet::runtime {

class TrainingStep {
 public:
  /// On synthetic data and seeded weights, zeros where only a file would know better. Takes bytes_of() of
  /// memory. Throws InputError for an op without a kernel.
  TrainingStep(const Graph& training, const KernelOptions& kernels);
  /// By such a step's plan.
  TrainingStep(PlanFile plan, const KernelOptions& kernels);
  TrainingStep(const TrainingStep&) = delete;
  TrainingStep& operator=(const TrainingStep&) = delete;
  TrainingStep(TrainingStep&&) = delete;
  TrainingStep& operator=(TrainingStep&&) = delete;
  ~TrainingStep() = default;

  /// A plan that keeps everything. Throws as the constructor.
  [[nodiscard]] static PlanFile plan_of(const Graph& training, const KernelOptions& kernels);
  /// RAM that it takes.
  [[nodiscard]] static Bytes bytes_of(const PlanFile& plan);

  void run();

  /// Of the last run, without fetching its data.
  [[nodiscard]] Seconds makespan() const { return executor_->makespan() - executor_->fetching(); }
  /// The ops in their order, and what each took in the last run.
  [[nodiscard]] const std::vector<PreparedStep>& steps() const { return program_->steps(); }
  [[nodiscard]] const std::vector<double>& seconds() const { return executor_->seconds(); }

 private:
  PlanFile file_;  // those below refer to it
  std::unique_ptr<Program> program_;
  std::unique_ptr<Executor> executor_;
  std::unique_ptr<Dataset> data_;
  std::unique_ptr<Batches> batches_;
  std::int64_t number_ = 0;
};

/// Null where it takes more than `available`, less what a program needs besides.
[[nodiscard]] std::unique_ptr<TrainingStep> training_step_within(Bytes available, const Graph& training,
                                                                 const KernelOptions& kernels);

}  // namespace poet::runtime
