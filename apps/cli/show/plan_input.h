#pragma once

// Plans to be judged or shown, from plan files and from schedule files.

#include <cstddef>
#include <optional>
#include <string>

#include "poet/report/picture.h"

namespace poet::cli {

struct LoadedPlan {
  Picture picture;
  std::size_t stages = 0;              // of a schedule file; 0: it is a plan file
  std::optional<Report> stage_report;  // of a schedule file, from the replay of its stages
};

/// A plan file as it stands. A schedule file's plan is made as `poet solve` makes it: linear, its transfers
/// at good moments, every value at an address, which need not fit the budget; by the rules of `semantics`, if
/// given, instead of the file's. Throws InputError, also for a plan under other rules than its own.
[[nodiscard]] LoadedPlan load_plan(const std::string& name, std::optional<Semantics> semantics = {});

}  // namespace poet::cli
