#pragma once

// Plans to be judged or shown, from plan files and from schedule files.

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "poet/report/picture.h"

namespace poet {

struct LoadedPlan {
  Picture picture;
  std::size_t stages = 0;              // of a schedule file; 0: it is a plan file
  std::string name;                    // the file's, and of several plans the budget: "my.plan, 60 MB"
  std::optional<Report> stage_report;  // of a schedule file, from the replay of its stages
};

/// A plan file as it stands. A schedule file's plan is made as `poet solve` makes it: linear, its transfers
/// at good moments, every value at an address, which need not fit the budget; by the rules of `semantics`, if
/// given, instead of the file's. Throws InputError, also for a plan under other rules than its own.
/// Of a file of several plans all, from the largest RAM budget to the smallest; of any file with `ram` the
/// one plan that is the largest within it, and an error where there is none.
[[nodiscard]] std::vector<LoadedPlan> load_plans(const std::string& name,
                                                 std::optional<Semantics> semantics = {},
                                                 std::optional<Bytes> ram = {});

}  // namespace poet
