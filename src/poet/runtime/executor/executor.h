#pragma once

// Carries out a program, step after step: the training step of the plan, on the plan's memory.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "poet/runtime/executor/persistent.h"
#include "poet/runtime/executor/program.h"
#include "poet/runtime/executor/row_numbers.h"
#include "poet/runtime/storage/page_file.h"
#include "poet/runtime/storage/transfer_queue.h"

namespace poet::runtime {

/// Sees every run of an op right after it, recomputations included: for checks and captures.
using Observer = std::function<void(const PreparedStep& step)>;

class Executor {
 public:
  /// Starts the channel if the plan pages, to `pages`, which has the program's slots; null where it has none.
  /// `file`, `program`, `persistent` and `pages` must outlive the executor. The plan is one by the rules of a
  /// device. Throws InputError as TransferQueue does.
  Executor(const PlanFile& file, const Program& program, PersistentValues& persistent, PageFile* pages);
  ~Executor();
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;
  Executor(Executor&&) = delete;
  Executor& operator=(Executor&&) = delete;

  /// One training step; `number` counts from 1, `rate_factor` is on the learning rate. Allocates nothing but
  /// what kernels do (kernel.h). Throws the InputError of a transfer that failed or of the input source;
  /// resident parameters may then be half updated.
  void run(std::int64_t number, std::uint64_t seed, const InputSource& inputs, const Observer& observer = {},
           double rate_factor = 1.0);

  /// Of the last step.
  [[nodiscard]] float loss() const { return loss_; }
  /// The norm of all gradients in the last step, before they were clipped; absent where they are not.
  [[nodiscard]] std::optional<float> gradient_norm() const { return gradient_norm_; }
  /// Seconds that each of the plan's steps took the compute engine in the last run.
  [[nodiscard]] const std::vector<double>& seconds() const { return seconds_; }
  /// Of the last step, from its first instant to its last.
  [[nodiscard]] Seconds makespan() const { return makespan_; }
  /// Of it, what compute waited for the channel; not what the channel did after the last computation.
  [[nodiscard]] Seconds stalled() const { return stalled_; }
  /// Of it, what the `input` ops took: the data set's time, which no plan knows.
  [[nodiscard]] Seconds fetching() const { return fetching_; }
  /// The channel's work since the executor was made.
  [[nodiscard]] TransferTotals transferred() const;

 private:
  void issue(const PreparedStep& step);
  void wait_for(std::uint64_t ticket);
  void compute(const PreparedStep& step, std::int64_t number, std::uint64_t seed, const InputSource& inputs);

  const PlanFile& file_;
  const Program& program_;
  PersistentValues& persistent_;
  bool waits_ = false;  // transfers run beside compute until a step waits for them
  OpId loss_op_;
  OpId clip_op_;  // invalid: gradients are not clipped
  RowNumbers row_numbers_;
  std::unique_ptr<TransferQueue> channel_;
  IdVector<ValueId, std::uint64_t> ticket_;  // of the value's last transfer
  std::uint64_t last_ticket_ = 0;
  std::vector<double> seconds_;
  Seconds makespan_{};
  Seconds stalled_{};
  Seconds fetching_{};
  double rate_factor_ = 1.0;
  float loss_ = 0;
  std::optional<float> gradient_norm_;
};

/// The op that writes the loss of a training graph. Throws InputError when there is none or more than one.
[[nodiscard]] OpId find_loss(const Graph& graph);

}  // namespace poet::runtime
