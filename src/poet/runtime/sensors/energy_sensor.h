#pragma once

// Sensors that add up energy when they are asked to; who asks, and when, is EnergyMeter's.

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "poet/base/units.h"

namespace poet::runtime {

class EnergySensor {
 public:
  using Clock = std::chrono::steady_clock;

  EnergySensor() = default;
  EnergySensor(const EnergySensor&) = delete;
  EnergySensor& operator=(const EnergySensor&) = delete;
  EnergySensor(EnergySensor&&) = delete;
  EnergySensor& operator=(EnergySensor&&) = delete;
  virtual ~EnergySensor() = default;

  /// Forgets the readings so far.
  virtual void begin() = 0;
  /// Reads the sensor: what was consumed since the reading before is added. The first after begin() adds
  /// nothing, and neither does one that fails: the next one then covers its time too.
  virtual void sample(Clock::time_point now) = 0;
  [[nodiscard]] virtual Joules energy() const = 0;  // since begin()

  [[nodiscard]] virtual std::chrono::milliseconds period() const = 0;  // between samples, at most
  [[nodiscard]] virtual std::string description() const = 0;
};

/// RAPL's counters, or null.
[[nodiscard]] std::unique_ptr<EnergySensor> open_rapl(const std::filesystem::path& root);

/// One power sensor: a file, or a voltage and a current.
struct PowerChannel {
  std::string chip;
  std::string label;
  std::filesystem::path power_or_volts;
  std::filesystem::path amperes;  // empty where the first is power
  double watts_per_unit = 0;      // of the number read, or of the product
};

/// All channels under hwmon, in the order of their names, whatever they measure.
[[nodiscard]] std::vector<PowerChannel> hwmon_channels(const std::filesystem::path& root);
/// All channels under iio.
[[nodiscard]] std::vector<PowerChannel> iio_channels(const std::filesystem::path& root);
/// Those of the channels that together are this machine, by the rules of EnergyMeter::open().
[[nodiscard]] std::vector<PowerChannel> channels_of_machine(const std::vector<PowerChannel>& channels);

/// The integral of the channels' power, by the trapezoidal rule. Null when there are none or one of them
/// cannot be read.
[[nodiscard]] std::unique_ptr<EnergySensor> open_power_sensors(std::vector<PowerChannel> channels);

}  // namespace poet::runtime
