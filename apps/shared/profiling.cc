#include "apps/shared/profiling.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <utility>

#include "apps/shared/amounts.h"
#include "apps/shared/answer_line.h"
#include "apps/shared/called_as.h"
#include "apps/shared/interrupt.h"
#include "apps/shared/live_line.h"
#include "apps/shared/number.h"
#include "apps/shared/parser.h"
#include "apps/shared/terminal.h"
#include "poet/base/amounts.h"
#include "poet/base/error.h"
#include "poet/cost/json_reader.h"
#include "poet/cost/tabulate.h"
#include "poet/report/table.h"

namespace poet::cli {
namespace {

constexpr std::size_t kShown = 8;  // of the operators

std::optional<Watts> watts(const char* option, const std::optional<std::string>& text) {
  if (!text) return std::nullopt;
  const std::optional<double> number = number_in(*text);
  if (!number || !(*number >= 0) || !std::isfinite(*number))
    throw InputError(option, fmt::format("\"{}\" is not a power (try 2.5: watts, at least 0)", *text));
  return Watts(*number);
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

std::string direction_text(const StorageDirection& direction) {
  return fmt::format("{}/s after {}",
                     format_bytes(Bytes(static_cast<std::int64_t>(direction.bytes_per_second))),
                     format_seconds(direction.latency, 3));
}

}  // namespace

void add_profiling_options(const Parser& parser, ProfilingOptions& options) {
  const Parser output = parser.group("Output");
  const Parser power = parser.group("Power");
  output.option("-o", options.output, "file for the device profile, for --platform (required)", "FILE.json");
  output.option("--name", options.name, "name of the device (default: the file's)", "NAME");
  parser.group("Measuring")
      .option("--seconds", options.budget,
              "time to measure operators for (default 10s; at least three steps)", "TIME");
  power.option("--active-watts", options.active_watts,
               "power above idle while computing (default: measured, or 1 W without a sensor)", "WATTS");
  power.option("--idle-watts", options.idle_watts,
               "idle power (default: measured, or 0 without a sensor or with --active-watts)", "WATTS");
  power.option("--storage-watts", options.storage_watts,
               "power above idle while transferring (default: a twentieth of the active power)", "WATTS");
  add_machine_options(parser, options.machine);
  add_kernel_threads_option(parser, options.machine);
  output.flag("--quiet", options.quiet, "no progress on stderr");
}

runtime::MachineProfile profile_machine(const Graph& training, const ProfilingOptions& options) {
  const MachineChoice machine = read_machine_options(options.machine);
  runtime::MachineProfileOptions how;
  how.name = options.name.value_or(std::filesystem::path(*options.output).stem().string());
  how.kernels = machine.kernels;
  how.storage = machine.storage;
  how.power.active = watts("--active-watts", options.active_watts);
  how.power.idle = watts("--idle-watts", options.idle_watts);
  how.power.storage = watts("--storage-watts", options.storage_watts);
  how.power.active_origin = how.power.idle_origin = how.power.storage_origin =
      "assumed: as given on the command line";
  if (how.name.empty()) throw InputError("--name", "must not be empty");
  if (how.power.active && how.power.active->value() <= 0) throw InputError("--active-watts", "must be > 0");
  if (options.budget) how.budget = parse_duration("--seconds", *options.budget);

  const InterruptGuard guard("measuring no more than needed");
  const StatusLine status(options.quiet);
  how.interrupted = [&guard] { return guard.interrupted(); };
  how.on_phase = [&status](const std::string& phase) { status.say(phase); };
  how.on_repetition = [&status](int done, int all) {
    status.redraw(fmt::format("measuring operators: {} of {}", done, all));
  };
  return runtime::profile_machine(training, how);
}

std::string profile_file(const runtime::MachineProfile& profiled) {
  return json_text(to_json(profiled.device), 1) + "\n";
}

std::string profile_text(const runtime::MachineProfile& profiled, const std::string& file) {
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
  out += answer_line("Profile", fmt::format("{}; use it with: {} solve --platform {} ...", file, called_as(),
                                            shell_word(file)));
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
  return out + terminal_table(table);
}

}  // namespace poet::cli
