// Power sensors: finding the right ones, and integrating what they show.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <optional>
#include <utility>

#include "poet/base/folder.h"
#include "poet/runtime/sensors/energy_sensor.h"
#include "poet/runtime/sensors/small_file.h"

namespace poet::runtime {
namespace {

namespace fs = std::filesystem;

std::optional<double> watts_of(const PowerChannel& channel) {
  const std::optional<std::int64_t> first = read_number(channel.power_or_volts);
  const std::optional<std::int64_t> second =
      channel.amperes.empty() ? std::optional<std::int64_t>(1) : read_number(channel.amperes);
  if (!first || !second) return std::nullopt;
  return static_cast<double>(*first) * static_cast<double>(*second) * channel.watts_per_unit;
}

std::optional<double> watts_of(const std::vector<PowerChannel>& channels) {
  double sum = 0;
  for (const PowerChannel& channel : channels) {
    const std::optional<double> watts = watts_of(channel);
    if (!watts) return std::nullopt;
    sum += *watts;
  }
  return sum;
}

class PowerSensors : public EnergySensor {
 public:
  explicit PowerSensors(std::vector<PowerChannel> channels) : channels_(std::move(channels)) {}

  void begin() override {
    joules_ = 0;
    last_.reset();
  }

  void sample(Clock::time_point now) override {
    const std::optional<double> watts = watts_of(channels_);
    if (!watts) return;
    if (last_) {
      const std::chrono::duration<double> time = now - last_->time;
      joules_ += time.count() * (*watts + last_->watts) / 2;
    }
    last_ = Reading{now, *watts};
  }

  [[nodiscard]] Joules energy() const override { return Joules(joules_); }
  [[nodiscard]] std::chrono::milliseconds period() const override { return std::chrono::milliseconds(50); }

  [[nodiscard]] std::string description() const override {
    std::vector<std::string> labels;
    for (const PowerChannel& channel : channels_) labels.push_back(channel.label);
    return fmt::format("{} sensor{} {}, every {} ms", channels_.front().chip, labels.size() == 1 ? "" : "s",
                       fmt::join(labels, " + "), period().count());
  }

 private:
  struct Reading {
    Clock::time_point time;
    double watts;
  };
  std::vector<PowerChannel> channels_;
  double joules_ = 0;
  std::optional<Reading> last_;
};

/// "power3_input" -> "3", for the prefix "power".
std::optional<std::string> channel_number(const fs::path& file, const std::string& prefix) {
  const std::string name = file.filename().string();
  const std::string suffix = "_input";
  if (!name.starts_with(prefix) || !name.ends_with(suffix)) return std::nullopt;
  const std::size_t digits = name.size() - suffix.size();
  if (digits <= prefix.size() || !whole_number(name.substr(prefix.size(), digits - prefix.size())))
    return std::nullopt;
  return name.substr(prefix.size(), digits - prefix.size());
}

/// hwmon states microwatts; or millivolts and, under the same number, milliamperes.
std::vector<PowerChannel> channels_of_chip(const fs::path& folder) {
  const std::string chip = read_small_file(folder / "name").value_or("unnamed");
  std::vector<PowerChannel> channels;
  const std::vector<fs::path> files = entries_of(folder);
  for (const fs::path& file : files) {
    const std::optional<std::string> number = channel_number(file, "power");
    if (!number) continue;
    const std::string name = "power" + *number;
    channels.push_back({chip, read_small_file(folder / (name + "_label")).value_or(name), file, {}, 1e-6});
  }
  if (!channels.empty()) return channels;
  for (const fs::path& file : files) {
    const std::optional<std::string> number = channel_number(file, "in");
    if (!number || !fs::exists(folder / ("curr" + *number + "_input"))) continue;
    const std::string name = "in" + *number;
    channels.push_back({chip, read_small_file(folder / (name + "_label")).value_or(name), file,
                        folder / ("curr" + *number + "_input"), 1e-6});
  }
  return channels;
}

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

/// Chips that measure something besides the board: graphics cards, batteries, mains adapters, radios.
bool measures_something_else(const std::string& chip) {
  constexpr const char* kOthers[] = {"amdgpu",  "radeon", "nouveau", "nvidia", "i915",    "xe",  "bat",
                                     "battery", "ac",     "adp",     "ucsi",   "iwlwifi", "nvme"};
  const std::string name = lower(chip);
  return std::any_of(std::begin(kOthers), std::end(kOthers), [&](const char* other) {
    // "BAT0", "iwlwifi_1", but not "acpi..." for "ac".
    const std::string prefix = other;
    return name.starts_with(prefix) &&
           (name.size() == prefix.size() || !std::isalpha(static_cast<unsigned char>(name[prefix.size()])));
  });
}

/// The supply of the whole board: VDD_IN, POM_5V_IN, "Total System Power".
bool measures_everything(const std::string& label) {
  const std::string name = lower(label);
  return name.ends_with("_in") || name.find("total") != std::string::npos;
}

}  // namespace

std::vector<PowerChannel> hwmon_channels(const fs::path& root) {
  std::vector<PowerChannel> channels;
  for (const fs::path& folder : entries_of(root / "class/hwmon")) {
    // Older drivers keep their files one folder further down.
    std::vector<PowerChannel> found = channels_of_chip(folder);
    if (found.empty()) found = channels_of_chip(folder / "device");
    channels.insert(channels.end(), found.begin(), found.end());
  }
  return channels;
}

std::vector<PowerChannel> iio_channels(const fs::path& root) {
  std::vector<PowerChannel> channels;
  for (const fs::path& folder : entries_of(root / "bus/iio/devices")) {
    const std::string chip = read_small_file(folder / "name").value_or("unnamed");
    for (const fs::path& file : entries_of(folder)) {
      const std::optional<std::string> number = channel_number(file, "in_power");
      if (!number) continue;
      const std::string label =
          read_small_file(folder / ("rail_name_" + *number)).value_or("in_power" + *number);
      channels.push_back({chip, label, file, {}, 1e-3});
    }
  }
  return channels;
}

std::vector<PowerChannel> channels_of_machine(const std::vector<PowerChannel>& channels) {
  std::vector<PowerChannel> of_board;
  for (const PowerChannel& channel : channels) {
    if (measures_something_else(channel.chip)) continue;
    if (measures_everything(channel.label)) return {channel};
    // Chips of one kind share a board's rails out among them; chips of two kinds may measure the same twice.
    if (of_board.empty() || of_board.front().chip == channel.chip) of_board.push_back(channel);
  }
  return of_board;
}

std::unique_ptr<EnergySensor> open_power_sensors(std::vector<PowerChannel> channels) {
  if (channels.empty() || !watts_of(channels)) return nullptr;
  return std::make_unique<PowerSensors>(std::move(channels));
}

}  // namespace poet::runtime
