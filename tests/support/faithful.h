#pragma once

// A plan carried out for real, and every bit that it produces.

#include <cstdint>
#include <string>
#include <vector>

#include "poet/plan/file/plan_file.h"
#include "poet/runtime/kernels/kernel.h"

namespace poet::test {

/// What some training steps left behind.
struct Bits {
  std::vector<float> losses;
  std::vector<std::uint64_t> outputs;     // per step and op: a hash of all its results
  std::vector<std::uint64_t> persistent;  // per persistent value, after the last step
  int recomputed = 0;
  int paged = 0;
  std::string differs;  // the first run of an op in a step that gave other bits than its first run there

  bool operator==(const Bits& other) const {
    return losses == other.losses && outputs == other.outputs && persistent == other.persistent;
  }
};

/// Trains `steps` steps on seeded weights and data. Pages go to a folder on disk.
[[nodiscard]] Bits carried_out(const PlanFile& file, const runtime::KernelOptions& kernels, int steps = 3);

/// The least RAM budget known for `instance`.
[[nodiscard]] Bytes least_known_ram(const Instance& instance);

/// The plan of `poet solve` for `instance`, whose RAM budget is `least`, of the function above, plus `part`
/// of what keeping everything takes above that.
[[nodiscard]] PlanFile plan_between(const Instance& instance, Bytes least, double part);
[[nodiscard]] PlanFile plan_between(const Instance& instance, double part);

}  // namespace poet::test
