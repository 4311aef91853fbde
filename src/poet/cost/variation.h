#pragma once

// The variation of a device's times from step to step.

namespace poet {

/// The quantile that factors are stated for: rare enough to be a bad case, frequent enough to be estimated
/// from the hundred or so samples that a profile has of each kind of time.
inline constexpr double kHighQuantile = 0.95;

/// The largest factor that is accepted; keeps drawn times far from the ends of a double's range.
inline constexpr double kMostVariation = 1000;

/// Each factor is the 95th percentile of times over their median, from 1 (no variation) to kMostVariation.
struct TimeVariation {
  double step = 1;      // of a whole step's computations: common to all of its ops
  double op = 1;        // of an op among the ops of its step
  double page_in = 1;   // of a transfer
  double page_out = 1;  // of a transfer

  friend bool operator==(const TimeVariation&, const TimeVariation&) = default;
};

}  // namespace poet
