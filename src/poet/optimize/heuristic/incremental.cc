#include "poet/optimize/heuristic/incremental.h"

#include <algorithm>

#include "poet/base/error.h"
#include "poet/optimize/problem/sorted.h"

namespace poet {
namespace {

void erase_sorted(std::vector<int>& sorted, int x) {
  sorted.erase(std::lower_bound(sorted.begin(), sorted.end(), x));
}

// Whether an element is in [first, last].
bool any_in(const std::vector<int>& sorted, int first, int last) {
  const auto found = std::lower_bound(sorted.begin(), sorted.end(), first);
  return found != sorted.end() && *found <= last;
}

// The largest element below x, else -1.
int last_below(const std::vector<int>& sorted, int x) {
  const auto found = std::lower_bound(sorted.begin(), sorted.end(), x);
  return found == sorted.begin() ? -1 : *(found - 1);
}

}  // namespace

IncrementalReplay::IncrementalReplay(const Problem& problem) : p_(problem) {
  const std::size_t ops = at(p_.ops);
  const std::size_t values = at(p_.values);
  for (auto* sets : {&recompute_, &runs_, &ins_at_, &outs_at_}) sets->resize(ops);
  ins_.resize(values);
  pinned_out_.assign(values, -1);
  out_.assign(values, -1);
  reads_.resize(values);
  kept_.resize(values);
  local_.assign(ops, 0);
  peak_.assign(ops, 0);
  value_is_dirty_.assign(values, 0);
  stage_is_dirty_.assign(ops, 0);
  value_saved_.assign(values, 0);
  stage_saved_.assign(ops, 0);
  uses_.assign(values, 0);
  state_.assign(values, InStage::away);
  arrival_.assign(values, 0);
  quiet_.assign(values, 0);
  seconds_ = p_.baseline_seconds;
  for (int t = 0; t < p_.ops; ++t) {
    runs_[at(t)].push_back(t);
    joules_ += p_.joules[at(t)];
    touch_stage(t);
  }
  for (int v = 0; v < p_.values; ++v) {
    if (!p_.active[at(v)]) continue;
    for (int user : p_.users[at(v)]) reads_[at(v)].push_back({user, 1});
    touch_value(v);
  }
  if (p_.budget < 0) overflow_ = -p_.budget * p_.ops;
  update();
  commit();
}

void IncrementalReplay::load(const Decisions& d) {
  for (int t = 0; t < p_.ops; ++t) {
    const std::vector<int> ops = recompute_[at(t)];
    for (int op : ops)
      if (!contains(d.recompute[at(t)], op)) remove_recompute(op, t);
    const std::vector<int> ins = ins_at_[at(t)];
    for (int v : ins)
      if (!contains(d.page_in[at(t)], v)) remove_page_in(v, t);
  }
  for (int v = 0; v < p_.values; ++v) pin_page_out(v, -1);
  for (int t = 0; t < p_.ops; ++t) {
    for (int op : d.recompute[at(t)]) add_recompute(op, t);
    for (int v : d.page_in[at(t)]) add_page_in(v, t);
    for (int v : d.page_out[at(t)])
      if (pinned_out_[at(v)] < 0) pin_page_out(v, t);
  }
  update();
}

// ---- Edits

bool IncrementalReplay::add_recompute(int op, int stage) {
  if (stage <= op || stage > p_.recompute_until[at(op)] || is_computed(op, stage)) return false;
  put_recompute(op, stage);
  log_.push_back({Edit::recompute, op, stage});
  return true;
}

bool IncrementalReplay::remove_recompute(int op, int stage) {
  if (stage == op || !is_computed(op, stage)) return false;
  take_recompute(op, stage);
  log_.push_back({Edit::no_recompute, op, stage});
  return true;
}

bool IncrementalReplay::add_page_in(int v, int stage) {
  if (!p_.paging || !p_.active[at(v)] || stage < p_.producer[at(v)] + 2 || stage + 1 >= p_.ops) return false;
  if (contains(ins_[at(v)], stage)) return false;
  put_page_in(v, stage);
  log_.push_back({Edit::page_in, v, stage});
  return true;
}

bool IncrementalReplay::remove_page_in(int v, int stage) {
  if (!contains(ins_[at(v)], stage)) return false;
  take_page_in(v, stage);
  log_.push_back({Edit::no_page_in, v, stage});
  return true;
}

void IncrementalReplay::pin_page_out(int v, int stage) {
  int& pinned = pinned_out_[at(v)];
  if (pinned == stage) return;
  log_.push_back({Edit::pin, v, pinned});
  pinned = stage;
  touch_value(v);
}

void IncrementalReplay::put_recompute(int op, int stage) {
  insert_sorted(recompute_[at(stage)], op);
  insert_sorted(runs_[at(op)], stage);
  joules_ += p_.joules[at(op)];
  seconds_ += p_.seconds[at(op)];
  count_reads(op, stage, 1);
}

void IncrementalReplay::take_recompute(int op, int stage) {
  erase_sorted(recompute_[at(stage)], op);
  erase_sorted(runs_[at(op)], stage);
  joules_ -= p_.joules[at(op)];
  seconds_ -= p_.seconds[at(op)];
  count_reads(op, stage, -1);
}

void IncrementalReplay::put_page_in(int v, int stage) {
  insert_sorted(ins_[at(v)], stage);
  insert_sorted(ins_at_[at(stage)], v);
  joules_ += p_.in_joules[at(v)];
  touch_value(v);
  touch_stage(stage);
}

void IncrementalReplay::take_page_in(int v, int stage) {
  erase_sorted(ins_[at(v)], stage);
  erase_sorted(ins_at_[at(stage)], v);
  joules_ -= p_.in_joules[at(v)];
  touch_value(v);
  touch_stage(stage);
}

void IncrementalReplay::count_reads(int op, int stage, int by) {
  for (int v : p_.writes[at(op)]) touch_value(v);
  for (int v : p_.reads[at(op)]) {
    auto& reads = reads_[at(v)];
    const auto found = std::lower_bound(reads.begin(), reads.end(), stage,
                                        [](const Reads& r, int t) { return r.stage < t; });
    if (found == reads.end() || found->stage != stage) {
      reads.insert(found, {stage, by});
    } else if ((found->count += by) == 0) {
      reads.erase(found);
    }
    touch_value(v);
  }
  touch_stage(stage);
}

void IncrementalReplay::touch_value(int v) {
  if (value_is_dirty_[at(v)]) return;
  value_is_dirty_[at(v)] = 1;
  dirty_values_.push_back(v);
}

void IncrementalReplay::touch_stage(int t) {
  if (stage_is_dirty_[at(t)]) return;
  stage_is_dirty_[at(t)] = 1;
  dirty_stages_.push_back(t);
}

// ---- Following edits through

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

// Latest first: whether a supply is of use depends on later ones only.
void IncrementalReplay::drop_useless() {
  for (int v : dirty_values_) queue_supplies(v);
  while (!supplies_.empty()) {
    std::pop_heap(supplies_.begin(), supplies_.end());
    const auto [stage, id] = supplies_.back();
    supplies_.pop_back();
    if (id >= 0) {
      if (!is_computed(id, stage)) continue;
      const auto& writes = p_.writes[at(id)];
      bool useful = false;
      for (int v : writes) useful = useful || is_read(v, stage) || supplies_later(v, stage);
      if (useful) continue;
      remove_recompute(id, stage);
      for (int u : p_.reads[at(id)]) queue_supplies(u);
    } else {
      const int v = ~id;
      if (!contains(ins_[at(v)], stage)) continue;
      if (!is_computed(p_.producer[at(v)], stage) && !is_read(v, stage) && supplies_later(v, stage)) continue;
      remove_page_in(v, stage);
    }
  }
}

void IncrementalReplay::queue_supplies(int v) {
  const int producer = p_.producer[at(v)];
  const auto push = [&](int stage, int id) {
    supplies_.emplace_back(stage, id);
    std::push_heap(supplies_.begin(), supplies_.end());
  };
  for (int stage : runs_[at(producer)])
    if (stage != producer) push(stage, producer);
  for (int stage : ins_[at(v)]) push(stage, ~v);
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

// Whether what comes into RAM in `stage` is read from there in a later stage, before it comes again.
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

void IncrementalReplay::find_retained(int v, std::vector<Stretch>& kept) const {
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

// The rule of complete(), with its extended retention.
int IncrementalReplay::place_page_out(int v, std::vector<Stretch>& kept) const {
  if (ins_[at(v)].empty()) return -1;
  const int earliest = p_.producer[at(v)] + 1;
  const int first_in = ins_[at(v)].front();
  int stage = -1;
  if (const int pinned = pinned_out_[at(v)]; pinned >= earliest && pinned < first_in) stage = pinned;
  // Where it is retained at all, it is read, or stays: the transfer costs no RAM.
  if (stage < 0) stage = !kept.empty() && kept.front().first < first_in ? kept.front().first : earliest;

  auto begin = kept.begin();
  while (begin != kept.end() && begin->last < stage) ++begin;
  if (begin != kept.end() && begin->first <= stage) return stage;
  Stretch held{last_below(runs_[at(p_.producer[at(v)])], stage) + 1, stage};
  auto end = begin;
  if (begin != kept.begin() && (begin - 1)->last + 1 >= held.first) held.first = (--begin)->first;
  for (; end != kept.end() && end->first <= held.last + 1; ++end) held.last = std::max(held.last, end->last);
  kept.insert(kept.erase(begin, end), held);
  return stage;
}

// Bytes that stay from the start of a stage to the start of the next.
void IncrementalReplay::account(int v, const std::vector<Stretch>& kept, int sign) {
  for (const Stretch& s : kept) add_bytes(s.first, s.last - 1, sign * p_.bytes[at(v)]);
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

Retention IncrementalReplay::retention(const std::vector<Stretch>& kept, int stage) {
  for (const Stretch& s : kept) {
    if (s.first > stage + 1) break;
    if (s.last < stage) continue;
    return {s.first <= stage, s.last > stage};
  }
  return {false, false};
}

bool IncrementalReplay::is_retained(int v, int stage) const { return retention(kept_[at(v)], stage).now; }

// A stage's own replay changes when the value comes or goes in it, or something else happens to it there.
void IncrementalReplay::touch_changed_stages(int v, const std::vector<Stretch>& before, int out_before) {
  const auto& after = kept_[at(v)];
  const auto check = [&](int t) {
    if (t < 0 || t >= p_.ops || stage_is_dirty_[at(t)]) return;
    if (!(retention(before, t) == retention(after, t))) touch_stage(t);
  };
  for (const auto* kept : {&before, &after})
    for (const Stretch& s : *kept) {
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

// ---- Transactions

void IncrementalReplay::commit() {
  if (marked_) journal_.insert(journal_.end(), log_.begin(), log_.end());
  log_.clear();
  saved_values_used_ = 0;
  saved_stages_.clear();
  ++transaction_;
  joules_before_ = joules_;
  seconds_before_ = seconds_;
}

void IncrementalReplay::mark() {
  journal_.clear();
  marked_ = true;
}

void IncrementalReplay::return_to_mark() {
  for (auto edit = journal_.rbegin(); edit != journal_.rend(); ++edit) undo(*edit);
  marked_ = false;
  update();
  commit();
  mark();
}

void IncrementalReplay::undo(const Edit& edit) {
  switch (edit.kind) {
    case Edit::recompute:
      return take_recompute(edit.id, edit.stage);
    case Edit::no_recompute:
      return put_recompute(edit.id, edit.stage);
    case Edit::page_in:
      return take_page_in(edit.id, edit.stage);
    case Edit::no_page_in:
      return put_page_in(edit.id, edit.stage);
    case Edit::pin:
      pinned_out_[at(edit.id)] = edit.stage;
      return touch_value(edit.id);
  }
}

void IncrementalReplay::rollback() {
  for (auto edit = log_.rbegin(); edit != log_.rend(); ++edit) undo(*edit);
  log_.clear();
  for (std::size_t i = 0; i < saved_values_used_; ++i) {
    SavedValue& saved = saved_values_[i];
    if (saved.out != out_[at(saved.value)]) move_page_out(saved.value, out_[at(saved.value)], saved.out);
    account(saved.value, kept_[at(saved.value)], -1);
    kept_[at(saved.value)].swap(saved.kept);
    account(saved.value, kept_[at(saved.value)], 1);
  }
  for (const SavedStage& saved : saved_stages_) set_local(saved.stage, saved.local);
  for (int v : dirty_values_) value_is_dirty_[at(v)] = 0;
  dirty_values_.clear();
  for (int t : dirty_stages_) stage_is_dirty_[at(t)] = 0;
  dirty_stages_.clear();
  joules_ = joules_before_;
  seconds_ = seconds_before_;
  commit();
}

Decisions IncrementalReplay::decisions() const {
  Decisions d;
  d.recompute = recompute_;
  d.page_in = ins_at_;
  d.page_out = outs_at_;
  return d;
}

}  // namespace poet
