// Energy from sensors that are made up: what counts, how it is added up, and that nothing is invented.

#include "poet/runtime/sensors/energy_meter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <thread>

#include "poet/base/error.h"
#include "poet/runtime/sensors/energy_sensor.h"
#include "tests/support/program.h"

namespace poet::runtime {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;  // NOLINT(google-build-using-namespace): ms and s

class EnergyMeterTest : public ::testing::Test {
 protected:
  void write(const std::string& file, const std::string& text) const {
    fs::create_directories(fs::path(root_.file(file)).parent_path());
    root_.write(file, text + "\n");
  }
  void package(int number, const std::string& microjoules) const {
    const std::string zone = "class/powercap/intel-rapl:" + std::to_string(number) + "/";
    write(zone + "name", "package-" + std::to_string(number));
    write(zone + "max_energy_range_uj", "1000000");
    write(zone + "energy_uj", microjoules);
  }
  std::optional<EnergyMeter> open() const { return EnergyMeter::open(root_.file("")); }
  std::string description() const {
    const std::optional<EnergyMeter> meter = open();
    return meter ? meter->description() : kNotMeasured;
  }

  const test::TemporaryFolder root_;
};

TEST_F(EnergyMeterTest, NothingThereIsNothingMeasured) {
  EXPECT_FALSE(open());
  fs::create_directories(root_.file("class/hwmon/hwmon0"));
  write("class/hwmon/hwmon0/name", "coretemp");
  write("class/hwmon/hwmon0/temp1_input", "40000");
  write("class/hwmon/hwmon0/in0_input", "1200");  // a voltage without a current
  EXPECT_EQ(description(), "not measured (no RAPL, hwmon or INA sensor readable)");
}

TEST_F(EnergyMeterTest, RaplAddsPackagesAndTheirMemory) {
  package(0, "100");
  package(1, "990000");
  write("class/powercap/intel-rapl:0:0/name", "core");  // inside package-0: no counter is asked for
  write("class/powercap/intel-rapl:0:1/name", "dram");
  write("class/powercap/intel-rapl:0:1/max_energy_range_uj", "1000000");
  write("class/powercap/intel-rapl:0:1/energy_uj", "0");
  write("class/powercap/intel-rapl-mmio:0/name", "package-0");  // the same again
  std::optional<EnergyMeter> meter = open();
  ASSERT_TRUE(meter);
  EXPECT_EQ(meter->description(), "RAPL counters package-0, dram, package-1");
  meter->start();
  package(0, "500100");  // 0.5 J
  package(1, "20000");   // beyond 1,000,000 and on to 20,000: 0.03 J
  write("class/powercap/intel-rapl:0:1/energy_uj", "70000");
  EXPECT_NEAR(meter->stop().value(), 0.6, 1e-9);
  // The next measurement begins where it starts.
  package(0, "600100");
  meter->start();
  package(0, "700100");
  EXPECT_NEAR(meter->stop().value(), 0.1, 1e-9);
}

TEST_F(EnergyMeterTest, CountersGoRoundAsOftenAsTheyAreSeen) {
  package(0, "0");
  const std::unique_ptr<EnergySensor> rapl = open_rapl(root_.file(""));
  ASSERT_TRUE(rapl);
  rapl->begin();
  const EnergySensor::Clock::time_point now{};
  for (const char* const microjoules : {"900000", "400000", "300000", "200000"}) {
    rapl->sample(now);
    package(0, microjoules);
  }
  rapl->sample(now);
  // 0.9 + (0.1 + 0.4) + (0.6 + 0.3) + (0.7 + 0.2)
  EXPECT_NEAR(rapl->energy().value(), 3.2, 1e-9);
}

TEST_F(EnergyMeterTest, PackagesThatCannotAllBeReadAreNotMeasured) {
  package(0, "100");
  package(1, "");  // as with a counter that only root may read: no number comes
  EXPECT_FALSE(open());
}

TEST_F(EnergyMeterTest, ASensorOfPowerIsIntegrated) {
  write("class/hwmon/hwmon3/name", "ina226");
  write("class/hwmon/hwmon3/power1_input", "2000000");
  std::optional<EnergyMeter> meter = open();
  ASSERT_TRUE(meter);
  EXPECT_EQ(meter->description(), "ina226 sensor power1, every 50 ms");
  const auto begin = std::chrono::steady_clock::now();
  meter->start();
  std::this_thread::sleep_for(120ms);
  const double joules = meter->stop().value();
  const std::chrono::duration<double> most = std::chrono::steady_clock::now() - begin;
  EXPECT_GE(joules, 2 * 0.12);
  EXPECT_LE(joules, 2 * most.count());
}

TEST_F(EnergyMeterTest, TheThreadSeesWhatStartAndStopDoNot) {
  write("class/hwmon/hwmon0/name", "ina226");
  write("class/hwmon/hwmon0/power1_input", "0");
  std::optional<EnergyMeter> meter = open();
  ASSERT_TRUE(meter);
  // Both ends read 0 W. On a busy machine the thread may come late.
  double joules = 0;
  for (auto pause = 200ms; joules == 0 && pause < 600s; pause *= 2) {
    meter->start();
    write("class/hwmon/hwmon0/power1_input", "5000000");
    std::this_thread::sleep_for(pause);
    write("class/hwmon/hwmon0/power1_input", "0");
    joules = meter->stop().value();
  }
  EXPECT_GT(joules, 0);
}

TEST_F(EnergyMeterTest, TrapezoidsBetweenReadings) {
  write("class/hwmon/hwmon0/name", "ina226");
  write("class/hwmon/hwmon0/power1_input", "1000000");
  const std::unique_ptr<EnergySensor> sensor = open_power_sensors(hwmon_channels(root_.file("")));
  ASSERT_TRUE(sensor);
  const EnergySensor::Clock::time_point zero{};
  sensor->begin();
  sensor->sample(zero);
  write("class/hwmon/hwmon0/power1_input", "3000000");
  sensor->sample(zero + 1s);  // (1 + 3) / 2 W over 1 s
  write("class/hwmon/hwmon0/power1_input", "");
  sensor->sample(zero + 2s);  // a reading that fails
  write("class/hwmon/hwmon0/power1_input", "4000000");
  sensor->sample(zero + 3s);  // (3 + 4) / 2 W over 2 s
  EXPECT_NEAR(sensor->energy().value(), 2 + 7, 1e-9);
  sensor->begin();
  sensor->sample(zero + 9s);
  EXPECT_EQ(sensor->energy(), Joules(0));
}

TEST_F(EnergyMeterTest, VoltsTimesAmperes) {
  // An INA3221 as hwmon shows it, with an input that has no current.
  write("class/hwmon/hwmon1/name", "ina3221");
  for (const char* const channel : {"1", "2"}) {
    write(std::string("class/hwmon/hwmon1/in") + channel + "_input", "5000");   // mV
    write(std::string("class/hwmon/hwmon1/curr") + channel + "_input", "400");  // mA
    write(std::string("class/hwmon/hwmon1/in") + channel + "_label", std::string("VDD_") + channel);
  }
  write("class/hwmon/hwmon1/in7_input", "99");
  EXPECT_EQ(description(), "ina3221 sensors VDD_1 + VDD_2, every 50 ms");
  const std::unique_ptr<EnergySensor> sensor =
      open_power_sensors(channels_of_machine(hwmon_channels(root_.file(""))));
  ASSERT_TRUE(sensor);
  sensor->begin();
  sensor->sample(EnergySensor::Clock::time_point{});
  sensor->sample(EnergySensor::Clock::time_point{} + 10s);
  EXPECT_NEAR(sensor->energy().value(), 40, 1e-9);  // 2 * 5 V * 0.4 A * 10 s
}

TEST_F(EnergyMeterTest, TheSupplyOfTheBoardCountsAlone) {
  write("class/hwmon/hwmon1/name", "ina3221");
  write("class/hwmon/hwmon1/power1_label", "VDD_CPU_GPU_CV");
  write("class/hwmon/hwmon1/power1_input", "3000000");
  write("class/hwmon/hwmon1/power2_label", "VDD_IN");
  write("class/hwmon/hwmon1/power2_input", "8000000");
  EXPECT_EQ(description(), "ina3221 sensor VDD_IN, every 50 ms");
}

TEST_F(EnergyMeterTest, GraphicsCardsAndBatteriesAreNotTheMachine) {
  write("class/hwmon/hwmon0/name", "amdgpu");
  write("class/hwmon/hwmon0/power1_input", "9000000");
  write("class/hwmon/hwmon1/name", "BAT0");
  write("class/hwmon/hwmon1/power1_input", "9000000");
  EXPECT_FALSE(open());
  write("class/hwmon/hwmon2/name", "acpi_power");  // not a mains adapter, for all its beginning
  write("class/hwmon/hwmon2/power1_input", "9000000");
  write("class/hwmon/hwmon3/name", "psu");  // another kind: it may measure the same
  write("class/hwmon/hwmon3/power1_input", "9000000");
  EXPECT_EQ(description(), "acpi_power sensor power1, every 50 ms");
}

TEST_F(EnergyMeterTest, OlderJetsonBoards) {
  const std::string device = "bus/iio/devices/iio:device0/";
  write(device + "name", "ina3221x");
  write(device + "rail_name_0", "POM_5V_IN");
  write(device + "in_power0_input", "4500");  // mW
  write(device + "rail_name_1", "POM_5V_GPU");
  write(device + "in_power1_input", "100");
  EXPECT_EQ(description(), "ina3221x sensor POM_5V_IN, every 50 ms");
  const std::vector<PowerChannel> channels = channels_of_machine(iio_channels(root_.file("")));
  ASSERT_EQ(channels.size(), 1U);
  EXPECT_DOUBLE_EQ(channels[0].watts_per_unit * 4500, 4.5);
}

TEST_F(EnergyMeterTest, StartAndStopAlternate) {
  package(0, "0");
  std::optional<EnergyMeter> meter = open();
  ASSERT_TRUE(meter);
  EXPECT_THROW(static_cast<void>(meter->stop()), InternalError);
  meter->start();
  EXPECT_THROW(meter->start(), InternalError);
  EnergyMeter moved = std::move(*meter);  // while it measures; it may also end without a stop
}

}  // namespace
}  // namespace poet::runtime
