#pragma once

// A plan prepared for execution: every step with its addresses, kernel and page slot.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "poet/plan/file/plan_file.h"
#include "poet/runtime/executor/memory.h"
#include "poet/runtime/executor/memory_map.h"
#include "poet/runtime/executor/page_slots.h"
#include "poet/runtime/kernels/kernel.h"
#include "poet/runtime/storage/row_store.h"
#include "poet/runtime/storage/row_transfer.h"

namespace poet::runtime {

struct PreparedStep {
  StepKind kind = StepKind::compute;
  OpId op;                           // compute
  ValueId value;                     // the others
  Kernel* kernel = nullptr;          // compute, except `input` ops, which the data set executes
  KernelCall call;                   // its pointers
  std::byte* data = nullptr;         // of a transfer
  std::size_t slot = kNoSlot;        // of a transfer
  std::size_t other_slot = kNoSlot;  // the second one of a paged persistent value, else the same
  RowTransfer* rows = nullptr;       // of a transfer of rows, which has no slots
  bool first = false;                // compute: for the first time in the step
};

/// The row indices of an input of the step, in RAM from before the step begins.
struct IndexList {
  std::vector<OpId> inputs;         // the `input` ops that bring the indices
  std::span<std::int32_t> numbers;  // kOtherRow if an earlier index is the same
  std::int64_t rows = 0;            // of the smallest of its tables: upper bound of indices
};

class Program {
 public:
  /// The verifier must accept `file`, which must outlive the program. Throws InputError naming the op or
  /// value if the plan's sizes cannot hold its tensors, if an op has no kernel, or if the system cannot
  /// provide the memory.
  Program(const PlanFile& file, const KernelOptions& options);
  /// The same with shared page slots, which must outlive it.
  Program(const PlanFile& file, const KernelOptions& options, const PageSlots& slots);
  /// The same in the memory of `host`, between its steps: in its arena and on its persistent values;
  /// `of_host` maps those of the file to them. Page slots of such a program are not used. Throws InputError
  /// also if the arena is too small.
  Program(const PlanFile& file, const KernelOptions& options, const Program& host,
          const IdVector<ValueId, ValueId>& of_host);

  [[nodiscard]] const std::vector<PreparedStep>& steps() const { return steps_; }
  [[nodiscard]] const MemoryMap& map() const { return map_; }

  /// Bytes of each page slot.
  [[nodiscard]] const std::vector<Bytes>& slots() const { return slots_->bytes; }
  [[nodiscard]] const Home& home(ValueId v) const { return slots_->home[v]; }
  /// Returns the value of a slot.
  [[nodiscard]] ValueId owner(std::size_t slot) const { return slots_->owners[slot]; }
  /// Tables whose rows are transferred, the values that stand for them (stands_for_home() of graph/parts.h),
  /// and the transfer of a value with rows.
  [[nodiscard]] const std::vector<TableSize>& tables() const { return tables_; }
  [[nodiscard]] ValueId table_owner(std::size_t table) const { return table_owners_[table]; }
  [[nodiscard]] RowTransfer& rows(ValueId v) const { return *row_transfers_[v]; }
  [[nodiscard]] const std::vector<IndexList>& index_lists() const { return index_lists_; }
  /// Resets all transfers of rows for a step.
  void start_rows(std::int64_t step) const;
  [[nodiscard]] std::size_t transfers() const { return transfers_; }

  /// Returns the address of a resident persistent value, valid for the whole run.
  [[nodiscard]] std::byte* persistent(ValueId v) const { return fixed_[v]; }
  [[nodiscard]] std::span<std::byte> arena() const;

 private:
  void make_kernels(const KernelOptions& options);
  void map_memory();
  void use_memory_of(const Program& host, const IdVector<ValueId, ValueId>& of_host);
  [[nodiscard]] Bytes unplanned_workspace() const;
  class Places;
  [[nodiscard]] std::span<void* const> pointers(const Places& places, const std::vector<ValueId>& values);
  void prepare_transfer(PreparedStep& prepared, const Places& places);
  /// `planned` is the address that the plan has for the op's workspace, or null. Null if it needs none.
  [[nodiscard]] std::byte* workspace_of(OpId op, std::byte* planned) const;
  void prepare();
  void lay_out_tables();

  const PlanFile& file_;
  IdVector<OpId, std::unique_ptr<Kernel>> kernels_;
  MemoryMap map_;
  std::unique_ptr<Memory> memory_;   // arena, then persistent values
  std::unique_ptr<Memory> outside_;  // what the plan does not count
  std::byte* arena_ = nullptr;
  std::byte* workspace_ = nullptr;
  IdVector<ValueId, std::byte*> fixed_;  // of values that do not live in the arena
  std::optional<PageSlots> own_slots_;
  const PageSlots* slots_;
  std::size_t transfers_ = 0;
  std::span<std::int32_t> indices_;  // memory of the lists below
  std::vector<TableSize> tables_;
  std::vector<ValueId> table_owners_;
  std::vector<IndexList> index_lists_;
  IdVector<ValueId, std::unique_ptr<RowTransfer>> row_transfers_;  // null: no rows
  std::vector<std::vector<std::uint64_t>> row_checksums_;
  std::vector<std::vector<void*>> pointers_;  // what the steps' calls point to
  std::vector<PreparedStep> steps_;
};

/// Calls charge_workspaces() (kernels/kernel_options.h) for a validation pass if `training`, the instance of
/// the training plan, includes its kernels' workspaces. Otherwise charges none: the workspaces of both are
/// outside the RAM budget, and may not fit into the arena.
void charge_workspaces_as(const Instance& training, Instance& instance, const KernelOptions& options);

}  // namespace poet::runtime
