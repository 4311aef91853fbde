#include "poet/runtime/profile/profiler.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "poet/base/median.h"
#include "poet/cost/tabulate.h"

namespace poet::runtime {
namespace {

// Without any figure of power: 1 W makes joules of seconds, and storage draws what it does on the boards
// whose power is published (3 W and 0.15 W on a Raspberry Pi 4).
constexpr Watts kAssumedActive{1};
constexpr double kAssumedStorageShare = 0.05;

constexpr std::int64_t kLineBytes = 64;
// What paging is worth trying with, where nobody measured a storage's wear.
constexpr std::int64_t kBlock = 4096;

bool is_dense(std::string_view kind) {
  constexpr std::array<std::string_view, 6> kDense = {"conv", "linear", "matmul", "lstm", "gru", "rnn"};
  return std::any_of(kDense.begin(), kDense.end(),
                     [kind](std::string_view prefix) { return kind.starts_with(prefix); });
}

/// What the measured ops reached together: the two slopes of the machine's roofline.
struct Rates {
  double flops_per_second = 0;
  double bytes_per_second = 0;
};

Rates rates_of(const Graph& training, const std::vector<OpTime>& times) {
  double flops = 0, computing = 0, bytes = 0, moving = 0;
  for (const OpTime& time : times) {
    const Work work = work_of(training, time.example);
    const double runs = time.ops;
    if (is_dense(time.kind)) {
      flops += runs * static_cast<double>(work.flops.value());
      computing += runs * time.median.value();
    } else {
      bytes += runs * static_cast<double>(work.moved.value());
      moving += runs * time.median.value();
    }
  }
  // A network without one of the two leaves that slope to the other one, at a byte per FLOP.
  Rates rates;
  rates.flops_per_second = computing > 0 ? flops / computing : 0;
  rates.bytes_per_second = moving > 0 ? bytes / moving : rates.flops_per_second;
  if (!(rates.flops_per_second > 0)) rates.flops_per_second = std::max(rates.bytes_per_second, 1.0);
  if (!(rates.bytes_per_second > 0)) rates.bytes_per_second = rates.flops_per_second;
  return rates;
}

double median_spread(const std::vector<OpTime>& times) {
  std::vector<double> spreads;
  for (const OpTime& time : times) spreads.push_back(time.spread);
  return spreads.empty() ? 0 : median(std::move(spreads));
}

StorageDirection direction(const TransferFit& fit, Watts power) {
  return {fit.latency, fit.bytes_per_second, power};
}

void add_storage(const Measurements& measured, Watts power, DeviceProfile& device) {
  const StorageSpeed& speed = *measured.storage;
  Storage storage;
  storage.capacity = std::max(measured.storage_free, Bytes(1));
  storage.block = Bytes(kBlock);
  storage.page_in = direction(speed.page_in, power);
  storage.page_out = direction(speed.page_out, power);
  storage.concurrent = speed.concurrent;
  device.storage = storage;
  const auto how = [&](const TransferFit& fit) {
    return fmt::format("measured: {}, {} rounds of transfers up to {} bytes {}, {}, spread {:.1f}%",
                       measured.date, speed.rounds, speed.largest.value(),
                       speed.beside_compute ? "beside training steps" : "alone", speed.storage,
                       100 * fit.spread);
  };
  device.origins["/page_in"] = how(speed.page_in);
  device.origins["/page_out"] = how(speed.page_out);
  device.origins["/storage_bytes"] =
      fmt::format("measured: {}, free on the file system that is paged to", measured.date);
  device.origins["/block_bytes"] = "assumed: the 4 KiB page and block of Linux and ext4";
  device.origins["/concurrent"] =
      fmt::format("measured: {}, transfers and compute together took {:.0f}% of one after the other",
                  measured.date, 100 * speed.together);
}

/// Between the least and the most that a profile may state.
double factor(double found) { return std::clamp(found, 1.0, kMostVariation); }

void add_variation(const Measurements& measured, DeviceProfile& device) {
  const OpTimes& ops = measured.ops;
  device.variation = TimeVariation{factor(ops.step_p95_over_median), factor(ops.op_p95_over_median), 1, 1};
  if (measured.storage) {
    device.variation->page_in = factor(measured.storage->page_in.p95_over_median);
    device.variation->page_out = factor(measured.storage->page_out.p95_over_median);
  }
  device.origins["/p95_over_median"] =
      fmt::format("measured: {}, of the same samples as the medians: {} repetitions{}", measured.date,
                  ops.repetitions, ops.in_context ? "" : " of each op alone");
}

}  // namespace

DeviceProfile profile_of(const std::string& name, const Graph& training, const Measurements& measured) {
  DeviceProfile device;
  device.name = name;
  device.description = fmt::format("{}, measured {} for {}, {}", measured.machine, measured.date,
                                   training.name, measured.kernels);
  device.ram = measured.ram;
  device.alignment = Bytes(kLineBytes);
  const Rates rates = rates_of(training, measured.ops.times);
  device.flops_per_second = rates.flops_per_second;
  device.memory_bytes_per_second = rates.bytes_per_second;

  const PowerFigures& power = measured.power;
  device.active = power.active.value_or(kAssumedActive);
  device.idle = power.idle.value_or(Watts(0));
  const std::string assumed =
      "assumed: no active power given, and no sensor that shows the work, "
      "so that energies are computing times at 1 W";
  device.origins["/active_watts"] = power.active ? power.active_origin : assumed;
  device.origins["/idle_watts"] =
      power.idle ? power.idle_origin : "assumed: no idle power given, and none measured";

  for (const OpTime& time : measured.ops.times) {
    device.overrides.push_back(
        {time.kind, time.shape_class, time.median, device.active * time.median, time.workspace, time.spread});
  }
  const std::string where = measured.ops.in_context
                                ? fmt::format("inside {} training steps", measured.ops.repetitions)
                                : "each op alone, with cold caches";
  device.origins["/ram_bytes"] = fmt::format("measured: {}, as reported by the system", measured.date);
  device.origins["/alignment_bytes"] = "assumed: cache lines of 64 bytes";
  device.origins["/flops_per_second"] =
      fmt::format("measured: {}, of the network's convolutions and products together", measured.date);
  device.origins["/memory_bytes_per_second"] =
      fmt::format("measured: {}, of the network's other operators together", measured.date);
  device.origins["/overrides"] =
      fmt::format("measured: {}, medians, {}, {}, spread {:.1f}% in the median", measured.date, where,
                  measured.kernels, 100 * median_spread(measured.ops.times));
  add_variation(measured, device);
  if (measured.storage) {
    const Watts storage_power = power.storage.value_or(kAssumedStorageShare * device.active);
    add_storage(measured, storage_power, device);
    const std::string origin =
        power.storage ? power.storage_origin : "assumed: a twentieth of the active power";
    device.origins["/page_in/watts"] = origin;
    device.origins["/page_out/watts"] = origin;
  }
  return device;
}

}  // namespace poet::runtime
