#pragma once

// Parameters and optimiser state between training steps: the resident ones in RAM, the paged ones in the page
// file, in two slots each. A step reads one slot and writes the other; they are swapped when the step is
// complete, so that a failed step leaves the state of the step before. With a log in the page file another
// process can read the state, too.

#include <cstddef>
#include <functional>
#include <vector>

#include "poet/runtime/executor/program.h"
#include "poet/runtime/executor/step_log.h"
#include "poet/runtime/storage/page_file.h"

namespace poet::runtime {

class PersistentValues {
 public:
  /// `pages` has the program's slots; null where it has none. Both must outlive this.
  PersistentValues(const Graph& graph, const Program& program, PageFile* pages);

  /// Sets the contents of a value to those that `fill` writes to the memory passed to it. For a value with
  /// rows these are the contents of its table; only the value that stands for its home has them
  /// (graph/parts.h). Not while a step runs.
  void set(ValueId v, const std::function<void(std::byte* to)>& fill);
  /// Returns the contents of a value; for a paged value a copy, valid until forget(). Not while a step runs.
  [[nodiscard]] const std::byte* contents(ValueId v) const;
  /// Frees the copies.
  void forget() { copies_ = IdVector<ValueId, std::vector<std::byte>>(copies_.size()); }

  /// Returns the slot of a transfer of the current step.
  [[nodiscard]] std::size_t slot(const PreparedStep& step) const {
    return (step.kind == StepKind::page_out) == swapped_ ? step.slot : step.other_slot;
  }
  /// Returns the slot with the contents of a paged value. Between steps only.
  [[nodiscard]] std::size_t slot_of(ValueId v) const { return home(v); }
  /// Must be called before the first transfer of a step.
  void start(std::int64_t step);
  /// Completes a step: the next one reads what it has written. Throws InputError if the log cannot be
  /// written; another process would then resume from the step before.
  void commit(std::int64_t step, float loss);

  /// Logs every step in `log`, which must outlive this, beginning with the present contents, those after
  /// `step`.
  void keep(StepLog& log, std::int64_t step, float loss);
  /// Before the program is destroyed: moves the values in its memory to the page file, which has homes for
  /// all.
  void leave();
  /// Continues with another program for the same values, all of which are in the page file. The log must be
  /// set anew by keep().
  void enter(const Program& program);

  /// Resumes with the contents found in `log`, and logs further steps in it.
  void go_on(StepLog& log, const LeftRun& left);

 private:
  [[nodiscard]] std::size_t home(ValueId v) const;

  const Graph& graph_;
  const Program* program_;  // null between leave() and enter()
  PageFile* const pages_;
  StepLog* log_ = nullptr;
  bool swapped_ = false;
  std::vector<ValueId> rows_;  // values with rows of tables
  mutable IdVector<ValueId, std::vector<std::byte>> copies_;
};

}  // namespace poet::runtime
