#pragma once

// Executes a program: the training step of a plan, repeatedly, in the plan's memory.

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

/// Called after every run of an op, recomputations included: for checks and captures.
using Observer = std::function<void(const PreparedStep& step)>;

class Executor {
 public:
  /// Starts the channel to `pages`, which has the program's slots, if the plan pages; else `pages` is null.
  /// `file`, `program`, `persistent` and `pages` must outlive the executor. The plan must be one of device
  /// semantics. Throws InputError as TransferQueue does.
  Executor(const PlanFile& file, const Program& program, PersistentValues& persistent, PageFile* pages);
  ~Executor();
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;
  Executor(Executor&&) = delete;
  Executor& operator=(Executor&&) = delete;

  /// Runs one training step; `number` counts from 1, `rate_factor` multiplies the learning rate. Only kernels
  /// may allocate (kernel.h). Throws the InputError of a failed transfer, of the input source or of
  /// a kernel; resident parameters may then be partly updated, and no transfer is pending.
  void run(std::int64_t number, std::uint64_t seed, const InputSource& inputs, const Observer& observer = {},
           double rate_factor = 1.0);

  /// The loss of the last step.
  [[nodiscard]] float loss() const { return loss_; }
  /// The global norm of the gradients in the last step before clipping; absent without clipping.
  [[nodiscard]] std::optional<float> gradient_norm() const { return gradient_norm_; }
  /// Seconds of the compute engine for each of the plan's steps in the last run.
  [[nodiscard]] const std::vector<double>& seconds() const { return seconds_; }
  /// Duration of the last step.
  [[nodiscard]] Seconds makespan() const { return makespan_; }
  /// The part of it in which compute waited for the channel, without transfers after the last computation.
  [[nodiscard]] Seconds stalled() const { return stalled_; }
  /// The part of it spent in `input` ops: the data set's time, which plans do not model.
  [[nodiscard]] Seconds fetching() const { return fetching_; }
  /// The channel's work since the executor was made.
  [[nodiscard]] TransferTotals transferred() const;

 private:
  void run_steps(std::int64_t number, std::uint64_t seed, const InputSource& inputs, const Observer& observer,
                 double rate_factor);
  void settle();
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

/// Returns the op that writes the loss of a training graph. Throws InputError if there is none or more than
/// one.
[[nodiscard]] OpId find_loss(const Graph& graph);

}  // namespace poet::runtime
