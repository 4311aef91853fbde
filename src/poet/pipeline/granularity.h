#pragma once

// A training graph in parts of several sizes, and how good each is for a RAM budget.

#include <initializer_list>
#include <optional>

#include "poet/cost/instance.h"
#include "poet/pipeline/parts.h"
#include "poet/plan/limits.h"

namespace poet {

/// With more ops a plan takes minutes to find.
inline constexpr double kManyOps = 200'000;

/// What a step takes, roughly.
struct Estimate {
  bool breaks_limits = false;  // on time or bytes written, as no plan is known that keeps them
  Joules energy{};

  friend bool operator<(const Estimate& a, const Estimate& b) {
    return a.breaks_limits != b.breaks_limits ? b.breaks_limits : a.energy < b.energy;
  }
};

/// A graph in parts, and what there is to know of it before it is solved.
struct Choice {
  InParts parts;
  Instance instance;
  Bytes floor{};
  std::optional<Estimate> estimate;  // where it was asked for, and a quick search has a plan
};

/// By the estimate, then by the floor.
[[nodiscard]] bool is_better(const Choice& a, const Choice& b);

class Granularity {
 public:
  /// Parts are not made finer once there are more than `many_ops`. Refers to its arguments.
  Granularity(const Graph& training, const Splitting& splitting, const Limits& limits,
              PersistentPolicy persistent, const DeviceProfile& device, double many_ops = kManyOps);

  [[nodiscard]] Choice whole() const;
  /// Nothing: the whole. Throws InputError naming the field for a size that split() refuses.
  [[nodiscard]] Choice of(std::optional<Bytes> part) const;

  /// The coarsest parts, or none, that fit easily, and coarser ones as long as they fit; of these the ones
  /// with which a quick search does best. Two sizes in a row with which it does no better are the last.
  /// Without any that fit, those with the lowest floor. O(split() and Splitting::energy, once per size).
  [[nodiscard]] Choice choose() const;

  /// Sets the estimate unless it is there: with every persistent value paged that may be, or with none,
  /// whichever is better.
  void estimate(Choice& of) const;
  /// The same, or better with as few persistent values paged as let every op fit into several sizes of RAM.
  void estimate_some_resident(Choice& of) const;
  /// Only with as few paged as that, in almost all of the RAM: what finer parts are about.
  void estimate_most_resident(Choice& of) const;

 private:
  [[nodiscard]] Choice choice(InParts parts) const;
  void consider(const Instance& instance, Choice& of) const;
  void consider_fits(Choice& of, std::initializer_list<int> quarters) const;
  [[nodiscard]] Bytes budget() const { return limits_.ram_budget; }
  /// Twice what the largest op needs is within the RAM beside what is persistent.
  [[nodiscard]] bool fits_easily(const Choice& of) const;
  [[nodiscard]] bool too_many(Bytes part) const;
  [[nodiscard]] Bytes finest() const;

  const Graph& training_;
  const Splitting& splitting_;
  const Limits limits_;
  const PersistentPolicy persistent_;
  const DeviceProfile& device_;
  const double many_ops_;
};

}  // namespace poet
