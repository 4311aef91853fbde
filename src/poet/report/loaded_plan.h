#pragma once

// Loads plans to be verified or shown from plan files and schedule files.

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "poet/base/amounts.h"
#include "poet/report/picture.h"

namespace poet {

struct LoadedPlan {
  Picture picture;
  std::size_t stages = 0;  // of a schedule file; 0 for plan files
  ByteUnits units{};       // the same for all plans of a file
  std::string name;        // of the file, and the budget if it has several plans: "my.plan, 60 MB"
  std::optional<Report> stage_report;  // of a schedule file, from the replay of its stages
};

/// Loads all plans of a file, from the largest RAM budget to the smallest; with `ram` only the one with the
/// largest budget within it. Plan files are taken as they are. The plan of a schedule file is made as by
/// `poet solve`: linearised, with transfers scheduled and addresses assigned, which need not fit the budget;
/// with `semantics`, if given, instead of the file's. Throws InputError, also for a plan file of other
/// semantics and if no plan is within `ram`.
[[nodiscard]] std::vector<LoadedPlan> load_plans(const std::string& name,
                                                 std::optional<Semantics> semantics = {},
                                                 std::optional<Bytes> ram = {});

}  // namespace poet
