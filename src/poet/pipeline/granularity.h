#pragma once

// A training graph in parts of several sizes, and how good each is for a RAM budget.

#include <optional>

#include "poet/cost/instance.h"
#include "poet/pipeline/parts.h"

namespace poet {

/// With more ops a plan takes minutes to find.
inline constexpr double kManyOps = 200'000;

/// A graph in parts, and what there is to know of it before it is solved.
struct Choice {
  InParts parts;
  Instance instance;
  Bytes floor{};
  std::optional<Joules> energy;  // where it was asked for, and a quick search has a plan
};

class Granularity {
 public:
  /// Parts are not made finer once there are more than `many_ops`. Refers to its arguments.
  Granularity(const Graph& training, const Splitting& splitting, Bytes ram_budget,
              PersistentPolicy persistent, const DeviceProfile& device, double many_ops = kManyOps);

  [[nodiscard]] Choice whole() const;
  /// Nothing: the whole. Throws InputError naming the field for a size that is not positive.
  [[nodiscard]] Choice of(std::optional<Bytes> part) const;

  /// The coarsest parts, or none, of which twice the floor is within the budget, and coarser ones as long as
  /// the floor is; of these the ones with which a quick search does best. Without any, the finest. O(split()
  /// and Splitting::energy, once per size).
  [[nodiscard]] Choice choose() const;

  [[nodiscard]] bool fits_easily(const Choice& of) const { return of.floor * 2 <= budget_; }
  /// Sets the energy, what a step takes roughly, unless it is there.
  void estimate(Choice& of) const;
  /// The least energy that way with the smallest persistent values resident, in several parts of the RAM that
  /// is left: those cost the most to move per byte.
  [[nodiscard]] std::optional<Joules> energy_some_resident(const Choice& of) const;

 private:
  [[nodiscard]] Choice choice(InParts parts) const;
  [[nodiscard]] bool too_many(Bytes part) const;
  [[nodiscard]] Bytes finest() const;

  const Graph& training_;
  const Splitting& splitting_;
  const Bytes budget_;
  const PersistentPolicy persistent_;
  const DeviceProfile& device_;
  const double many_ops_;
};

}  // namespace poet
