#include "bench/statistics.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

namespace poet::bench {
namespace {

constexpr double kSoonSeconds = 2;
constexpr std::int64_t kSmallOps = 200;
constexpr double kMissed = 0.01;
constexpr double kSameEnergy = 1e-6;

template <class T>
T& find_or_add(std::vector<T>& all, const std::string& set, const std::string& configuration) {
  for (T& one : all)
    if (one.set == set && one.configuration == configuration) return one;
  T added;
  added.set = set;
  added.configuration = configuration;
  all.push_back(added);
  return all.back();
}

void count(const Measurement& m, Summary& s) {
  ++s.cases;
  s.answered += m.answered();
  s.proven += m.status == "optimal";
  s.infeasible += m.status == "infeasible";
  for (const char* status : {"rejected", "failed", "crashed", "overrun"}) s.broken += m.status == status;
  s.worst_overrun_seconds = std::max(s.worst_overrun_seconds, m.overrun_seconds);
  s.peak_memory_bytes = std::max(s.peak_memory_bytes, m.peak_memory_bytes);
  const bool soon = m.seconds_to_near && *m.seconds_to_near <= kSoonSeconds;
  s.near_soon += soon;
  if (m.answered() && m.ops <= kSmallOps) {
    ++s.small;
    s.small_near_soon += soon;
  }
  if (m.best_known_joules) {
    ++s.with_best_known;
    s.missed += !m.answered() || m.missed.value_or(std::numeric_limits<double>::infinity()) > kMissed;
  }
}

double share_of_means(const std::vector<double>& above, const std::vector<double>& below) {
  return (shifted_geometric_mean(above) + 1) / (shifted_geometric_mean(below) + 1);
}

}  // namespace

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : 0.5 * (values[middle - 1] + values[middle]);
}

double shifted_geometric_mean(const std::vector<double>& values, double shift) {
  if (values.empty()) return 0;
  double sum = 0;
  for (double value : values) sum += std::log(value + shift);
  return std::exp(sum / static_cast<double>(values.size())) - shift;
}

double time_to_gap(const Measurement& m) {
  return std::min(m.seconds_to_gap.value_or(m.time_limit_seconds), m.time_limit_seconds);
}

std::vector<Summary> summaries(const std::vector<Measurement>& results) {
  std::vector<Summary> all;
  for (const Measurement& m : results) count(m, find_or_add(all, m.set, m.configuration));
  for (Summary& s : all) {
    std::vector<double> times;
    for (const Measurement& m : results)
      if (m.set == s.set && m.configuration == s.configuration) times.push_back(time_to_gap(m));
    s.median_to_gap = median(times);
    s.mean_to_gap = shifted_geometric_mean(times);
  }
  return all;
}

std::vector<Ratio> ratios(const std::vector<const Measurement*>& of,
                          const std::vector<const Measurement*>& to) {
  struct Figures {
    std::vector<double> times, reference_times, nodes, reference_nodes;
  };
  std::map<std::string, const Measurement*> reference;
  for (const Measurement* m : to) reference[case_key(*m)] = m;
  std::vector<Ratio> all;
  std::map<std::string, Figures> figures;  // by set
  for (const Measurement* m : of) {
    const auto found = reference.find(case_key(*m));
    if (found == reference.end()) continue;
    const Measurement& r = *found->second;
    Ratio& ratio = find_or_add(all, m->set, m->configuration);
    ratio.reference = r.configuration;
    ++ratio.cases;
    const double time = time_to_gap(*m);
    const double reference_time = time_to_gap(r);
    Figures& f = figures[m->set];
    f.times.push_back(time);
    f.reference_times.push_back(reference_time);
    f.nodes.push_back(static_cast<double>(m->nodes));
    f.reference_nodes.push_back(static_cast<double>(r.nodes));
    ratio.faster += time < 0.9 * reference_time && time < reference_time - 0.1;
    ratio.slower += reference_time < 0.9 * time && reference_time < time - 0.1;
    ratio.answers_won += m->answered() && !r.answered();
    ratio.answers_lost += !m->answered() && r.answered();
    if (m->answered() && r.answered()) {
      const double change = energy_change(*m, r);
      ratio.lower += change < -kSameEnergy;
      ratio.higher += change > kSameEnergy;
    }
  }
  for (Ratio& ratio : all) {
    const Figures& f = figures[ratio.set];
    ratio.time = share_of_means(f.times, f.reference_times);
    ratio.nodes = share_of_means(f.nodes, f.reference_nodes);
  }
  return all;
}

double energy_change(const Measurement& now, const Measurement& before) {
  const double baseline = before.baseline_joules.value_or(0);
  const double more = *now.energy_joules - *before.energy_joules;
  if (std::abs(more) <= 1e-9 * baseline) return 0;
  const double overhead = *before.energy_joules - baseline;
  if (overhead > 0) return more / overhead;
  return more > 0 ? std::numeric_limits<double>::infinity() : -std::numeric_limits<double>::infinity();
}

}  // namespace poet::bench
