#include "poet/optimize/milp/variables.h"

#include <algorithm>

namespace poet {
namespace {

using StageColumn = Variables::StageColumn;

bool by_stage(const StageColumn& a, int stage) { return a.first < stage; }

// Returns the first stages of v's retention segments. A value's retention can change between two stages only
// if the earlier one may read, compute or transfer it. Otherwise S[t] = S[t+1] in some optimum, and one
// column serves both.
std::vector<int> segment_starts(const Problem& p, const Variables& vars, int v, int last,
                                bool page_out_anytime) {
  const auto i = static_cast<std::size_t>(v);
  const int first = p.producer[i] + 1;
  std::vector<int> starts{first};
  for (int t : vars.reading_stages(p, v)) starts.push_back(t + 1);
  for (const auto& [t, column] : vars.page_ins(v)) starts.push_back(t + 1);
  for (const auto& [t, column] : vars.page_outs(v)) starts.push_back(t + 1);
  for (const auto& [t, column] : vars.recomputes(p.producer[i])) {
    starts.push_back(t + 1);
    if (page_out_anytime) starts.push_back(t + 2);  // it may be paged out in the next stage
  }
  if (page_out_anytime) starts.push_back(first + 1);
  std::sort(starts.begin(), starts.end());
  starts.erase(std::unique(starts.begin(), starts.end()), starts.end());
  std::erase_if(starts, [&](int t) { return t < first || t > last; });
  return starts;
}

}  // namespace

Variables::Variables(Model& model, const Problem& p, const Columns& columns, const Tightenings& tightenings,
                     double scale)
    : page_out_anytime_(columns.page_out_anytime) {
  const auto ops = static_cast<std::size_t>(p.ops);
  const auto values = static_cast<std::size_t>(p.values);
  recompute_.resize(ops);
  page_in_.resize(values);
  page_out_.resize(values);
  retain_.resize(values);
  from_storage_.resize(values);
  last_.assign(values, -1);
  stored_.assign(values, -1);
  for (int t = 0; t < p.ops; ++t) {
    for (int op : columns.allowed.recompute[index(t)])
      recompute_[index(op)].emplace_back(t, model.add_binary(scale * p.joules[index(op)]));
    for (int v : columns.allowed.page_in[index(t)])
      page_in_[index(v)].emplace_back(t, model.add_binary(scale * p.in_joules[index(v)]));
    if (!page_out_anytime_)
      for (int v : columns.allowed.page_out[index(t)])
        page_out_[index(v)].emplace_back(t, model.add_binary(scale * p.out_joules[index(v)]));
  }
  for (int v = 0; v < p.values; ++v) {
    if (!p.active[index(v)]) continue;
    const bool pageable = !page_in_[index(v)].empty();
    if (pageable && page_out_anytime_) stored_[index(v)] = model.add_binary(scale * p.out_joules[index(v)]);
    const std::vector<int> reads = reading_stages(p, v);
    const int last = reads.empty() ? p.producer[index(v)] : reads.back();
    last_[index(v)] = last;
    std::vector<int> starts;
    if (tightenings.interval_retention)
      starts = segment_starts(p, *this, v, last, pageable && page_out_anytime_);
    else
      for (int t = p.producer[index(v)] + 1; t <= last; ++t) starts.push_back(t);
    for (int t : starts) retain_[index(v)].emplace_back(t, model.add_binary(0));
    if (!pageable || !tightenings.provenance) continue;
    const int first_arrival = page_in_[index(v)].front().first + 1;
    for (int t : starts)
      if (t >= first_arrival) from_storage_[index(v)].emplace_back(t, model.add_column(0, 1, 0, false));
  }
}

Term Variables::at(const std::vector<StageColumn>& columns, int stage) {
  const auto found = std::lower_bound(columns.begin(), columns.end(), stage, by_stage);
  return found != columns.end() && found->first == stage ? Term::of(found->second) : Term::fixed(0);
}

Term Variables::in_segment(const std::vector<StageColumn>& segments, int stage, int last) {
  if (stage > last || segments.empty() || stage < segments.front().first) return Term::fixed(0);
  auto next = std::lower_bound(segments.begin(), segments.end(), stage + 1, by_stage);
  return Term::of(std::prev(next)->second);
}

Term Variables::compute(int stage, int op) const {
  return stage == op ? Term::fixed(1) : at(recompute_[index(op)], stage);
}
Term Variables::retain(int stage, int value) const {
  return in_segment(retain_[index(value)], stage, last_[index(value)]);
}
Term Variables::from_storage(int stage, int value) const {
  return in_segment(from_storage_[index(value)], stage, last_[index(value)]);
}
Term Variables::page_in(int stage, int value) const { return at(page_in_[index(value)], stage); }
Term Variables::page_out(int stage, int value) const { return at(page_out_[index(value)], stage); }

Linear Variables::stored(int stage, int value) const {
  Linear sum;
  if (page_out_anytime_) {
    if (stored_[index(value)] >= 0) sum.add(1, Term::of(stored_[index(value)]));
  } else {
    for (const auto& [t, column] : page_out_[index(value)])
      if (t < stage) sum.add(1, Term::of(column));
  }
  return sum;
}

Linear Variables::stored(int value) const { return stored(std::numeric_limits<int>::max(), value); }

std::vector<int> Variables::reading_stages(const Problem& p, int value) const {
  std::vector<int> stages;
  for (int user : p.users[index(value)]) {
    stages.push_back(user);
    for (const auto& [t, column] : recompute_[index(user)]) stages.push_back(t);
  }
  std::sort(stages.begin(), stages.end());
  stages.erase(std::unique(stages.begin(), stages.end()), stages.end());
  return stages;
}

Decisions Variables::decisions(const Problem& p, const std::vector<double>& x, double threshold) const {
  Decisions d = no_decisions(p);
  const auto collect = [&](const std::vector<std::vector<StageColumn>>& from,
                           std::vector<std::vector<int>>& into) {
    for (std::size_t id = 0; id < from.size(); ++id)
      for (const auto& [stage, column] : from[id])
        if (x[index(column)] > threshold) into[index(stage)].push_back(static_cast<int>(id));
  };
  collect(recompute_, d.recompute);
  collect(page_in_, d.page_in);
  collect(page_out_, d.page_out);
  return d;
}

std::vector<std::pair<int, double>> Variables::start(const Problem& p, const Candidate& candidate) const {
  std::vector<std::pair<int, double>> start;
  const Decisions& d = candidate.decisions;
  std::size_t taken = 0;
  const auto fill = [&](const std::vector<std::vector<StageColumn>>& columns,
                        const std::vector<std::vector<int>>& sets) {
    for (std::size_t id = 0; id < columns.size(); ++id)
      for (const auto& [stage, column] : columns[id]) {
        const auto& set = sets[index(stage)];
        const bool is_taken = std::binary_search(set.begin(), set.end(), static_cast<int>(id));
        start.emplace_back(column, is_taken ? 1.0 : 0.0);
        taken += is_taken;
      }
  };
  fill(recompute_, d.recompute);
  fill(page_in_, d.page_in);
  fill(page_out_, d.page_out);
  std::size_t wanted = 0;
  for (const auto* sets : {&d.recompute, &d.page_in})
    for (const auto& set : *sets) wanted += set.size();
  if (!page_out_anytime_)
    for (const auto& set : d.page_out) wanted += set.size();
  if (taken != wanted) return {};
  std::vector<char> on_storage(static_cast<std::size_t>(p.values), 0);
  for (const auto& set : d.page_out)
    for (int v : set) on_storage[index(v)] = 1;
  for (int v = 0; v < p.values; ++v) {
    if (stored_[index(v)] >= 0) start.emplace_back(stored_[index(v)], on_storage[index(v)] ? 1.0 : 0.0);
    for (const auto& [stage, column] : retain_[index(v)]) {
      const auto& retained = candidate.retain[index(stage)];
      start.emplace_back(column, std::binary_search(retained.begin(), retained.end(), v) ? 1.0 : 0.0);
    }
  }
  return start;
}

}  // namespace poet
