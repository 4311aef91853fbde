#pragma once

// The memory layout of a plan: a byte offset in one arena for every allocation.

#include <cstdint>
#include <optional>
#include <vector>

#include "poet/base/stop.h"
#include "poet/cost/instance.h"
#include "poet/plan/plan.h"

namespace poet {

/// One allocation: of a value while it is in RAM, or of the scratch memory of one run of an op. Values that
/// are paged or recomputed have several, each with its own address.
struct Allocation {
  ValueId value;            // invalid: scratch memory
  OpId op;                  // the op of scratch memory; invalid otherwise
  int begin = 0;            // the step that allocates it
  int end = 0;              // the step that frees it; the number of steps if none does
  Bytes bytes{};            // not rounded
  int takes_over = -1;      // the allocation that it is written over, in place; -1: none
  std::int64_t offset = 0;  // bytes from the beginning of the arena, a multiple of the alignment

  bool operator==(const Allocation&) const = default;
};

struct Layout {
  std::vector<Allocation> allocations;  // by begin; those of no bytes are left out
  Bytes arena{};                        // the highest end of an allocation, rounded up to the alignment
  Bytes lower_bound{};                  // no layout of this plan is smaller
};

/// Returns the allocations of the plan without offsets: results of computations and page-ins up to the step
/// that frees them; in device semantics workspaces while their ops run. A result takes over the memory of an
/// operand that dies with the op and is not being paged out, if the operator allows it (graph/in_place.h).
/// The verifier must accept `plan`. O(steps + edges).
[[nodiscard]] std::vector<Allocation> allocations_of(const Instance& instance, const Plan& plan,
                                                     Semantics semantics);

struct PlaceOptions {
  Bytes enough{};                       // the search ends at an arena of this size
  std::int64_t effort = 2'500'000'000;  // of each search, at most a few: plan/layout/arena/pack.h
  /// RAM available for the arena, if limited. If the arena found exceeds it, the search continues with 40
  /// times the effort, for at most a quarter of the time left, unless it was complete or the lower bound
  /// exceeds the room.
  std::optional<Bytes> room{};
  Stop stop{};  // ends with the smallest arena so far, after O(allocations^2) at worst
};

/// Returns offsets for all allocations in the smallest arena that the search finds
/// (plan/layout/arena/pack.h). Offsets are multiples of the alignment; in arenas of more than 15 Mi
/// alignments, if the arena stays within `enough`, of a power of two times the alignment, so that plan files
/// can state them in three bytes. Deterministic unless stopped. Persistent values are not in the arena.
[[nodiscard]] Layout place(const Instance& instance, const Plan& plan, Semantics semantics,
                           const PlaceOptions& options = {});

}  // namespace poet
