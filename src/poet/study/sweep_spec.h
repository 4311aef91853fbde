#pragma once

// The specification of a sweep, read from a file (docs/formats_sweep.md): lists whose product is the
// points.

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "poet/cost/json_reader.h"
#include "poet/study/sweep_point.h"

namespace poet {

/// A network of a spec with its own sizes; empty: those of the spec.
struct SweepSubject {
  SweepNetwork network;
  std::vector<std::int64_t> batch_sizes, sequence_lengths;
  std::string place;  // in the spec: "sweep.json: /networks/2"
};

struct SweepTarget {
  SweepPlatform platform;
  std::string place;
};

struct SweepSpec {
  std::vector<SweepSubject> networks;
  std::vector<SweepTarget> platforms;
  std::optional<Semantics> semantics;  // absent: device; for instance files the one that they state
  std::vector<std::int64_t> batch_sizes, sequence_lengths;  // empty: the network's own
  std::optional<std::string> persistent, optimizer, split;
  std::optional<std::int64_t> accumulate;  // these four: absent: the default
  std::optional<double> clip_norm, label_smoothing;
  std::optional<std::string> precision;
  std::vector<RamBudget> ram;
  std::vector<StepDeadline> deadlines;
  std::optional<Bytes> max_bytes_written;
  std::vector<std::string> methods;
  double gap = 0.01;
  double time_limit_seconds = 120;
  Solver solver = Solver::cbc;
};

/// Reads and checks a specification. Files that it names are relative to its folder and must be readable; the
/// caller must check names of networks and platforms. Throws InputError with the file, the place in it (JSON
/// pointer) and the rule.
[[nodiscard]] SweepSpec read_sweep_spec(const std::filesystem::path& file);

/// The same for JSON text, called `name` in messages; files that it names are relative to `folder`.
[[nodiscard]] SweepSpec sweep_spec_of(const std::string& text, const std::string& name,
                                      const std::filesystem::path& folder);

/// Returns the name of the list of devices in a specification: "devices" where it is called so, else
/// "platforms". Throws InputError if there are both.
[[nodiscard]] const char* devices_field(const JsonField& spec);

/// Returns every point once, with those of one instance consecutive: in order of networks, platforms, batch
/// sizes, sequence lengths, RAM, deadlines and methods; instance files have neither platform nor sizes.
/// Deterministic.
[[nodiscard]] std::vector<SweepPoint> expand(const SweepSpec& spec);

}  // namespace poet
