#pragma once

// Checks that the values changed by training are finite.

#include <cstddef>
#include <filesystem>
#include <optional>

#include "poet/runtime/executor/persistent.h"

namespace poet::runtime {

class FiniteValues {
 public:
  /// `graph` must outlive it. O(ops).
  explicit FiniteValues(const Graph& graph);

  /// Throws InputError where the persistent value `v` is one of them and what it is to begin with is not
  /// finite; `file`: where that is from. O(elements).
  void check(ValueId v, const std::byte* contents, const std::optional<std::filesystem::path>& file) const;

  /// Whether all of them are finite. O(elements).
  [[nodiscard]] bool hold(const PersistentValues& persistent) const;

 private:
  [[nodiscard]] bool is_one(ValueId v) const;

  const Graph& graph_;
  IdVector<ValueId, char> changed_;
};

}  // namespace poet::runtime
