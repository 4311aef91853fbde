#pragma once

// The figures of measure() (candidate.h), updated incrementally. The RAM of a value depends only on the
// stages in which it is computed, read and paged, so an edit changes only the values and stages that it
// touches. Local search needs the figures after each of millions of edits. The rules of stages and time are
// the shared ones (plan/schedule/stage_walk.h, plan/timing/device_clock.h).

#include <cstdint>
#include <vector>

#include "poet/base/numbers.h"
#include "poet/optimize/problem/candidate.h"
#include "poet/optimize/problem/problem.h"
#include "poet/plan/schedule/stage_walk.h"

namespace poet {

/// Stages first..last, both included.
struct StageInterval {
  int first;
  int last;
  friend bool operator==(const StageInterval&, const StageInterval&) = default;
};

/// A recomputation or a page-in.
struct ListedDecision {
  bool recompute;
  int id;  // op or value
  int stage;
};

/// Holds decisions, and the figures that complete() would measure for them: RAM to the byte; seconds and
/// joules up to rounding. Edits are collected; update() brings the figures up to date; commit() keeps all
/// edits since the last commit, rollback() undoes them. An edit and its undoing cost O(events of the values
/// touched + stages in which a value begins or ceases to be retained + ops of the stages of these events).
class IncrementalReplay {
 public:
  /// Everything computed once, nothing paged.
  explicit IncrementalReplay(const Problem& problem);

  [[nodiscard]] const Problem& problem() const { return p_; }

  /// Replaces all decisions, as one edit to be updated and committed.
  void load(const Decisions& decisions);

  // Edits. They do nothing and return false if the decision is there already (when removing: is not there),
  // or cannot be part of any schedule.
  bool add_recompute(int op, int stage);
  bool remove_recompute(int op, int stage);
  bool add_page_in(int value, int stage);
  bool remove_page_in(int value, int stage);
  /// Sets the stage of the page-out in case the value is paged; -1: as complete() chooses.
  void pin_page_out(int value, int stage);

  /// Drops useless decisions and updates the figures, which are valid until the next edit.
  void update();
  void commit();
  void rollback();
  /// Remembers the decisions; return_to_mark() restores them, at the cost of the edits in between. Call both
  /// between transactions.
  void mark();
  void return_to_mark();

  // Figures.
  [[nodiscard]] const std::vector<std::int64_t>& stage_peak() const { return peak_; }
  /// The bytes by which stages exceed the budget, summed over stages.
  [[nodiscard]] std::int64_t overflow() const { return overflow_; }
  [[nodiscard]] std::int64_t bytes_written() const { return bytes_written_; }
  /// Sum over all computations.
  [[nodiscard]] double compute_seconds() const { return seconds_; }

  struct Total {
    double joules;
    double seconds;
  };
  /// Device semantics: O(stages + ops and transfers issued while the channel is busy); else O(1).
  [[nodiscard]] Total total() const;
  /// Returns, per stage, how long compute waits for transfers. Device semantics; same complexity.
  [[nodiscard]] std::vector<double> waits() const;
  /// A lower bound on the energy of these decisions: total().joules without stalls and wake-ups. O(1).
  [[nodiscard]] double least_joules() const;

  // The schedule.
  [[nodiscard]] const std::vector<int>& recomputed_in(int stage) const { return recompute_[at(stage)]; }
  [[nodiscard]] const std::vector<int>& paged_in_in(int stage) const { return ins_at_[at(stage)]; }
  [[nodiscard]] const std::vector<int>& page_ins(int value) const { return ins_[at(value)]; }
  [[nodiscard]] int page_out(int value) const { return out_[at(value)]; }
  /// Stages in which the op is computed, the first one included.
  [[nodiscard]] const std::vector<int>& runs(int op) const { return runs_[at(op)]; }
  [[nodiscard]] const std::vector<StageInterval>& retained(int value) const { return kept_[at(value)]; }
  [[nodiscard]] bool is_retained(int value, int stage) const;
  [[nodiscard]] bool is_computed(int op, int stage) const;
  [[nodiscard]] bool is_read(int value, int stage) const;
  /// The first stage after `stage` that reads the value from RAM; Problem::ops if there is none.
  [[nodiscard]] int next_need(int value, int stage) const;
  /// The last stage before `stage` in which the value is computed, read or paged in.
  [[nodiscard]] int last_event(int value, int stage) const;

  [[nodiscard]] Decisions decisions() const;
  /// Fills `list` with the recomputations and page-ins, by stage.
  void list_decisions(std::vector<ListedDecision>& list) const;

 private:
  struct Reads {
    int stage;
    int count;  // ops of the stage that read the value
  };
  struct Edit {
    enum Kind : char { recompute, no_recompute, page_in, no_page_in, pin } kind;
    int id;
    int stage;
  };
  struct SavedValue {
    int value = -1;
    int out = -1;
    std::vector<StageInterval> kept;
  };
  struct SavedStage {
    int stage;
    std::int64_t local;
  };
  class WalkedStage;
  class Timing;

  void put_recompute(int op, int stage);
  void take_recompute(int op, int stage);
  void put_page_in(int value, int stage);
  void take_page_in(int value, int stage);
  void count_reads(int op, int stage, int by);

  void undo(const Edit& edit);
  void touch_value(int value);
  void touch_stage(int stage);
  [[nodiscard]] bool supplies_later(int value, int stage) const;
  void queue_supply(int stage, int id);
  void queue_supplies(int value);
  void queue_last_supplies(int value, int stage);
  void drop_useless();
  void refresh(int value);
  void find_retained(int value, std::vector<StageInterval>& kept) const;
  [[nodiscard]] int place_page_out(int value, std::vector<StageInterval>& kept) const;
  void account(int value, const std::vector<StageInterval>& kept, int sign);
  void add_bytes(int first, int last, std::int64_t bytes);
  void touch_changed_stages(int value, const std::vector<StageInterval>& before, int out_before);
  void move_page_out(int value, int from, int to);
  void set_local(int stage, std::int64_t local);
  [[nodiscard]] std::int64_t local_peak(int stage) const;
  [[nodiscard]] static Retention retention(const std::vector<StageInterval>& kept, int stage);

  const Problem& p_;
  // Decisions.
  std::vector<std::vector<int>> recompute_;         // stage -> ops, increasing, without its own
  std::vector<std::vector<int>> runs_;              // op -> stages, increasing
  std::vector<std::vector<int>> ins_;               // value -> stages, increasing
  std::vector<std::vector<int>> ins_at_, outs_at_;  // stage -> values, increasing
  std::vector<int> pinned_out_, out_;               // value -> stage, else -1
  // Derived from them.
  std::vector<std::vector<Reads>> reads_;         // value -> increasing
  std::vector<std::vector<StageInterval>> kept_;  // value -> retained, increasing, not adjacent
  std::vector<std::int64_t> local_;  // stage -> peak of values that are not retained throughout it
  std::vector<std::int64_t> peak_;
  std::int64_t overflow_ = 0;
  std::int64_t bytes_written_ = 0;
  double joules_ = 0;
  double seconds_ = 0;

  // Since the last update().
  std::vector<int> dirty_values_, dirty_stages_;
  std::vector<char> value_is_dirty_, stage_is_dirty_;
  std::vector<std::pair<int, int>> supplies_;  // heap: (stage, op; or ~value of a page-in)
  // Since the last commit().
  std::vector<Edit> log_;
  // Of the commits since mark().
  std::vector<Edit> journal_;
  bool marked_ = false;
  std::vector<SavedValue> saved_values_;
  std::size_t saved_values_used_ = 0;
  std::vector<SavedStage> saved_stages_;
  std::vector<int> value_saved_, stage_saved_;  // transaction number
  int transaction_ = 1;
  double joules_before_ = 0, seconds_before_ = 0;
  std::vector<StageInterval> scratch_kept_;
  // Of local_peak() and total().
  mutable std::vector<int> uses_;
  mutable std::vector<InStage> state_;
  mutable std::vector<double> arrival_, quiet_;  // end of the last page-in, of the last transfer
};

}  // namespace poet
