#pragma once

// A stage of the incremental replay, as walk_stage() (plan/schedule/stage_walk.h) asks for it. Private to
// incremental_*.cc.

#include "poet/optimize/heuristic/incremental.h"

namespace poet {

class IncrementalReplay::WalkedStage {
 public:
  WalkedStage(const IncrementalReplay& replay, int t) : r_(replay), t_(t) {}

  // Nothing is retained in vain, so that what else is in RAM at the start is read or stays throughout.
  [[nodiscard]] const std::vector<int>& present() const { return r_.outs_at_[at(t_)]; }
  [[nodiscard]] const std::vector<int>& page_outs() const { return r_.outs_at_[at(t_)]; }
  [[nodiscard]] const std::vector<int>& page_ins() const { return r_.ins_at_[at(t_)]; }
  [[nodiscard]] const std::vector<int>& reads(int op) const { return r_.p_.reads[at(op)]; }
  [[nodiscard]] const std::vector<int>& writes(int op) const { return r_.p_.writes[at(op)]; }
  void for_each_op(const auto& visit) const {
    for (int op : r_.recompute_[at(t_)]) visit(op);
    visit(t_);
  }
  [[nodiscard]] Retention retention(int v) const { return r_.retention(r_.kept_[at(v)], t_); }
  [[nodiscard]] InStage& state(int v) const { return r_.state_[at(v)]; }
  [[nodiscard]] int& uses(int v) const { return r_.uses_[at(v)]; }
  [[nodiscard]] const std::vector<int>& overwritable(int op) const { return r_.p_.overwritable[at(op)]; }
  [[nodiscard]] int first_result(int op) const { return r_.p_.first_result[at(op)]; }

 private:
  const IncrementalReplay& r_;
  const int t_;
};

}  // namespace poet
