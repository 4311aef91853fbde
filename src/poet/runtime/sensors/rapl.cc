// RAPL: the processor's own energy counters, as the kernel's powercap interface shows them.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <utility>

#include "poet/base/folder.h"
#include "poet/runtime/sensors/energy_sensor.h"
#include "poet/runtime/sensors/small_file.h"

namespace poet::runtime {
namespace {

namespace fs = std::filesystem;

struct Counter {
  fs::path file;
  std::int64_t range = 0;  // the largest value, after which it begins again
  std::int64_t last = -1;  // microjoules; negative before the first reading
};

class Rapl : public EnergySensor {
 public:
  Rapl(std::vector<Counter> counters, std::string description)
      : counters_(std::move(counters)), description_(std::move(description)) {}

  void begin() override {
    microjoules_ = 0;
    for (Counter& counter : counters_) counter.last = -1;
  }

  void sample(Clock::time_point) override {
    for (Counter& counter : counters_) {
      const std::int64_t now = read_number(counter.file).value_or(-1);
      if (now < 0) continue;
      if (counter.last >= 0) microjoules_ += now - counter.last + (now < counter.last ? counter.range : 0);
      counter.last = now;
    }
  }

  [[nodiscard]] Joules energy() const override { return Joules(static_cast<double>(microjoules_) * 1e-6); }

  /// The smallest counters hold 65 kJ: five minutes of a large processor.
  [[nodiscard]] std::chrono::milliseconds period() const override { return std::chrono::seconds(10); }

  [[nodiscard]] std::string description() const override { return description_; }

 private:
  std::vector<Counter> counters_;
  std::string description_;
  std::int64_t microjoules_ = 0;
};

/// Packages, and memory beside them. The other domains (core, uncore) lie inside packages, and psys around
/// them: to add those would count twice.
bool adds_up(const std::string& name) { return name.starts_with("package") || name == "dram"; }

}  // namespace

std::unique_ptr<EnergySensor> open_rapl(const fs::path& root) {
  std::vector<Counter> counters;
  std::vector<std::string> names;
  for (const fs::path& zone : entries_of(root / "class/powercap")) {
    // Not intel-rapl-mmio:*, which shows the same package by another way.
    if (!zone.filename().string().starts_with("intel-rapl:")) continue;
    const std::string name = read_small_file(zone / "name").value_or("");
    if (!adds_up(name)) continue;
    const std::optional<std::int64_t> range = read_number(zone / "max_energy_range_uj");
    // Kernels show the counter to root only. A part of the packages would pass for the whole: all or none.
    if (!range || !read_number(zone / "energy_uj")) return nullptr;
    counters.push_back({zone / "energy_uj", *range});
    names.push_back(name);
  }
  if (counters.empty()) return nullptr;
  return std::make_unique<Rapl>(std::move(counters), fmt::format("RAPL counters {}", fmt::join(names, ", ")));
}

}  // namespace poet::runtime
