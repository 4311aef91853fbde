#pragma once

// Where parameters and optimiser state live, on storage or in RAM, and why.

#include <string>
#include <vector>

#include "poet/cost/instance.h"
#include "poet/plan/plan.h"

namespace poet {

/// A plan's decision on a persistent value that could live on storage.
struct PersistentResidence {
  ValueId value;
  bool paged = false;
  bool updated = false;
  int page_ins = 0;
  Joules spent{};              // on its transfers
  double joules_per_byte = 0;  // of its transfers, or of one page-in and page-out if it has none
  std::string reason;          // "it has room beside what the ops need"
};

/// One per value of pageable(), increasing, then one per part of the tables that are transferred by index.
/// Values that live on storage are marked in the graph (with_paged()). O(values * log values + steps +
/// edges).
[[nodiscard]] std::vector<PersistentResidence> residences(const Instance& instance, const Plan& plan);

}  // namespace poet
