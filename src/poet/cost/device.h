#pragma once

// A device profile: compute, power and storage of one board, every number with its origin.

#include <filesystem>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "poet/base/units.h"
#include "poet/cost/variation.h"

namespace poet {

/// One direction of the storage channel. A transfer of b bytes takes latency + b / bytes_per_second, with b
/// rounded up to whole blocks, and draws `power` above idle meanwhile.
struct StorageDirection {
  Seconds latency{};
  double bytes_per_second = 0;
  Watts power{};
};

struct Storage {
  Bytes capacity{};
  Bytes block{1};
  StorageDirection page_in;   // storage -> RAM
  StorageDirection page_out;  // RAM -> storage
  bool concurrent = true;     // DMA: transfers run beside compute
  Seconds wake_time{};
  Joules wake_energy{};
  std::optional<Bytes> write_endurance;
};

/// A measured cost that replaces the model's for one operator kind and shape class (see
/// docs/formats_device.md).
struct OpOverride {
  std::string kind;
  std::string shape_class;
  Seconds runtime{};
  Joules energy{};
  Bytes workspace{};  // scratch RAM while the op runs
  double spread = 0;  // of the measured runtime: median deviation from the median, relative to it
};

/// Runtime model of a kind of op, fitted to measurements: the sum of a time per op, per plane and row of the
/// first operand, per operation and per byte moved. Replaces the two rates of the profile unless an override
/// applies.
struct KindRates {
  std::string kind;
  /// Of convolutions those whose groups have one channel each (is_depthwise()), else the others.
  bool depthwise = false;
  Seconds per_op{};
  Seconds per_plane{};          // planes_and_rows()
  Seconds per_row{};            // the same
  double flops_per_second = 0;  // 0: operations cost nothing
  double bytes_per_second = 0;  // 0: bytes cost nothing
};

struct DeviceProfile {
  std::string name;
  std::string description;
  Bytes ram{};
  Bytes alignment{1};                  // of every address in RAM, a power of two
  double flops_per_second = 0;         // sustained on dense kernels (convolution, matrix product)
  double memory_bytes_per_second = 0;  // sustained, for operators that move more than they compute
  Watts active{};                      // above idle, while computing
  Watts idle{};
  std::optional<Storage> storage;  // absent: recomputation only
  std::vector<OpOverride> overrides;
  std::vector<KindRates> rates;
  std::optional<TimeVariation> variation;  // absent: not known
  // JSON pointer -> "measured|datasheet|published|assumed: where from"; it holds for everything below the
  // pointer. Figures without an origin are assumed.
  std::map<std::string, std::string> origins;
};

/// Reads and validates a profile. Throws InputError naming the file, the field (JSON pointer) and the rule.
[[nodiscard]] DeviceProfile read_device(const std::filesystem::path& file);
[[nodiscard]] DeviceProfile device_from_json(const nlohmann::ordered_json& json, const std::string& place);
[[nodiscard]] nlohmann::ordered_json to_json(const DeviceProfile& device);

/// Returns the profiles shipped in data/devices, sorted by name.
[[nodiscard]] std::vector<DeviceProfile> shipped_devices();

/// Returns a shipped profile by name, or reads a profile from a path (text that contains '/' or ends in
/// ".json"). Throws InputError listing the known names.
[[nodiscard]] DeviceProfile find_device(const std::string& name_or_path);

}  // namespace poet
