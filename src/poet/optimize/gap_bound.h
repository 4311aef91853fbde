#pragma once

// The bound without a constraint matrix, by gap packing. It is quick, and on large problems usually the only
// one.

#include "poet/optimize/problem/gaps.h"
#include "poet/optimize/relaxation/gap_relaxation.h"
#include "poet/optimize/search/search.h"

namespace poet {

class GapBound {
 public:
  /// `search` must outlive this. O(gaps).
  explicit GapBound(Search& search);
  GapBound(const GapBound&) = delete;
  GapBound& operator=(const GapBound&) = delete;

  /// Runs one round (GapRelaxation::improve()) and raises the search's bound. Returns false, without a round,
  /// once the search is proven or several rounds in a row have not raised the bound.
  bool go_on();

 private:
  Search& search_;
  const Gaps gaps_;
  GapRelaxation relaxation_;
  /// Limits the target of a step, relative to the best bound so far; reduced when steps lower the bound.
  double farther_ = 1;
  int rounds_ = 0;
  int idle_ = 0;  // rounds in a row
  bool ended_ = false;
};

}  // namespace poet
