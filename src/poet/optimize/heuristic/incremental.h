#pragma once

// What measure() (candidate.h) finds, kept up to date under changes. What a value occupies follows from the
// stages in which it is made, read and paged alone, so a change is followed through the values and stages
// that it touches and nowhere else. A structure of its own because local search asks after each of millions
// of edits; the rules of stages and time are everybody's (plan/schedule/stage_walk.h,
// plan/timing/device_clock.h).

#include <cstdint>
#include <vector>

#include "poet/base/numbers.h"
#include "poet/optimize/problem/candidate.h"
#include "poet/optimize/problem/problem.h"
#include "poet/plan/schedule/stage_walk.h"

namespace poet {

/// Stages first..last, both included.
struct Stretch {
  int first;
  int last;
  friend bool operator==(const Stretch&, const Stretch&) = default;
};

/// Holds decisions, and the figures that complete() would measure for them: RAM to the byte; seconds and
/// joules up to rounding. Edits are collected; update() makes the figures right; commit() keeps all edits
/// since the last commit, rollback() undoes them. An edit and its undoing cost O(events of the values touched
/// + stages that a value begins or ceases to be retained in + ops of the stages where something happens to
/// it).
class IncrementalReplay {
 public:
  /// Everything computed once, nothing paged.
  explicit IncrementalReplay(const Problem& problem);

  [[nodiscard]] const Problem& problem() const { return p_; }

  /// Replaces all decisions, as one edit to be updated and committed.
  void load(const Decisions& decisions);

  // Edits. False, and nothing happens, where the decision is there already (to be removed: is not there), or
  // could not be part of any schedule.
  bool add_recompute(int op, int stage);
  bool remove_recompute(int op, int stage);
  bool add_page_in(int value, int stage);
  bool remove_page_in(int value, int stage);
  /// The stage of the page-out, should the value be paged; -1: as complete() chooses.
  void pin_page_out(int value, int stage);

  /// Drops decisions that nothing needs and follows the edits through. Figures are valid from here to the
  /// next edit.
  void update();
  void commit();
  void rollback();
  /// Remembers the decisions; return_to_mark() brings them back later, at the cost of the edits in between.
  /// Both between transactions.
  void mark();
  void return_to_mark();

  // Figures.
  [[nodiscard]] const std::vector<std::int64_t>& stage_peak() const { return peak_; }
  /// By how much the stages exceed the budget, in all.
  [[nodiscard]] std::int64_t overflow() const { return overflow_; }
  [[nodiscard]] std::int64_t bytes_written() const { return bytes_written_; }
  /// Of all ops computed.
  [[nodiscard]] double compute_seconds() const { return seconds_; }

  struct Total {
    double joules;
    double seconds;
  };
  /// Device semantics: O(ops and transfers issued while the channel is busy, + stages). Else O(1).
  [[nodiscard]] Total total() const;
  /// Per stage, how long compute waits for transfers in it. Device semantics; same cost.
  [[nodiscard]] std::vector<double> waits() const;
  /// No schedule of these decisions has less energy: total().joules without waiting and waking. O(1).
  [[nodiscard]] double least_joules() const;

  // The schedule.
  [[nodiscard]] const std::vector<int>& recomputed_in(int stage) const { return recompute_[at(stage)]; }
  [[nodiscard]] const std::vector<int>& paged_in_in(int stage) const { return ins_at_[at(stage)]; }
  [[nodiscard]] const std::vector<int>& page_ins(int value) const { return ins_[at(value)]; }
  [[nodiscard]] int page_out(int value) const { return out_[at(value)]; }
  /// Stages in which the op is computed, the first one included.
  [[nodiscard]] const std::vector<int>& runs(int op) const { return runs_[at(op)]; }
  [[nodiscard]] const std::vector<Stretch>& retained(int value) const { return kept_[at(value)]; }
  [[nodiscard]] bool is_retained(int value, int stage) const;
  [[nodiscard]] bool is_computed(int op, int stage) const;
  [[nodiscard]] bool is_read(int value, int stage) const;
  /// The first stage after `stage` that reads the value from RAM, else ops.
  [[nodiscard]] int next_need(int value, int stage) const;
  /// The last stage before `stage` in which something happens to the value: made, read or paged in.
  [[nodiscard]] int last_event(int value, int stage) const;

  [[nodiscard]] Decisions decisions() const;

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
    std::vector<Stretch> kept;
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
  void queue_supplies(int value);
  void drop_useless();
  void refresh(int value);
  void find_retained(int value, std::vector<Stretch>& kept) const;
  [[nodiscard]] int place_page_out(int value, std::vector<Stretch>& kept) const;
  void account(int value, const std::vector<Stretch>& kept, int sign);
  void add_bytes(int first, int last, std::int64_t bytes);
  void touch_changed_stages(int value, const std::vector<Stretch>& before, int out_before);
  void move_page_out(int value, int from, int to);
  void set_local(int stage, std::int64_t local);
  [[nodiscard]] std::int64_t local_peak(int stage) const;
  [[nodiscard]] static Retention retention(const std::vector<Stretch>& kept, int stage);

  const Problem& p_;
  // Decisions.
  std::vector<std::vector<int>> recompute_;         // stage -> ops, increasing, without its own
  std::vector<std::vector<int>> runs_;              // op -> stages, increasing
  std::vector<std::vector<int>> ins_;               // value -> stages, increasing
  std::vector<std::vector<int>> ins_at_, outs_at_;  // stage -> values, increasing
  std::vector<int> pinned_out_, out_;               // value -> stage, else -1
  // What follows from them.
  std::vector<std::vector<Reads>> reads_;   // value -> increasing
  std::vector<std::vector<Stretch>> kept_;  // value -> retained, increasing, not adjacent
  std::vector<std::int64_t> local_;  // stage -> peak of what does not stay from its start to the next stage's
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
  std::vector<Stretch> scratch_kept_;
  // Of local_peak() and total().
  mutable std::vector<int> uses_;
  mutable std::vector<InStage> state_;
  mutable std::vector<double> arrival_, quiet_;  // end of the last page-in, of the last transfer
};

}  // namespace poet
