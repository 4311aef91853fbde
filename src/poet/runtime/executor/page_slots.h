#pragma once

// The slots of the page file: of one plan, or of all plans between which a run may switch, so that each finds
// the pages of the one before.

#include <cstddef>
#include <span>
#include <vector>

#include "poet/graph/graph.h"
#include "poet/plan/file/plan_file.h"
#include "poet/plan/plan.h"

namespace poet::runtime {

inline constexpr std::size_t kNoSlot = static_cast<std::size_t>(-1);

/// Page slots of a paged persistent value; only one if no step writes it.
struct Home {
  std::size_t slot = kNoSlot;
  std::size_t other_slot = kNoSlot;
};

struct PageSlots {
  std::vector<Bytes> bytes;     // of each slot
  std::vector<ValueId> owners;  // of each slot
  IdVector<ValueId, Home> home;
  bool has_homes = false;  // a plan has persistent values at home in the slots
};

/// The values that a plan pages.
struct Pager {
  std::vector<ValueId> paged;  // persistent values at home on storage, increasing
  const Plan* plan = nullptr;
};

[[nodiscard]] Pager pager_of(const PlanFile& file);

/// Returns the slots: one per value that a plan pages, two per persistent value that a plan pages and steps
/// update. For several plans every persistent value has at least one, for switching plans. O(ops + values +
/// steps).
[[nodiscard]] PageSlots page_slots(const Graph& graph, std::span<const Pager> plans);

/// Persistent values with bytes and their own storage, in ascending order, except rows of tables; and which
/// of them steps update.
struct PersistentKinds {
  std::vector<ValueId> all;
  IdVector<ValueId, char> updated;
};
[[nodiscard]] PersistentKinds persistent_kinds(const Graph& graph);

}  // namespace poet::runtime
