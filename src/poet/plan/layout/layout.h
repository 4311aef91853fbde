#pragma once

// Where everything lies: a byte offset in one arena for every allocation.

#include <cstdint>
#include <optional>
#include <vector>

#include "poet/base/stop.h"
#include "poet/cost/instance.h"
#include "poet/plan/plan.h"

namespace poet {

/// One allocation: of a value while it is in RAM, or of the scratch memory of one run of an op. A value that
/// is paged or recomputed has several, each at an address of its own.
struct Allocation {
  ValueId value;            // invalid: scratch memory
  OpId op;                  // whose scratch memory; invalid otherwise
  int begin = 0;            // the step that takes the memory
  int end = 0;              // the step that gives it back; the number of steps if none does
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

/// What the plan keeps in RAM when, without offsets: results of computations and page-ins up to the step that
/// frees them; in device semantics an op's workspace while it runs. An operator that can (graph/in_place.h)
/// is given the memory of an operand that dies with it and is not being paged out. `plan` must be one that
/// the verifier accepts. O(steps + edges).
[[nodiscard]] std::vector<Allocation> allocations_of(const Instance& instance, const Plan& plan,
                                                     Semantics semantics);

struct PlaceOptions {
  Bytes enough{};                       // a smaller arena is not looked for
  std::int64_t effort = 2'500'000'000;  // of each search, at most a few: plan/layout/arena/pack.h
  /// What there is for the arena, if it matters: where it is too small for the one found, the search goes on
  /// for 40 times the effort, but for a quarter of the time left at most; unless it was complete or the lower
  /// bound exceeds the room.
  std::optional<Bytes> room{};
  Stop stop{};  // ends with the smallest arena so far, after O(allocations^2) at worst
};

/// Offsets for all of them, in an arena as small as the search finds (plan/layout/arena/pack.h). They are
/// multiples of the alignment; in arenas of more than 15 Mi alignments, where that costs nothing beyond
/// `enough`, of such a power of two times it that plan files can state them in three bytes. Deterministic,
/// unless stopped. Persistent values are not in the arena.
[[nodiscard]] Layout place(const Instance& instance, const Plan& plan, Semantics semantics,
                           const PlaceOptions& options = {});

}  // namespace poet
