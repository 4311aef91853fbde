#pragma once

// Builds the model of the tight formulation.

#include <set>

#include "poet/optimize/milp/columns.h"
#include "poet/optimize/milp/model.h"
#include "poet/optimize/milp/rows/rows.h"
#include "poet/optimize/milp/variables.h"

namespace poet {

struct TightModel {
  Model model;  // objective: (energy - baseline) * scale, or the RAM budget in bytes / ram_unit
  Variables vars;
  double scale = 1;
  double ram_unit = 1;
};

enum class Objective { energy, ram };

struct TightOptions {
  Tightenings tightenings;
  rows::TransferTiming timing = rows::TransferTiming::relaxed;
  Objective objective = Objective::energy;
  std::set<int> exact_stages;  // stages whose RAM is modelled at every computation
};

[[nodiscard]] TightModel build_tight(const Problem& problem, const Columns& columns,
                                     const TightOptions& options);

}  // namespace poet
