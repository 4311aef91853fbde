#pragma once

// A staged schedule (Checkmate form): stage t computes op t for the first time, as the last op of the
// stage; before it, earlier ops may be recomputed in index order, each at most once. Vectors are sorted and
// without repetition.

#include <vector>

#include "poet/base/id.h"

namespace poet {

struct Stage {
  std::vector<ValueId> retain;    // in RAM when the stage starts
  std::vector<ValueId> page_in;   // storage -> RAM during this stage, usable from the next one on
  std::vector<ValueId> page_out;  // RAM -> storage during this stage, on storage from the next one on
  std::vector<OpId> compute;      // last one is op t

  bool operator==(const Stage&) const = default;
};

struct Schedule {
  std::vector<Stage> stages;  // one per op

  bool operator==(const Schedule&) const = default;
};

}  // namespace poet
