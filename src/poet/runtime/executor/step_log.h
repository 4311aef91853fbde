#pragma once

// Logs the state of a run in its page file after every step: the pages of the last complete step, and the
// resident values. Values that no step changes are written once.

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "poet/runtime/executor/program.h"
#include "poet/runtime/storage/left_run.h"
#include "poet/runtime/storage/page_file.h"
#include "poet/runtime/storage/step_record.h"

namespace poet::runtime {

class StepLog {
 public:
  /// `run`: the seed, the digests and the circumstances, which every record repeats, and the number of the
  /// last record. `sized`: records say how long they are, as those of plans that share a page file differ.
  /// `graph` and `program` must outlive this.
  StepLog(const Graph& graph, const Program& program, StepRecord run, bool sized = false);

  /// Of the page file: the program's slots, then those of values in RAM that no step changes.
  [[nodiscard]] const std::vector<Bytes>& slots() const { return slots_; }
  [[nodiscard]] Bytes record_bytes() const;
  /// Of the record that was written last.
  [[nodiscard]] std::uint64_t number() const { return record_.number; }
  /// The value whose page a slot is.
  [[nodiscard]] ValueId owner(std::size_t slot) const;

  /// Writes what no step changes, unless it is there.
  void start(PageFile& pages);
  /// The state after `step`, with homes in their second slots if `swapped`. Allocates nothing.
  void write(PageFile& pages, std::int64_t step, float loss, bool swapped);
  /// Brings back the values that are in RAM and adopts all homes; whether those are in their second slots.
  /// Writes nothing. Throws InputError naming the value whose page is damaged.
  [[nodiscard]] bool restore(PageFile& pages, const LeftRun& left);

 private:
  [[nodiscard]] std::span<std::byte> memory(ValueId v) const;
  [[nodiscard]] std::size_t slot_of_unchanged(std::size_t i) const;

  const Graph& graph_;
  const Program& program_;
  std::vector<Bytes> slots_;
  std::vector<ValueId> homes_;      // in the order of the record's: the paged ones, then those below
  std::vector<ValueId> unchanged_;  // in RAM
  std::vector<ValueId> changed_;    // in RAM
  StepRecord record_;
  std::vector<std::byte> encoded_;
  std::vector<std::span<const std::byte>> pieces_;  // of a record: encoded_, then the values in RAM
};

}  // namespace poet::runtime
