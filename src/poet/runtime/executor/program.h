#pragma once

// A plan made ready to run: every step with the addresses, the kernel and the page slot that it needs.

#include <cstddef>
#include <memory>
#include <vector>

#include "poet/plan/file/plan_file.h"
#include "poet/runtime/executor/memory.h"
#include "poet/runtime/executor/memory_map.h"
#include "poet/runtime/kernels/kernel.h"

namespace poet::runtime {

inline constexpr std::size_t kNoSlot = static_cast<std::size_t>(-1);

struct PreparedStep {
  StepKind kind = StepKind::compute;
  OpId op;                           // compute
  ValueId value;                     // the others
  Kernel* kernel = nullptr;          // compute, but for `input` ops, which the data set carries out
  KernelCall call;                   // its pointers
  std::byte* data = nullptr;         // of a transfer
  std::size_t slot = kNoSlot;        // of a transfer
  std::size_t other_slot = kNoSlot;  // of a paged persistent value its second one, else the same
  bool first = false;                // compute: for the first time in the step
};

/// Page slots of a paged persistent value; one where no step writes it.
struct Home {
  std::size_t slot = kNoSlot;
  std::size_t other_slot = kNoSlot;
};

class Program {
 public:
  /// `file` is one that the verifier accepts, and must outlive the program. Throws InputError naming the op
  /// or value when the plan's sizes cannot hold its tensors, when an op has no kernel here, or when the
  /// machine does not give the memory.
  Program(const PlanFile& file, const KernelOptions& options);

  [[nodiscard]] const std::vector<PreparedStep>& steps() const { return steps_; }
  [[nodiscard]] const MemoryMap& map() const { return map_; }

  /// Bytes of each page slot: one per value that is paged, two per paged persistent value that is updated.
  [[nodiscard]] const std::vector<Bytes>& slots() const { return slots_; }
  [[nodiscard]] const Home& home(ValueId v) const { return home_[v]; }
  /// Whether persistent values are at home in the slots.
  [[nodiscard]] bool has_homes() const { return has_homes_; }
  [[nodiscard]] std::size_t transfers() const { return transfers_; }

  /// Of a resident persistent value, for the whole run.
  [[nodiscard]] std::byte* persistent(ValueId v) const { return fixed_[v]; }
  [[nodiscard]] std::span<std::byte> arena() const;

 private:
  void make_kernels(const KernelOptions& options);
  void map_memory();
  void prepare();
  void lay_out_homes();
  const Home& slots_of(ValueId v);

  const PlanFile& file_;
  IdVector<OpId, std::unique_ptr<Kernel>> kernels_;
  MemoryMap map_;
  std::unique_ptr<Memory> memory_;   // arena, then persistent values
  std::unique_ptr<Memory> outside_;  // what the plan does not count
  std::byte* arena_ = nullptr;
  std::byte* workspace_ = nullptr;
  IdVector<ValueId, std::byte*> fixed_;  // of values that do not live in the arena
  IdVector<ValueId, Home> home_;
  bool has_homes_ = false;
  std::vector<Bytes> slots_;
  std::size_t transfers_ = 0;
  std::vector<std::vector<void*>> pointers_;  // what the steps' calls point to
  std::vector<PreparedStep> steps_;
};

}  // namespace poet::runtime
