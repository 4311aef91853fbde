#pragma once

// Compares sizes of operator parts for a RAM budget.

#include <optional>

#include "poet/cost/instance.h"
#include "poet/pipeline/parts.h"
#include "poet/plan/limits.h"

namespace poet {

/// Plans of larger graphs take minutes to find.
inline constexpr double kManyOps = 200'000;

/// Finer ones are not tried.
inline constexpr Bytes kLeastPart{64};

/// A rough estimate of a step.
struct Estimate {
  bool breaks_limits = false;  // no plan within the limits on time and bytes written is known
  Joules energy{};

  friend bool operator<(const Estimate& a, const Estimate& b) {
    return a.breaks_limits != b.breaks_limits ? b.breaks_limits : a.energy < b.energy;
  }
};

/// A split graph, and the figures that are known before it is solved.
struct Choice {
  InParts parts;
  Instance instance;
  Bytes floor{};
  std::optional<Estimate> estimate;  // if requested, and a quick search finds a plan
};

/// Compares by the estimate, then by the RAM floor.
[[nodiscard]] bool is_better(const Choice& a, const Choice& b);

class Granularity {
 public:
  /// Parts do not get finer beyond `many_ops` ops. Refers to its arguments.
  Granularity(const Graph& training, const Splitting& splitting, const Limits& limits,
              PersistentPolicy persistent, const DeviceProfile& device, double many_ops = kManyOps);

  [[nodiscard]] Choice whole() const;
  /// nullopt: not split. Throws InputError naming the field for a size that split() refuses.
  [[nodiscard]] Choice of(std::optional<Bytes> part) const;

  /// Chooses, by a quick search, among the coarsest parts (or none) that fit easily and coarser ones that
  /// still fit; ends after two sizes in a row without improvement. If none fits, returns the one with the
  /// lowest RAM floor. O(split() and Splitting::energy, once per size).
  [[nodiscard]] Choice choose() const;

  /// Sets the estimate unless it is set: with all pageable persistent values paged, or none, whichever is
  /// better.
  void estimate(Choice& of) const;
  /// Likewise; also with few persistent values paged (sets_to_fit()).
  void estimate_some_resident(Choice& of) const;
  /// Only with few paged: finer parts are meant to allow it.
  void estimate_most_resident(Choice& of) const;

 private:
  [[nodiscard]] Choice choice(InParts parts) const;
  void consider(const Instance& instance, Choice& of) const;
  [[nodiscard]] Bytes budget() const { return limits_.ram_budget; }
  /// Returns whether twice the largest op's RAM fits beside the persistent bytes.
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
