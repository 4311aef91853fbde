#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <optional>

#include "poet/base/units.h"

namespace poet {

/// The rules of RAM and time that apply (docs/formulation.md, section 1).
enum class Semantics {
  published,  // the paper's: a page-in costs energy, no time, and takes RAM from the next stage on
  staged,     // as published, but a transfer's bytes are in RAM during the whole stage
  device,     // staged RAM plus workspace and persistent bytes, and a timeline: one compute engine, one FIFO
              // channel
};

inline constexpr std::array kAllSemantics = {Semantics::published, Semantics::staged, Semantics::device};

struct Limits {
  Bytes ram_budget{};
  std::optional<Seconds> deadline;         // of the training step on the device
  std::optional<Bytes> max_bytes_written;  // wear: bytes paged out per step; see also write_limit()
};

/// Relative tolerance of deadlines, since sums of seconds are not exact.
inline constexpr double kDeadlineTolerance = 1e-9;

/// Returns the latest end of a step that counts as within `deadline`.
template <class Time>
[[nodiscard]] constexpr Time latest_end(Time deadline) {
  return (1 + kDeadlineTolerance) * deadline;
}

[[nodiscard]] inline Limits no_limits() {
  return {Bytes(std::numeric_limits<std::int64_t>::max()), std::nullopt, std::nullopt};
}

[[nodiscard]] const char* to_string(Semantics semantics);

}  // namespace poet
