#pragma once

// A plan made ready to run: every step with the addresses, the kernel and the page slot that it needs.

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
  Kernel* kernel = nullptr;          // compute, but for `input` ops, which the data set carries out
  KernelCall call;                   // its pointers
  std::byte* data = nullptr;         // of a transfer
  std::size_t slot = kNoSlot;        // of a transfer
  std::size_t other_slot = kNoSlot;  // of a paged persistent value its second one, else the same
  RowTransfer* rows = nullptr;       // of a transfer of rows, which has no slots
  bool first = false;                // compute: for the first time in the step
};

/// The numbers of rows that an input of the step names, in RAM from before its beginning on.
struct IndexList {
  std::vector<OpId> inputs;         // the `input` ops that have its numbers
  std::span<std::int32_t> numbers;  // kOtherRow where an earlier one is the same
  std::int64_t rows = 0;            // of the smallest of its tables: every number is below
};

class Program {
 public:
  /// `file` is one that the verifier accepts, and must outlive the program. Throws InputError naming the op
  /// or value when the plan's sizes cannot hold its tensors, when an op has no kernel here, or when the
  /// machine does not give the memory.
  Program(const PlanFile& file, const KernelOptions& options);
  /// The same with page slots that are not its own alone, which must outlive it.
  Program(const PlanFile& file, const KernelOptions& options, const PageSlots& slots);
  /// In the memory of `host`, between its steps: in its arena, and on its persistent values, which
  /// `of_host` says of each of the file's. Its page slots are for nobody. Throws InputError also where the
  /// arena is too small.
  Program(const PlanFile& file, const KernelOptions& options, const Program& host,
          const IdVector<ValueId, ValueId>& of_host);

  [[nodiscard]] const std::vector<PreparedStep>& steps() const { return steps_; }
  [[nodiscard]] const MemoryMap& map() const { return map_; }

  /// Bytes of each page slot.
  [[nodiscard]] const std::vector<Bytes>& slots() const { return slots_->bytes; }
  [[nodiscard]] const Home& home(ValueId v) const { return slots_->home[v]; }
  /// The value whose page a slot is.
  [[nodiscard]] ValueId owner(std::size_t slot) const { return slots_->owners[slot]; }
  /// Tables of which rows are transferred, the values that stand for them (stands_for_home() of
  /// graph/parts.h), and of a value with rows its transfer.
  [[nodiscard]] const std::vector<TableSize>& tables() const { return tables_; }
  [[nodiscard]] ValueId table_owner(std::size_t table) const { return table_owners_[table]; }
  [[nodiscard]] RowTransfer& rows(ValueId v) const { return *row_transfers_[v]; }
  [[nodiscard]] const std::vector<IndexList>& index_lists() const { return index_lists_; }
  /// Of all of the step's transfers of rows.
  void start_rows(std::int64_t step) const;
  [[nodiscard]] std::size_t transfers() const { return transfers_; }

  /// Of a resident persistent value, for the whole run.
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

/// charge_workspaces() (kernels/kernel_options.h) for the pass that validates a network, where `training`,
/// the instance of the training's plan, has room for its own kernels' workspaces. Else nothing: those of both
/// are outside the RAM budget, and the arena may have no room for them.
void charge_workspaces_as(const Instance& training, Instance& instance, const KernelOptions& options);

}  // namespace poet::runtime
