#pragma once

// How it is solved: formulation, solver, tightenings.

#include <string>
#include <vector>

#include "bench/cases.h"
#include "poet/optimize/outcome.h"

namespace poet::bench {

struct Configuration {
  Formulation formulation = Formulation::tight;
  Solver solver = Solver::cbc;
  std::vector<std::string> without;  // tightenings that are off
};

/// "tight cbc", "tight cbc without provenance".
[[nodiscard]] std::string label(const Configuration& configuration);

/// The names of the tightenings, as in poet::Tightenings.
[[nodiscard]] std::vector<std::string> tightening_names();

/// Every formulation with every solver; the tight one also with tightenings off: each item of `without` is a
/// configuration of its own, "a+b" switches two off, "each" stands for every tightening alone. What is asked
/// for twice comes once. Throws InputError naming the option and the known names, or the solver that this
/// build does not have.
[[nodiscard]] std::vector<Configuration> configurations(const std::vector<std::string>& formulations,
                                                        const std::vector<std::string>& solvers,
                                                        const std::vector<std::string>& without);

/// The published formulation knows the published semantics only.
[[nodiscard]] bool applies(const Configuration& configuration, const Case& one);

/// Sets formulation, solver and tightenings; not SolveOptions::file.
void configure(const Configuration& configuration, SolveOptions& options);

}  // namespace poet::bench
