#pragma once

// Carries out the plan of a forward pass between training steps, in the memory of the training's program and
// on its parameters, wherever they are at home.

#include <cstdint>
#include <memory>
#include <vector>

#include "poet/runtime/executor/executor.h"

namespace poet::runtime {

/// What a pass found.
struct PassFigures {
  float loss = 0;
  std::int64_t right = 0;  // of the rows that were looked at, those whose target has the largest logit
};

class Evaluation {
 public:
  /// `plan` is one that the verifier accepts. Its persistent values are
  /// those of `training` of the same names; `host` is the training's program. All must outlive this. Throws
  /// InputError as Program, and where a parameter is none of the training's.
  Evaluation(const PlanFile& plan, const KernelOptions& kernels, const Graph& training, const Program& host);

  /// One pass. `pages` has slots(); null where there are none. `samples`: of the batch the first so many are
  /// looked at for `right`. Persistent values stay as they are. Throws the InputError of a transfer that
  /// failed or of the input source.
  PassFigures run(const PersistentValues& persistent, TransferQueue* channel, PageFile* pages,
                  const InputSource& inputs, std::int64_t samples);

  /// Bytes of each page of a value that is not persistent.
  [[nodiscard]] const std::vector<Bytes>& slots() const { return slots_; }

  /// Whether `right` means anything: the loss compares with classes.
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
