#pragma once

// Energy measured by this machine's sensors; nothing is estimated.

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "poet/base/units.h"

namespace poet::runtime {

/// Printed in reports instead of a figure if there is no meter.
inline constexpr const char* kNotMeasured = "not measured (no RAPL, hwmon or INA sensor readable)";

class EnergyMeter {
 public:
  /// The first that can be read of: RAPL's counters of processor packages and their memory (powercap); power
  /// sensors of hwmon, in microwatts, or as millivolts and milliamperes (INA3221 and its like); power
  /// sensors in milliwatts under iio (older Jetson boards). Sensors of graphics cards, batteries and mains
  /// do not count: they measure something else. Where a board has one for all that it draws, that one;
  /// otherwise the sum of the chip's. Nothing when there is none. `root` is for tests.
  [[nodiscard]] static std::optional<EnergyMeter> open(const std::filesystem::path& root = "/sys");

  ~EnergyMeter();
  EnergyMeter(const EnergyMeter&) = delete;
  EnergyMeter& operator=(const EnergyMeter&) = delete;
  EnergyMeter(EnergyMeter&&) noexcept;
  EnergyMeter& operator=(EnergyMeter&&) noexcept;

  /// Starts measuring. A thread reads power sensors every 50 ms, and counters often enough to notice every
  /// overflow.
  void start();
  /// Stops and returns the energy since start() of the whole machine or package, other programs included.
  [[nodiscard]] Joules stop();

  /// "RAPL counters package-0, dram"; "ina3221 sensor VDD_IN, every 50 ms".
  [[nodiscard]] const std::string& description() const;

 private:
  struct State;
  explicit EnergyMeter(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace poet::runtime
