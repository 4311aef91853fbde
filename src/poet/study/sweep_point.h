#pragma once

// One point of a sweep: a method on an instance under limits, as specified by the user. Its key is JSON text
// with everything that determines its result, by which a results store identifies it.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "poet/base/units.h"
#include "poet/optimize/solvers/solver_choice.h"
#include "poet/pipeline/spec.h"
#include "poet/plan/limits.h"

namespace poet {

/// A file that a spec names, with the fingerprint of its content when the spec was read.
struct SweepFile {
  std::filesystem::path path;  // absolute; not part of the key, because folders move
  std::string fingerprint;     // of its bytes, part of the key
};

/// Returns the file with its fingerprint, 64-bit FNV-1a in hexadecimal: detects changes, not attacks. Throws
/// InputError.
[[nodiscard]] SweepFile fingerprinted(const std::filesystem::path& path);

enum class NetworkOrigin { name, onnx, instance };

struct SweepNetwork {
  NetworkOrigin origin = NetworkOrigin::name;
  std::string name;                       // a built-in or published network, or the file as the spec names it
  std::optional<SweepFile> file;          // of onnx and instance
  std::vector<std::string> input_shapes;  // of onnx: "NAME=1x3x224x224", by name
  std::vector<std::string> input_values;  // of onnx: "NAME=16000", by name
  std::optional<std::string> loss;        // of onnx
  std::optional<double> huber_delta;      // of onnx
  std::optional<std::string> loss_output;  // of onnx
  bool allow_opaque = false;               // of onnx
  std::optional<std::string> trainable;
};

struct SweepPlatform {
  std::string name;  // or the file as the spec names it
  std::optional<SweepFile> file;
};

struct SweepPoint {
  SweepNetwork network;
  std::optional<SweepPlatform> platform;  // absent for instance files
  std::optional<Semantics> semantics;     // absent: what fits the instance file
  std::optional<std::int64_t> batch_size;
  std::optional<std::int64_t> sequence_length;
  std::optional<std::string> persistent, optimizer;
  std::optional<std::int64_t> accumulate;  // absent: 1, no bound and 0, as in NetworkSpec
  std::optional<double> clip_norm, label_smoothing;
  std::optional<std::string> precision;
  std::optional<std::string> split;  // "auto" or bytes; absent: off
  RamBudget ram;
  StepDeadline deadline;
  std::optional<Bytes> max_bytes_written;
  std::string method;
  double gap = 0.01;
  double time_limit_seconds = 120;
  Solver solver = Solver::cbc;
};

/// Returns canonical JSON text on one line: equal points have equal keys.
[[nodiscard]] std::string key_of(const SweepPoint& point);

/// Returns the part of the key that identifies the instance: points with equal instance keys share it, except
/// with `split` "auto", whose parts depend on the RAM.
[[nodiscard]] std::string instance_key_of(const SweepPoint& point);

/// Serialise a point to one line of text and back. Throws InternalError for other text.
[[nodiscard]] std::string to_text(const SweepPoint& point);
[[nodiscard]] SweepPoint point_from_text(const std::string& text);

/// For display: "0.5", "1%", "307200 B"; "1.3", "0.05 s", "".
[[nodiscard]] std::string describe(const RamBudget& ram);
[[nodiscard]] std::string describe(const StepDeadline& deadline);

[[nodiscard]] const char* to_string(NetworkOrigin origin);
[[nodiscard]] const char* to_string(Solver solver);

}  // namespace poet
