#pragma once

// The columns of the tight formulation (docs/formulation.md), addressed by their meaning. The paper's names:
// R recompute, S retain (in RAM when the stage starts), In and Out the page transfers. Every accessor gives a
// Term: a column, or the constant that the problem's structure already fixes (R[t,t] = 1, everything outside
// the allowed decisions = 0).

#include <utility>
#include <vector>

#include "poet/optimize/milp/columns.h"
#include "poet/optimize/milp/model.h"
#include "poet/optimize/problem/problem.h"

namespace poet {

class Variables {
 public:
  /// Adds the columns of `columns` to `model` with their energies times `scale`.
  Variables(Model& model, const Problem& problem, const Columns& columns, const Tightenings& tightenings,
            double scale);

  /// Op i is computed in stage t.
  [[nodiscard]] Term compute(int stage, int op) const;
  /// Value v is in RAM when stage t starts.
  [[nodiscard]] Term retain(int stage, int value) const;
  /// That copy came from storage (provenance); zero when provenance is off.
  [[nodiscard]] Term from_storage(int stage, int value) const;
  [[nodiscard]] Term page_in(int stage, int value) const;
  [[nodiscard]] Term page_out(int stage, int value) const;
  /// A copy is on storage when stage t starts: one column (page-out anytime) or the sum of the earlier
  /// page-outs.
  [[nodiscard]] Linear stored(int stage, int value) const;
  /// The value is ever paged out.
  [[nodiscard]] Linear stored(int value) const;

  using StageColumn = std::pair<int, int>;  // (stage, column), increasing by stage
  [[nodiscard]] const std::vector<StageColumn>& recomputes(int op) const { return recompute_[index(op)]; }
  [[nodiscard]] const std::vector<StageColumn>& page_ins(int value) const { return page_in_[index(value)]; }
  [[nodiscard]] const std::vector<StageColumn>& page_outs(int value) const { return page_out_[index(value)]; }
  /// Retention segments: (first stage, column); each reaches to the next one's first stage, the last to
  /// last_stage().
  [[nodiscard]] const std::vector<StageColumn>& segments(int value) const { return retain_[index(value)]; }
  [[nodiscard]] int last_stage(int value) const { return last_[index(value)]; }

  /// Stages in which an op that reads v is, or may be, computed; increasing.
  [[nodiscard]] std::vector<int> reading_stages(const Problem& problem, int value) const;

  /// Returns the decisions of a solution. Values above `threshold` count as taken.
  [[nodiscard]] Decisions decisions(const Problem& problem, const std::vector<double>& x,
                                    double threshold = 0.5) const;
  /// Returns (column, value) of every binary column for a candidate; empty if the candidate takes a decision
  /// without a column. Continuous columns follow from these.
  [[nodiscard]] std::vector<std::pair<int, double>> start(const Problem& problem,
                                                          const Candidate& candidate) const;

 private:
  static std::size_t index(int i) { return static_cast<std::size_t>(i); }
  static Term at(const std::vector<StageColumn>& columns, int stage);
  static Term in_segment(const std::vector<StageColumn>& segments, int stage, int last);

  bool page_out_anytime_;
  std::vector<std::vector<StageColumn>> recompute_;
  std::vector<std::vector<StageColumn>> page_in_, page_out_;
  std::vector<std::vector<StageColumn>> retain_, from_storage_;
  std::vector<int> last_;
  std::vector<int> stored_;
};

}  // namespace poet
