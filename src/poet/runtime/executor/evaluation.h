#pragma once

// Executes the plan of a forward pass between training steps, in the memory of the training program and on
// its parameters, in RAM or on storage.

#include <cstdint>
#include <memory>
#include <vector>

#include "poet/runtime/executor/executor.h"

namespace poet::runtime {

/// The result of a pass.
struct PassFigures {
  float loss = 0;
  std::int64_t right = 0;  // number of counted rows whose target has the largest logit
};

class Evaluation {
 public:
  /// The verifier must accept `plan`. Its persistent values are those of the same names in `training`; `host`
  /// is the training program. All must outlive this. Throws InputError as Program, and if `training` lacks a
  /// parameter.
  Evaluation(const PlanFile& plan, const KernelOptions& kernels, const Graph& training, const Program& host);

  /// Runs a pass. `pages` has slots(), or is null if there are none. `right` counts the first `samples` of
  /// the batch. Persistent values are unchanged. Throws the InputError of a failed transfer or of the input
  /// source.
  PassFigures run(const PersistentValues& persistent, TransferQueue* channel, PageFile* pages,
                  const InputSource& inputs, std::int64_t samples);

  /// Bytes of each page of a value that is not persistent.
  [[nodiscard]] const std::vector<Bytes>& slots() const { return slots_; }

  /// Returns whether the loss has class targets, so that `right` is meaningful.
  [[nodiscard]] bool has_classes() const { return has_classes_; }
  [[nodiscard]] std::int64_t rows_per_sample() const;
  [[nodiscard]] const Program& program() const { return *program_; }

 private:
  void count_right(const KernelCall& call, std::int64_t samples);

  const PlanFile& plan_;
  IdVector<ValueId, ValueId> of_training_;
  std::unique_ptr<Program> program_;
  RowNumbers row_numbers_;
  OpId loss_op_;
  std::int64_t batch_ = 1;
  bool has_classes_ = false;
  IdVector<ValueId, std::uint64_t> ticket_;
  std::vector<Bytes> slots_;
  IdVector<ValueId, std::size_t> slot_;  // of what is not persistent
  PassFigures found_;
};

}  // namespace poet::runtime
