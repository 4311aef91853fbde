// Propagates edits through the incremental replay: useless decisions, retention, page-outs, RAM.

#include <algorithm>
#include <utility>

#include "poet/base/error.h"
#include "poet/optimize/heuristic/incremental.h"
#include "poet/optimize/problem/sorted.h"

namespace poet {

void IncrementalReplay::update() {
  drop_useless();
  for (std::size_t i = 0; i < dirty_values_.size(); ++i) refresh(dirty_values_[i]);
  for (int v : dirty_values_) value_is_dirty_[at(v)] = 0;
  dirty_values_.clear();
  for (int t : dirty_stages_) {
    stage_is_dirty_[at(t)] = 0;
    if (stage_saved_[at(t)] != transaction_) {
      stage_saved_[at(t)] = transaction_;
      saved_stages_.push_back({t, local_[at(t)]});
    }
    set_local(t, local_peak(t));
  }
  dirty_stages_.clear();
}

// Removes recomputations and page-ins whose result nobody reads. Latest first, since the use of one depends
// on later ones only.
void IncrementalReplay::drop_useless() {
  for (int v : dirty_values_) queue_supplies(v);
  while (!supplies_.empty()) {
    std::pop_heap(supplies_.begin(), supplies_.end());
    const auto [stage, id] = supplies_.back();
    supplies_.pop_back();
    if (!supplies_.empty() && supplies_.front() == std::pair(stage, id)) continue;  // queued twice
    if (id >= 0) {
      if (!is_computed(id, stage)) continue;
      const auto& writes = p_.writes[at(id)];
      bool useful = false;
      for (int v : writes) useful = useful || is_read(v, stage) || supplies_later(v, stage);
      if (useful) continue;
      remove_recompute(id, stage);
      for (int u : p_.reads[at(id)]) queue_last_supplies(u, stage);
    } else {
      const int v = ~id;
      if (!contains(ins_[at(v)], stage)) continue;
      if (!is_computed(p_.producer[at(v)], stage) && !is_read(v, stage) && supplies_later(v, stage)) continue;
      remove_page_in(v, stage);
    }
  }
}

void IncrementalReplay::queue_supply(int stage, int id) {
  supplies_.emplace_back(stage, id);
  std::push_heap(supplies_.begin(), supplies_.end());
}

void IncrementalReplay::queue_supplies(int v) {
  const int producer = p_.producer[at(v)];
  for (int stage : runs_[at(producer)])
    if (stage != producer) queue_supply(stage, producer);
  for (int stage : ins_[at(v)]) queue_supply(stage, ~v);
}

// Of what can have become useless because `v` is not read in `stage` any more: earlier copies are of no less
// use than before.
void IncrementalReplay::queue_last_supplies(int v, int stage) {
  const int producer = p_.producer[at(v)];
  const int made = last_below(runs_[at(producer)], stage + 1);
  if (made > producer) queue_supply(made, producer);
  const int in = last_below(ins_[at(v)], stage + 1);
  if (in >= 0) queue_supply(in, ~v);
}

bool IncrementalReplay::is_computed(int op, int stage) const { return contains(runs_[at(op)], stage); }

bool IncrementalReplay::is_read(int v, int stage) const {
  const auto& reads = reads_[at(v)];
  const auto found =
      std::lower_bound(reads.begin(), reads.end(), stage, [](const Reads& r, int t) { return r.stage < t; });
  return found != reads.end() && found->stage == stage;
}

int IncrementalReplay::next_need(int v, int stage) const {
  const auto& reads = reads_[at(v)];
  auto found = std::lower_bound(reads.begin(), reads.end(), stage + 1,
                                [](const Reads& r, int t) { return r.stage < t; });
  const auto& made = runs_[at(p_.producer[at(v)])];
  while (found != reads.end() && contains(made, found->stage)) ++found;
  return found == reads.end() ? p_.ops : found->stage;
}

int IncrementalReplay::last_event(int v, int stage) const {
  const auto& reads = reads_[at(v)];
  const auto found =
      std::lower_bound(reads.begin(), reads.end(), stage, [](const Reads& r, int t) { return r.stage < t; });
  const int read = found == reads.begin() ? -1 : (found - 1)->stage;
  return std::max({read, last_below(runs_[at(p_.producer[at(v)])], stage), last_below(ins_[at(v)], stage)});
}

// Returns whether the copy of `v` supplied in `stage` is read in a later stage, before the next supply.
bool IncrementalReplay::supplies_later(int v, int stage) const {
  const int need = next_need(v, stage);
  if (need >= p_.ops) return false;
  return !any_in(runs_[at(p_.producer[at(v)])], stage + 1, need - 1) &&
         !any_in(ins_[at(v)], stage + 1, need - 1);
}

void IncrementalReplay::refresh(int v) {
  find_retained(v, scratch_kept_);
  const int out = place_page_out(v, scratch_kept_);
  auto& kept = kept_[at(v)];
  if (kept == scratch_kept_ && out == out_[at(v)]) return;
  if (value_saved_[at(v)] != transaction_) {
    value_saved_[at(v)] = transaction_;
    if (saved_values_used_ == saved_values_.size()) saved_values_.emplace_back();
    SavedValue& saved = saved_values_[saved_values_used_++];
    saved.value = v;
    saved.out = out_[at(v)];
    saved.kept = kept;
  }
  const int out_before = out_[at(v)];
  if (out != out_before) {
    const double joules = p_.out_joules[at(v)];
    if (out < 0) joules_ -= joules;
    if (out_before < 0) joules_ += joules;
    move_page_out(v, out_before, out);
  }
  account(v, kept, -1);
  kept.swap(scratch_kept_);
  account(v, kept, 1);
  touch_changed_stages(v, scratch_kept_, out_before);
}

void IncrementalReplay::find_retained(int v, std::vector<StageInterval>& kept) const {
  kept.clear();
  const auto& made = runs_[at(p_.producer[at(v)])];
  const auto& ins = ins_[at(v)];
  for (const Reads& read : reads_[at(v)]) {
    const int t = read.stage;
    const int last_made = last_below(made, t + 1);
    if (last_made == t) continue;
    ensure(last_made >= 0, "a value is needed before it is computed");
    const int first = std::max(last_made, last_below(ins, t)) + 1;
    if (!kept.empty() && first <= kept.back().last + 1) {
      kept.back().last = t;
    } else {
      kept.push_back({first, t});
    }
  }
}

// Returns the stage of v's page-out, or -1 if it has none, and extends `kept` for it, as complete() does.
int IncrementalReplay::place_page_out(int v, std::vector<StageInterval>& kept) const {
  if (ins_[at(v)].empty()) return -1;
  const int earliest = p_.producer[at(v)] + 1;
  const int first_in = ins_[at(v)].front();
  int stage = -1;
  if (const int pinned = pinned_out_[at(v)]; pinned >= earliest && pinned < first_in) stage = pinned;
  // In a stage that retains the value anyway the transfer takes no additional RAM.
  if (stage < 0) stage = !kept.empty() && kept.front().first < first_in ? kept.front().first : earliest;

  auto begin = kept.begin();
  while (begin != kept.end() && begin->last < stage) ++begin;
  if (begin != kept.end() && begin->first <= stage) return stage;
  StageInterval held{last_below(runs_[at(p_.producer[at(v)])], stage) + 1, stage};
  auto end = begin;
  if (begin != kept.begin() && (begin - 1)->last + 1 >= held.first) held.first = (--begin)->first;
  for (; end != kept.end() && end->first <= held.last + 1; ++end) held.last = std::max(held.last, end->last);
  kept.insert(kept.erase(begin, end), held);
  return stage;
}

// Adds or subtracts the value's bytes in stages that retain it from start to start of the next.
void IncrementalReplay::account(int v, const std::vector<StageInterval>& kept, int sign) {
  for (const StageInterval& s : kept) add_bytes(s.first, s.last - 1, sign * p_.bytes[at(v)]);
}

void IncrementalReplay::add_bytes(int first, int last, std::int64_t bytes) {
  std::int64_t change = 0;
  for (int t = first; t <= last; ++t) {
    const std::int64_t before = peak_[at(t)] - p_.budget;
    const std::int64_t after = before + bytes;
    change += std::max<std::int64_t>(after, 0) - std::max<std::int64_t>(before, 0);
    peak_[at(t)] += bytes;
  }
  overflow_ += change;
}

Retention IncrementalReplay::retention(const std::vector<StageInterval>& kept, int stage) {
  for (const StageInterval& s : kept) {
    if (s.first > stage + 1) break;
    if (s.last < stage) continue;
    return {s.first <= stage, s.last > stage};
  }
  return {false, false};
}

bool IncrementalReplay::is_retained(int v, int stage) const { return retention(kept_[at(v)], stage).now; }

// Marks the stages to replay: those in which the value's retention or page-out has changed.
void IncrementalReplay::touch_changed_stages(int v, const std::vector<StageInterval>& before,
                                             int out_before) {
  const auto& after = kept_[at(v)];
  const auto check = [&](int t) {
    if (t < 0 || t >= p_.ops || stage_is_dirty_[at(t)]) return;
    if (!(retention(before, t) == retention(after, t))) touch_stage(t);
  };
  for (const auto* kept : {&before, &after})
    for (const StageInterval& s : *kept) {
      check(s.first - 1);
      check(s.last);
    }
  for (int t : runs_[at(p_.producer[at(v)])]) check(t);
  for (const Reads& read : reads_[at(v)]) check(read.stage);
  for (int t : ins_[at(v)]) check(t);
  if (out_[at(v)] >= 0) check(out_[at(v)]);
  if (out_before != out_[at(v)])
    for (int t : {out_before, out_[at(v)]})
      if (t >= 0) touch_stage(t);
}

void IncrementalReplay::move_page_out(int v, int from, int to) {
  if (from >= 0) erase_sorted(outs_at_[at(from)], v);
  if (to >= 0) insert_sorted(outs_at_[at(to)], v);
  bytes_written_ += p_.bytes[at(v)] * ((to >= 0 ? 1 : 0) - (from >= 0 ? 1 : 0));
  out_[at(v)] = to;
}

void IncrementalReplay::set_local(int stage, std::int64_t local) {
  add_bytes(stage, stage, local - local_[at(stage)]);
  local_[at(stage)] = local;
}

}  // namespace poet
