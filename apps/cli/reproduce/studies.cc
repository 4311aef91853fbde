#include "apps/cli/reproduce/studies.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "poet/base/amounts.h"
#include "poet/base/data_dir.h"
#include "poet/base/error.h"

namespace poet::cli {

std::vector<Study> read_studies(bool quick) {
  std::filesystem::path folder = data_dir() / "reproduction";
  if (quick) folder /= "quick";
  std::vector<Study> studies;
  for (const char* name :
       {"figure2", "figure3_published", "figure3_published_bert", "figure3_corrected",
        "figure3_corrected_resnet", "figure3_corrected_bert", "figure4_published", "figure4_corrected",
        "figure5_published", "figure5_corrected", "table3", "batch", "less_ram_resident",
        "less_ram_resident_large", "less_ram_auto", "less_ram_auto_large"}) {
    const SweepSpec spec = read_sweep_spec(folder / fmt::format("{}.json", name));
    studies.push_back({name, expand(spec), {}});
  }
  return studies;
}

std::vector<SweepPoint> points_of(const std::vector<Study>& studies) {
  std::vector<SweepPoint> points;
  std::set<std::string> seen;
  for (const Study& study : studies)
    for (const SweepPoint& point : study.points)
      if (seen.insert(key_of(point)).second) points.push_back(point);
  return points;
}

void distribute(const std::vector<SweepResult>& results, std::vector<Study>& studies) {
  std::map<std::string, const SweepResult*> by_key;
  for (const SweepResult& result : results) by_key[result.key] = &result;
  for (Study& study : studies)
    for (const SweepPoint& point : study.points) {
      const auto found = by_key.find(key_of(point));
      ensure(found != by_key.end(), "a point of a study has no result");
      study.results.push_back(*found->second);
    }
}

std::vector<SweepResult> results_of(const std::vector<Study>& studies, const std::string& prefix) {
  std::vector<SweepResult> results;
  for (const Study& study : studies)
    if (study.name.starts_with(prefix))
      results.insert(results.end(), study.results.begin(), study.results.end());
  return results;
}

bool holds(const SweepResult& result) { return result.verdict == to_string(Verdict::holds); }

const SweepResult* beside(const std::vector<SweepResult>& results, const SweepResult& other,
                          const std::string& method) {
  for (const SweepResult& result : results)
    if (result.method == method && result.instance == other.instance && result.ram == other.ram &&
        result.deadline == other.deadline)
      return holds(result) ? &result : nullptr;
  return nullptr;
}

void Range::add(double figure) {
  least = count == 0 ? figure : std::min(least, figure);
  most = count == 0 ? figure : std::max(most, figure);
  ++count;
}

Range energy_above(const std::vector<SweepResult>& results, const std::string& method,
                   const std::string& reference, const std::function<bool(const SweepResult&)>& chosen) {
  Range range;
  for (const SweepResult& result : results) {
    if (result.method != method || !holds(result) || !chosen(result)) continue;
    if (const SweepResult* other = beside(results, result, reference))
      range.add(*result.energy_joules / *other->energy_joules - 1);
  }
  return range;
}

std::string describe(const Range& range, int digits) {
  if (range.count == 0) return "-";
  const std::string least = format_percent(range.least, digits);
  const std::string most = format_percent(range.most, digits);
  return least == most ? least : fmt::format("{} to {}", least, most);
}

}  // namespace poet::cli
