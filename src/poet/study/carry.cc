#include "poet/study/carry.h"

#include <fmt/format.h>

#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "poet/optimize/certificate.h"

namespace poet {
namespace {

template <class T>
bool no_looser(const std::optional<T>& a, const std::optional<T>& b) {
  return !b || (a && *a <= *b);
}

/// Whether every limit of `a` is as tight as `b`'s, or tighter.
bool no_looser(const SweepResult& a, const SweepResult& b) {
  return no_looser(a.ram_budget_bytes, b.ram_budget_bytes) &&
         no_looser(a.deadline_seconds, b.deadline_seconds) &&
         no_looser(a.max_bytes_written, b.max_bytes_written);
}

bool holds(const SweepResult& result) { return result.verdict == to_string(Verdict::holds); }
bool has_bound(const SweepResult& result) { return holds(result) && result.bound_joules.has_value(); }

void take_plan(const SweepResult& from, SweepResult& to) {
  if (!holds(to)) to.bound_joules = to.baseline_joules;
  to.verdict = from.verdict;
  to.reason.clear();
  to.plan_of = from.key;
  to.note = fmt::format("plan of RAM {}, deadline {}", from.ram, from.deadline);
  for (const auto field :
       {&SweepResult::energy_joules, &SweepResult::compute_joules, &SweepResult::page_in_joules,
        &SweepResult::page_out_joules, &SweepResult::idle_joules, &SweepResult::runtime_seconds,
        &SweepResult::stalled_seconds, &SweepResult::endurance_steps})
    to.*field = from.*field;
  for (const auto field : {&SweepResult::peak_ram_bytes, &SweepResult::bytes_read,
                           &SweepResult::bytes_written, &SweepResult::recomputations, &SweepResult::page_ins,
                           &SweepResult::page_outs, &SweepResult::paged_persistent_values})
    to.*field = from.*field;
}

void judge(SweepResult& result) {
  const double baseline = result.baseline_joules.value_or(0);
  result.overhead = baseline > 0 ? *result.energy_joules / baseline - 1 : 0;
  result.gap = overhead_gap(*result.energy_joules, *result.bound_joules, baseline);
}

/// `group` are points that differ by their limits alone.
void carry(const std::vector<SweepResult*>& group) {
  const std::vector<SweepResult> found = [&] {
    std::vector<SweepResult> copies;
    for (const SweepResult* point : group) copies.push_back(*point);
    return copies;
  }();
  for (std::size_t i = 0; i < group.size(); ++i) {
    SweepResult& point = *group[i];
    if (point.verdict == kFailed || !point.ram_budget_bytes) continue;
    const SweepResult* best = &found[i];
    for (const SweepResult& other : found) {
      if (!has_bound(other)) continue;
      if (no_looser(other, found[i]) && (!holds(*best) || *other.energy_joules < *best->energy_joules))
        best = &other;
    }
    if (best != &found[i]) take_plan(*best, point);
    if (!has_bound(point)) continue;
    for (const SweepResult& other : found)
      if (has_bound(other) && no_looser(found[i], other) && *other.bound_joules > *point.bound_joules)
        point.bound_joules = other.bound_joules;
    judge(point);
  }
}

}  // namespace

void carry_between_limits(const std::vector<SweepResult*>& results) {
  std::map<std::tuple<std::string, std::string, std::string>, std::vector<SweepResult*>> groups;
  for (SweepResult* result : results)
    if (result->split != "auto")
      groups[{result->instance, result->semantics, result->method}].push_back(result);
  for (const auto& group : groups) carry(group.second);
}

}  // namespace poet
