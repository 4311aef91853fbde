#pragma once

// The graphs that compute the same training step: operators whole or in parts, tables whole or by index.

#include <functional>
#include <optional>

#include "poet/base/units.h"
#include "poet/cost/instance.h"

namespace poet {

struct Cut {
  std::optional<Bytes> part;  // the largest size of values; absent: operators are whole
  bool by_index = false;      // tables of which a step needs few rows

  friend bool operator==(const Cut&, const Cut&) = default;
};

/// Makes these graphs, with their costs. Both functions throw InputError for a size that cannot be.
struct Cuts {
  /// Estimates the number of ops, quickly.
  std::function<double(const Cut&)> ops;
  /// `ram_budget` determines the order of an operator's parts. O(ops and values of the result, times the
  /// logarithm of their number). May be called by any thread, once at a time.
  std::function<Instance(const Cut&, Bytes ram_budget)> instance;
  Cut given;                 // of the instance that these are the others of
  bool other_parts = false;  // sizes of parts may be chosen
  Bytes largest{};           // value
  bool has_tables = false;   // that may be transferred by index
};

}  // namespace poet
