#include "poet/runtime/sensors/energy_meter.h"

#include <condition_variable>
#include <mutex>
#include <new>
#include <utility>

#include "poet/base/error.h"
#include "poet/runtime/sensors/energy_sensor.h"
#include "poet/runtime/storage/quiet_thread.h"

namespace poet::runtime {

struct EnergyMeter::State {
  explicit State(std::unique_ptr<EnergySensor> opened)
      : sensor(std::move(opened)), description(sensor->description()) {}
  ~State() { end(); }
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  State(State&&) = delete;
  State& operator=(State&&) = delete;

  void serve() {
    std::unique_lock lock(mutex);
    while (!changed.wait_for(lock, sensor->period(), [&] { return ending; })) {
      try {
        sensor->sample(EnergySensor::Clock::now());
      } catch (const std::bad_alloc&) {  // as of a sensor that cannot be read now: the next sample covers it
      }
    }
  }

  void end() {
    if (!thread.joinable()) return;
    {
      const std::lock_guard lock(mutex);
      ending = true;
    }
    changed.notify_all();
    thread.join();
  }

  const std::unique_ptr<EnergySensor> sensor;  // the thread's while there is one
  const std::string description;
  std::mutex mutex;
  std::condition_variable changed;
  bool ending = false;
  std::thread thread;
};

EnergyMeter::EnergyMeter(std::unique_ptr<State> state) : state_(std::move(state)) {}
EnergyMeter::~EnergyMeter() = default;
EnergyMeter::EnergyMeter(EnergyMeter&&) noexcept = default;
EnergyMeter& EnergyMeter::operator=(EnergyMeter&&) noexcept = default;

std::optional<EnergyMeter> EnergyMeter::open(const std::filesystem::path& root) {
  std::unique_ptr<EnergySensor> sensor = open_rapl(root);
  if (!sensor) sensor = open_power_sensors(channels_of_machine(hwmon_channels(root)));
  if (!sensor) sensor = open_power_sensors(channels_of_machine(iio_channels(root)));
  if (!sensor) return std::nullopt;
  return EnergyMeter(std::make_unique<State>(std::move(sensor)));
}

void EnergyMeter::start() {
  State& s = *state_;
  ensure(!s.thread.joinable(), "a measurement of energy is stopped before the next one is started");
  s.ending = false;
  s.sensor->begin();
  s.sensor->sample(EnergySensor::Clock::now());
  s.thread = quiet_thread("the thread for energy", [state = &s] { state->serve(); });
}

Joules EnergyMeter::stop() {
  State& s = *state_;
  ensure(s.thread.joinable(), "a measurement of energy is started before it is stopped");
  s.end();
  s.sensor->sample(EnergySensor::Clock::now());
  return s.sensor->energy();
}

const std::string& EnergyMeter::description() const { return state_->description; }

}  // namespace poet::runtime
