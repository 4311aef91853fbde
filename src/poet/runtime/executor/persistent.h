#pragma once

// Parameters and optimiser state between training steps, wherever they are at home: the resident ones in RAM,
// the paged ones on the page file, in two slots each. A step reads one and writes the other; only when it is
// complete the two change places, so that a step that fails leaves all as the step before left it. With a log
// on the page file, all is there for another process as well.

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

  /// Of a value with rows the contents are its table's, and only one that stands for its home has them
  /// (graph/parts.h). What `fill` writes to the memory that it is given becomes the value's contents. Not
  /// while a step runs.
  void set(ValueId v, const std::function<void(std::byte* to)>& fill);
  /// Of a paged value a copy in memory of its own, until forget(). Not while a step runs.
  [[nodiscard]] const std::byte* contents(ValueId v) const;
  /// Lets the copies go.
  void forget() { copies_ = IdVector<ValueId, std::vector<std::byte>>(copies_.size()); }

  /// The slot of a transfer of the step under way.
  [[nodiscard]] std::size_t slot(const PreparedStep& step) const {
    return (step.kind == StepKind::page_out) == swapped_ ? step.slot : step.other_slot;
  }
  /// Between steps: where the contents of a paged value are.
  [[nodiscard]] std::size_t slot_of(ValueId v) const { return home(v); }
  /// Before the first transfer of the step.
  void start(std::int64_t step);
  /// The step is complete: what it has written is what the next one reads. Throws InputError where the log
  /// cannot be written; another process would then go on from the step before.
  void commit(std::int64_t step, float loss);

  /// Every step is to be in `log`, which must outlive this: the present contents are those after `step`.
  void keep(StepLog& log, std::int64_t step, float loss);
  /// Before the program goes: what lies in its memory goes to the page file, which has a home for all of it.
  void leave();
  /// Another program for the same values, of which the page file has all. The log is to be kept anew.
  void enter(const Program& program);

  /// The contents are what `log` has found; the next step is in it, too.
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
