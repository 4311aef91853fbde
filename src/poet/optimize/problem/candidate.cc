#include "poet/optimize/problem/candidate.h"

#include <algorithm>

#include "poet/base/error.h"
#include "poet/graph/dataflow.h"
#include "poet/optimize/problem/sorted.h"

namespace poet {
namespace {

// Derives the retention in one backward sweep: values that stage t+1 retains and that stage t reads come from
// stage t's computations and page-ins, or else are retained from before. Drops decisions without a use.
void retain_what_is_needed(const Problem& p, Candidate& c) {
  enum : char { kNo, kRead, kLater };  // needed by an op of this stage / by the next stage
  std::vector<char> wanted(static_cast<std::size_t>(p.values), kNo);
  std::vector<int> touched;
  c.retain.assign(static_cast<std::size_t>(p.ops), {});
  for (int t = p.ops - 1; t >= 0; --t) {
    const auto stage = static_cast<std::size_t>(t);
    touched.clear();
    if (t + 1 < p.ops)
      for (int v : c.retain[stage + 1]) {
        wanted[static_cast<std::size_t>(v)] = kLater;
        touched.push_back(v);
      }
    const auto from_next = std::ssize(touched);
    const auto supply = [&](int op) {
      for (int v : p.writes[static_cast<std::size_t>(op)]) wanted[static_cast<std::size_t>(v)] = kNo;
      for (int u : p.reads[static_cast<std::size_t>(op)]) {
        if (wanted[static_cast<std::size_t>(u)] == kNo) touched.push_back(u);
        wanted[static_cast<std::size_t>(u)] = kRead;
      }
    };
    supply(t);
    std::vector<int> kept;
    auto& ops = c.decisions.recompute[stage];
    for (auto op = ops.rbegin(); op != ops.rend(); ++op) {
      const auto& writes = p.writes[static_cast<std::size_t>(*op)];
      if (t > p.recompute_until[static_cast<std::size_t>(*op)]) continue;  // its parameters have been updated
      const bool useful = std::any_of(writes.begin(), writes.end(),
                                      [&](int v) { return wanted[static_cast<std::size_t>(v)] != kNo; });
      if (!useful) continue;
      kept.push_back(*op);
      supply(*op);
    }
    std::reverse(kept.begin(), kept.end());
    ops = std::move(kept);
    auto& ins = c.decisions.page_in[stage];
    std::erase_if(ins, [&](int v) { return wanted[static_cast<std::size_t>(v)] != kLater; });
    for (int v : ins) wanted[static_cast<std::size_t>(v)] = kNo;
    std::sort(touched.begin() + from_next, touched.end());  // the others are sorted
    std::inplace_merge(touched.begin(), touched.begin() + from_next, touched.end());
    for (int v : touched) {
      auto& mark = wanted[static_cast<std::size_t>(v)];
      if (mark == kNo) continue;
      ensure(p.producer[static_cast<std::size_t>(v)] < t, "a value is needed before it is computed");
      c.retain[stage].push_back(v);
      mark = kNo;
    }
  }
}

bool reads_in_stage(const Problem& p, const Candidate& c, int t, int v) {
  const auto stage = static_cast<std::size_t>(t);
  if (contains(p.reads[stage], v)) return true;
  return std::any_of(c.decisions.recompute[stage].begin(), c.decisions.recompute[stage].end(),
                     [&](int op) { return contains(p.reads[static_cast<std::size_t>(op)], v); });
}

// Retains v from its last computation before stage `t`, or from where it is retained already, up to `t`.
void extend_retention(const Problem& p, Candidate& c, int v, int t) {
  for (int s = t; s > 0 && !contains(c.retain[static_cast<std::size_t>(s)], v); --s) {
    insert_sorted(c.retain[static_cast<std::size_t>(s)], v);
    const auto before = static_cast<std::size_t>(s - 1);
    const int producer = p.producer[static_cast<std::size_t>(v)];
    if (s - 1 == producer || contains(c.decisions.recompute[before], producer)) return;
  }
}

void place_page_outs(const Problem& p, Candidate& c, const Decisions& proposed) {
  std::vector<int> first_in(static_cast<std::size_t>(p.values), -1);
  std::vector<int> paged;
  for (int t = 0; t < p.ops; ++t)
    for (int v : c.decisions.page_in[static_cast<std::size_t>(t)])
      if (first_in[static_cast<std::size_t>(v)] < 0) {
        first_in[static_cast<std::size_t>(v)] = t;
        paged.push_back(v);
      }
  std::vector<int> proposed_stage(static_cast<std::size_t>(p.values), -1);
  for (int t = 0; t < p.ops; ++t)
    for (int v : proposed.page_out[static_cast<std::size_t>(t)])
      if (proposed_stage[static_cast<std::size_t>(v)] < 0) proposed_stage[static_cast<std::size_t>(v)] = t;
  for (auto& outs : c.decisions.page_out) outs.clear();
  for (int v : paged) {
    const auto i = static_cast<std::size_t>(v);
    const int earliest = p.producer[i] + 1;
    int stage = proposed_stage[i] >= earliest && proposed_stage[i] < first_in[i] ? proposed_stage[i] : -1;
    for (int t = earliest; stage < 0 && t < first_in[i]; ++t) {
      if (!contains(c.retain[static_cast<std::size_t>(t)], v)) continue;
      const bool stays = contains(c.retain[static_cast<std::size_t>(t) + 1], v);
      if (!p.transfers_take_ram() || stays || reads_in_stage(p, c, t, v)) stage = t;
    }
    if (stage < 0) stage = earliest;
    extend_retention(p, c, v, stage);
    insert_sorted(c.decisions.page_out[static_cast<std::size_t>(stage)], v);
  }
}

}  // namespace

Decisions no_decisions(const Problem& problem) {
  Decisions none;
  const auto stages = static_cast<std::size_t>(problem.ops);
  none.recompute.resize(stages);
  none.page_in.resize(stages);
  none.page_out.resize(stages);
  return none;
}

Decisions decisions_of(const Schedule& schedule) {
  const std::size_t stages = schedule.stages.size();
  Decisions decided{std::vector<std::vector<int>>(stages), std::vector<std::vector<int>>(stages),
                    std::vector<std::vector<int>>(stages)};
  for (std::size_t t = 0; t < stages; ++t) {
    const Stage& stage = schedule.stages[t];
    for (const OpId op : stage.compute)
      if (static_cast<std::size_t>(op.index) < t) decided.recompute[t].push_back(op.index);
    for (const ValueId v : stage.page_in) decided.page_in[t].push_back(v.index);
    for (const ValueId v : stage.page_out) decided.page_out[t].push_back(v.index);
  }
  return decided;
}

Candidate complete(const Problem& problem, const Decisions& proposed) {
  Candidate c;
  c.decisions = proposed;
  retain_what_is_needed(problem, c);
  place_page_outs(problem, c, proposed);
  measure(problem, c);
  return c;
}

Schedule to_schedule(const Problem& p, const Instance& instance, const Candidate& c) {
  Schedule schedule;
  schedule.stages.resize(static_cast<std::size_t>(p.ops));
  const auto as_ids = [](const std::vector<int>& from, std::vector<ValueId>& to) {
    for (int v : from) to.emplace_back(v);
  };
  for (int t = 0; t < p.ops; ++t) {
    const auto i = static_cast<std::size_t>(t);
    Stage& stage = schedule.stages[i];
    as_ids(c.retain[i], stage.retain);
    as_ids(c.decisions.page_in[i], stage.page_in);
    as_ids(c.decisions.page_out[i], stage.page_out);
    for (int op : c.decisions.recompute[i]) stage.compute.emplace_back(op);
    stage.compute.emplace_back(t);
  }
  const Dataflow flow = dataflow(instance.graph);
  std::vector<char> free_of_charge(static_cast<std::size_t>(p.values), 0);
  for (ValueId v : flow.transients)
    free_of_charge[static_cast<std::size_t>(v.index)] = !p.active[static_cast<std::size_t>(v.index)];
  std::vector<int> last_read(static_cast<std::size_t>(p.values), -1);
  for (int t = 0; t < p.ops; ++t)
    for (OpId op : schedule.stages[static_cast<std::size_t>(t)].compute)
      for (ValueId v : flow.reads[op]) last_read[static_cast<std::size_t>(v.index)] = t;
  for (ValueId v : flow.transients) {
    if (!free_of_charge[static_cast<std::size_t>(v.index)]) continue;
    for (int t = flow.producer[v].index + 1; t <= last_read[static_cast<std::size_t>(v.index)]; ++t) {
      auto& retain = schedule.stages[static_cast<std::size_t>(t)].retain;
      retain.insert(std::lower_bound(retain.begin(), retain.end(), v), v);
    }
  }
  return schedule;
}

}  // namespace poet
