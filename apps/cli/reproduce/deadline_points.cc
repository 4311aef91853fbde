#include "apps/cli/reproduce/deadline_points.h"

#include <cmath>
#include <set>

#include "apps/cli/reproduce/studies.h"

namespace poet::cli {

const std::vector<NextToPofo>& next_to_pofo() {
  static const std::vector<NextToPofo> all = {
      {1, 1}, {1 - kLessRam, 1}, {1, 1 / (1 + kMoreThroughput)}, {1 - kLessRam, 1 / (1 + kMoreThroughput)}};
  return all;
}

RamBudget ram_of(const SweepResult& pofos, const NextToPofo& limits) {
  return Bytes(
      static_cast<std::int64_t>(std::floor(limits.ram * static_cast<double>(*pofos.peak_ram_bytes))));
}

StepDeadline deadline_of(const SweepResult& pofos, const NextToPofo& limits) {
  StepDeadline deadline;
  deadline.time = Seconds(limits.time * *pofos.runtime_seconds);
  return deadline;
}

std::vector<SweepPoint> deadline_points(const std::vector<SweepPoint>& points,
                                        const std::vector<SweepResult>& results) {
  std::vector<SweepPoint> out;
  std::set<std::string> seen;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const SweepResult& pofos = results[i];
    if (!pofos.method.starts_with("pofo") || !holds(pofos)) continue;
    for (const NextToPofo& limits : next_to_pofo()) {
      SweepPoint point = points[i];
      point.method = "poet";
      point.ram = ram_of(pofos, limits);
      point.deadline = deadline_of(pofos, limits);
      if (seen.insert(key_of(point)).second) out.push_back(std::move(point));
    }
  }
  return out;
}

}  // namespace poet::cli
