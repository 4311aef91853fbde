#include "poet/optimize/heuristic/incremental.h"

#include <algorithm>

#include "poet/optimize/problem/sorted.h"

namespace poet {

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

void IncrementalReplay::list_decisions(std::vector<ListedDecision>& list) const {
  list.clear();
  for (int t = 0; t < p_.ops; ++t) {
    for (int op : recompute_[at(t)]) list.push_back({true, op, t});
    for (int v : ins_at_[at(t)]) list.push_back({false, v, t});
  }
}

Decisions IncrementalReplay::decisions() const {
  Decisions d;
  d.recompute = recompute_;
  d.page_in = ins_at_;
  d.page_out = outs_at_;
  return d;
}

}  // namespace poet
