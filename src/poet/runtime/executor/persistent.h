#pragma once

// Parameters and optimiser state between training steps, wherever they are at home: the resident ones in RAM,
// the paged ones on the page file, in two slots each. A step reads one and writes the other; only when it is
// complete the two change places, so that a step that fails leaves all as the step before left it.

#include <cstddef>
#include <functional>
#include <vector>

#include "poet/runtime/executor/program.h"
#include "poet/runtime/storage/page_file.h"

namespace poet::runtime {

class PersistentValues {
 public:
  /// `pages` has the program's slots; null where it has none. Both must outlive this.
  PersistentValues(const Graph& graph, const Program& program, PageFile* pages);

  /// What `fill` writes to the memory that it is given becomes the value's contents. Not while a step runs.
  void set(ValueId v, const std::function<void(std::byte* to)>& fill);
  /// Of a paged value a copy in memory of its own, until forget(). Not while a step runs.
  [[nodiscard]] const std::byte* contents(ValueId v) const;
  /// Lets the copies go.
  void forget() { copies_ = IdVector<ValueId, std::vector<std::byte>>(copies_.size()); }

  /// The slot of a transfer of the step under way.
  [[nodiscard]] std::size_t slot(const PreparedStep& step) const {
    return (step.kind == StepKind::page_out) == swapped_ ? step.slot : step.other_slot;
  }
  /// The step is complete: what it has written is what the next one reads.
  void commit() { swapped_ = !swapped_; }

 private:
  [[nodiscard]] std::size_t home(ValueId v) const;

  const Graph& graph_;
  const Program& program_;
  PageFile* const pages_;
  bool swapped_ = false;
  mutable IdVector<ValueId, std::vector<std::byte>> copies_;
};

}  // namespace poet::runtime
