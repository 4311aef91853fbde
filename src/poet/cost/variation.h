#pragma once

// How the times of one device vary from step to step.

namespace poet {

/// The quantile that factors are stated for, one of twenty: rare enough to be a bad case, and the some
/// hundred samples that a profile has of each kind of time are enough to see it.
inline constexpr double kHighQuantile = 0.95;

/// A larger factor is no variation but another device; with it what is drawn stays far from the ends of a
/// double's range.
inline constexpr double kMostVariation = 1000;

/// Each factor is the 95th percentile of times over their median, at least 1 (which is none) and at most
/// kMostVariation.
struct TimeVariation {
  double step = 1;      // of all that a step computes: what slows all of its ops alike
  double op = 1;        // of an op among the ops of its step
  double page_in = 1;   // of a transfer
  double page_out = 1;  // of a transfer

  friend bool operator==(const TimeVariation&, const TimeVariation&) = default;
};

}  // namespace poet
