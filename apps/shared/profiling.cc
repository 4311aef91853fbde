#include "apps/shared/profiling.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/utsname.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>
#include <utility>

#include "apps/shared/amounts.h"
#include "apps/shared/answer_line.h"
#include "apps/shared/interrupt.h"
#include "apps/shared/live_line.h"
#include "apps/shared/parser.h"
#include "poet/base/amounts.h"
#include "poet/base/error.h"
#include "poet/cost/json_reader.h"
#include "poet/cost/tabulate.h"
#include "poet/report/table.h"
#include "poet/runtime/profile/profiler.h"
#include "poet/runtime/sensors/energy_meter.h"
#include "poet/runtime/sensors/process_memory.h"

namespace poet::cli {
namespace {

constexpr double kDefaultSeconds = 10;  // of measuring operators
constexpr double kStorageSeconds = 4;   // of measuring the storage
constexpr double kIdleSeconds = 2;      // of measuring the idle power, where there is a sensor
constexpr std::size_t kShown = 8;       // of the operators

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

std::optional<Watts> watts(const char* option, const std::optional<std::string>& text) {
  if (!text) return std::nullopt;
  double number = -1;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), number);
  if (error != std::errc{} || end != text->data() + text->size() || !(number >= 0) || !std::isfinite(number))
    throw InputError(option, fmt::format("\"{}\" is not a power (try 2.5: watts, at least 0)", *text));
  return Watts(number);
}

/// Of what a step computes: about what a plan may have on storage.
Bytes all_values(const Graph& training) {
  Bytes sum{};
  for (const Value& value : training.values)
    if (!value.alias_of.valid()) sum += value.bytes;
  return sum;
}

/// One live line on a terminal, nothing elsewhere but its first and last words.
class StatusLine {
 public:
  explicit StatusLine(bool quiet) : live_(!quiet && is_live(stderr)), quiet_(quiet) {}
  ~StatusLine() {
    if (live_) remove_line(stderr);
  }
  StatusLine(const StatusLine&) = delete;
  StatusLine& operator=(const StatusLine&) = delete;
  StatusLine(StatusLine&&) = delete;
  StatusLine& operator=(StatusLine&&) = delete;

  void say(const std::string& text) const {
    if (live_) draw_line(stderr, text);
    if (!live_ && !quiet_) std::fputs(("poet: " + text + "\n").c_str(), stderr);
  }
  void redraw(const std::string& text) const {
    if (live_) draw_line(stderr, text);
  }

 private:
  bool live_;
  bool quiet_;
};

struct Power {
  Watts watts;
  std::string sensor;
};

/// What a sensor says while `work` runs, per second.
template <class Work>
std::optional<Power> power_during(const Work& work) {
  std::optional<runtime::EnergyMeter> meter = runtime::EnergyMeter::open();
  if (meter) meter->start();
  const auto begin = std::chrono::steady_clock::now();
  work();
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  if (!meter || seconds <= 0) return std::nullopt;
  return Power{Watts(meter->stop().value() / seconds), meter->description()};
}

std::optional<Power> idle_power(const StatusLine& status) {
  if (!runtime::EnergyMeter::open()) return std::nullopt;
  status.say("measuring the idle power");
  return power_during([] { std::this_thread::sleep_for(std::chrono::duration<double>(kIdleSeconds)); });
}

}  // namespace

void add_profiling_options(const Parser& parser, ProfilingOptions& options) {
  const Parser output = parser.group("Output");
  const Parser power = parser.group("Power");
  output.option("-o", options.output, "the device profile, for --platform (required)", "FILE.json");
  output.option("--name", options.name, "of the device (default: that of the file)", "NAME");
  parser.group("Measuring")
      .option("--seconds", options.budget, "for the operators (default 10s; three steps at least)", "TIME");
  power.option("--active-watts", options.active_watts,
               "above idle, while computing (default: what a sensor says; without one 1 W)", "WATTS");
  power.option("--idle-watts", options.idle_watts,
               "all the time (default: what a sensor says; without one, or with --active-watts, 0)", "WATTS");
  power.option("--storage-watts", options.storage_watts,
               "above idle, while transferring (default: a twentieth of the active power)", "WATTS");
  add_machine_options(parser, options.machine);
  output.flag("--quiet", options.quiet, "no progress on stderr");
}

Profiled profile_machine(const Graph& training, const ProfilingOptions& options) {
  const MachineChoice machine = read_machine_options(options.machine);
  runtime::PowerFigures power;
  power.active = watts("--active-watts", options.active_watts);
  power.idle = watts("--idle-watts", options.idle_watts);
  power.storage = watts("--storage-watts", options.storage_watts);
  power.active_origin = power.idle_origin = power.storage_origin = "assumed: as given on the command line";
  if (options.name && options.name->empty()) throw InputError("--name", "must not be empty");
  if (power.active && power.active->value() <= 0) throw InputError("--active-watts", "must be > 0");
  runtime::OpTimesOptions times;
  times.kernels = machine.kernels;
  times.budget = options.budget ? parse_duration("--seconds", *options.budget) : Seconds(kDefaultSeconds);
  runtime::set_up_kernels(machine.kernels);
  // Before anything is measured, so that nobody waits for a storage that cannot be.
  { const runtime::PageFile opened(machine.storage, {}); }

  const InterruptGuard guard("measuring no more than needed");
  const StatusLine status(options.quiet);
  times.interrupted = [&guard] { return guard.interrupted(); };
  times.on_repetition = [&status](int done, int all) {
    status.redraw(fmt::format("measuring operators: {} of {}", done, all));
  };

  runtime::Measurements measured;
  measured.date = today();
  measured.machine = machine_description();
  measured.kernels = runtime::kernels_description(machine.kernels);
  measured.ram = machine_memory();
  const std::optional<Power> idle = power.active ? std::nullopt : idle_power(status);
  status.say("measuring operators");
  const auto step = runtime::training_step_within(runtime::available_memory(), training, machine.kernels);
  const std::optional<Power> busy =
      power_during([&] { measured.ops = runtime::measure_ops(training, step.get(), times); });
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
  status.say("measuring the storage");
  std::function<void()> beside;
  if (step) beside = [&step] { step->run(); };
  measured.storage_free =
      free_space(machine.storage.where.empty() ? runtime::default_page_folder() : machine.storage.where);
  measured.storage =
      runtime::measure_storage(machine.storage, beside, Seconds(kStorageSeconds),
                               std::min(all_values(training), Bytes(measured.storage_free.value() / 4)));

  Profiled profiled;
  const std::string stem = std::filesystem::path(*options.output).stem().string();
  profiled.device = runtime::profile_of(options.name.value_or(stem), training, measured);
  profiled.in_context = measured.ops.in_context;
  profiled.repetitions = measured.ops.repetitions;
  profiled.step = measured.ops.step;
  profiled.kernels = measured.kernels;
  profiled.storage = measured.storage->storage;
  profiled.storage_in_ram = measured.storage->in_ram;
  return profiled;
}

namespace {

std::string direction_text(const StorageDirection& direction) {
  return fmt::format("{}/s after {}",
                     format_bytes(Bytes(static_cast<std::int64_t>(direction.bytes_per_second))),
                     format_seconds(direction.latency, 3));
}

}  // namespace

std::string profile_file(const Profiled& profiled) { return json_text(to_json(profiled.device), 1) + "\n"; }

std::string profile_text(const Profiled& profiled, const std::string& file) {
  const DeviceProfile& device = profiled.device;
  std::string out;
  out += answer_line("Device", fmt::format("{}: {}", device.name, device.description));
  std::string how = fmt::format("{} kinds and shapes of operators", device.overrides.size());
  if (profiled.in_context)
    how +=
        fmt::format(", in {} training steps of {} each", profiled.repetitions, format_seconds(profiled.step));
  else
    how += ", each alone: a whole step that keeps everything does not fit this machine's RAM";
  out += answer_line("Measured", how);
  out += answer_line(
      "Rates", fmt::format("{}FLOP/s in convolutions and products, {}/s in the others",
                           format_short(device.flops_per_second),
                           format_bytes(Bytes(static_cast<std::int64_t>(device.memory_bytes_per_second)))));
  if (device.storage) {
    out +=
        answer_line("Storage", fmt::format("out {}, in {}; {}; {}", direction_text(device.storage->page_out),
                                           direction_text(device.storage->page_in),
                                           device.storage->concurrent ? "beside compute" : "blocks compute",
                                           profiled.storage));
    if (profiled.storage_in_ram)
      out +=
          answer_line("Note", "that file system is in RAM: the figures are not a storage's; try --storage");
  }
  out += answer_line("Power", fmt::format("{} above idle, {} idle; {}", format_watts(device.active),
                                          format_watts(device.idle), device.origins.at("/active_watts")));
  out += answer_line("Profile", fmt::format("{}; use it with: poet solve --platform {} ...", file, file));
  out += '\n';
  std::vector<OpOverride> slowest = device.overrides;
  std::stable_sort(slowest.begin(), slowest.end(),
                   [](const OpOverride& a, const OpOverride& b) { return a.runtime > b.runtime; });
  if (slowest.size() > kShown) slowest.resize(kShown);
  Table table({{"slowest operators"},
               {"time", Align::right},
               {"spread", Align::right},
               {"workspace", Align::right},
               {"shapes"}});
  for (const OpOverride& op : slowest)
    table.add({op.kind, format_seconds(op.runtime, 3), format_percent(op.spread, 2),
               format_bytes(op.workspace), op.shape_class});
  return out + table.text();
}

}  // namespace poet::cli
