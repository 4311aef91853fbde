#include "poet/runtime/profile/machine_profile.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/utsname.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include "poet/base/amounts.h"
#include "poet/base/error.h"
#include "poet/runtime/sensors/energy_meter.h"
#include "poet/runtime/sensors/process_memory.h"

namespace poet::runtime {
namespace {

constexpr double kStorageSeconds = 4;  // of measuring the storage
constexpr double kIdleSeconds = 2;     // of measuring the idle power, where there is a sensor

std::string today() {
  const std::time_t now = std::time(nullptr);
  return fmt::format("{:%Y-%m-%d}", fmt::gmtime(now));
}

/// "aarch64, Cortex-A72, 4 cores".
std::string machine_description() {
  utsname system{};
  uname(&system);
  std::string text = system.machine;
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    const bool names_it =
        line.starts_with("model name") || line.starts_with("Model\t") || line.starts_with("Hardware");
    const std::size_t colon = line.find(": ");
    if (!names_it || colon == std::string::npos) continue;
    text += ", " + line.substr(colon + 2);
    break;
  }
  return text + ", " + counted(static_cast<std::int64_t>(std::thread::hardware_concurrency()), "core");
}

Bytes machine_memory() {
  std::ifstream info("/proc/meminfo");
  for (std::string word; info >> word;) {
    std::int64_t kib = 0;
    if (word == "MemTotal:" && info >> kib) return Bytes(kib * 1024);
  }
  throw InputError("/proc/meminfo", "does not tell how much memory there is");
}

/// On the file system of a folder, or of a file that is there or to be made.
Bytes free_space(const std::filesystem::path& where) {
  std::error_code error;
  std::filesystem::path folder = std::filesystem::absolute(where, error);
  if (!std::filesystem::is_directory(folder, error)) folder = folder.parent_path();
  const std::filesystem::space_info space = std::filesystem::space(folder, error);
  if (error) throw InputError(folder.string(), "does not tell how much space is free: " + error.message());
  return Bytes(static_cast<std::int64_t>(space.available));
}

/// Of what a step computes: about what a plan may have on storage.
Bytes all_values(const Graph& training) {
  Bytes sum{};
  for (const Value& value : training.values)
    if (!value.alias_of.valid()) sum += value.bytes;
  return sum;
}

struct MeasuredPower {
  Watts watts;
  std::string sensor;
};

/// What a sensor says while `work` runs, per second.
template <class Work>
std::optional<MeasuredPower> power_during(const Work& work) {
  std::optional<EnergyMeter> meter = EnergyMeter::open();
  if (meter) meter->start();
  const auto begin = std::chrono::steady_clock::now();
  work();
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  if (!meter || seconds <= 0) return std::nullopt;
  return MeasuredPower{Watts(meter->stop().value() / seconds), meter->description()};
}

std::optional<MeasuredPower> idle_power(const MachineProfileOptions& options) {
  if (!EnergyMeter::open()) return std::nullopt;
  if (options.on_phase) options.on_phase("measuring the idle power");
  return power_during([] { std::this_thread::sleep_for(std::chrono::duration<double>(kIdleSeconds)); });
}

}  // namespace

MachineProfile profile_machine(const Graph& training, const MachineProfileOptions& options) {
  const auto say = [&options](const std::string& phase) {
    if (options.on_phase) options.on_phase(phase);
  };
  set_up_kernels(options.kernels);
  // Before anything is measured, so that nobody waits for a storage that cannot be.
  { const PageFile opened(options.storage, {}); }

  Measurements measured;
  measured.date = today();
  measured.machine = machine_description();
  measured.kernels = kernels_description(options.kernels);
  measured.ram = machine_memory();
  PowerFigures power = options.power;
  const std::optional<MeasuredPower> idle = power.active ? std::nullopt : idle_power(options);
  say("measuring operators");
  const auto step = training_step_within(available_memory(), training, options.kernels);
  const OpTimesOptions times{options.kernels, options.budget, options.on_repetition, options.interrupted};
  const std::optional<MeasuredPower> busy =
      power_during([&] { measured.ops = measure_ops(training, step.get(), times); });
  if (idle && busy && busy->watts > idle->watts) {
    power.active = busy->watts - idle->watts;
    power.active_origin = fmt::format("measured: {}, {}", measured.date, busy->sensor);
  }
  // Next to an assumed power of computing a measured one would decide everything.
  if (idle && power.active && !power.idle) {
    power.idle = idle->watts;
    power.idle_origin = fmt::format("measured: {}, {}", measured.date, idle->sensor);
  }
  measured.power = power;
  say("measuring the storage");
  std::function<void()> beside;
  if (step) beside = [&step] { step->run(); };
  measured.storage_free =
      free_space(options.storage.where.empty() ? default_page_folder() : options.storage.where);
  measured.storage =
      measure_storage(options.storage, beside, Seconds(kStorageSeconds),
                      std::min(all_values(training), Bytes(measured.storage_free.value() / 4)));

  MachineProfile profile;
  profile.device = profile_of(options.name, training, measured);
  profile.in_context = measured.ops.in_context;
  profile.repetitions = measured.ops.repetitions;
  profile.step = measured.ops.step;
  profile.kernels = measured.kernels;
  profile.storage = measured.storage->storage;
  profile.storage_in_ram = measured.storage->in_ram;
  return profile;
}

}  // namespace poet::runtime
