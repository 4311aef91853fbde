#include "bench/configurations.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <sstream>
#include <utility>

#include "poet/base/error.h"
#include "poet/optimize/solvers/solver.h"

namespace poet::bench {
namespace {

struct Switch {
  const char* name;
  bool Tightenings::*flag;
};

constexpr std::array kSwitches = {
    Switch{"provenance", &Tightenings::provenance},
    Switch{"use_it_or_lose_it", &Tightenings::use_it_or_lose_it},
    Switch{"rounding", &Tightenings::rounding},
    Switch{"interval_retention", &Tightenings::interval_retention},
    Switch{"reduced_cost_fixing", &Tightenings::reduced_cost_fixing},
    Switch{"windows", &Tightenings::windows},
};
static_assert(sizeof(Tightenings) == kSwitches.size() * sizeof(bool),
              "every tightening has a line in kSwitches");

constexpr std::array kSolvers = {std::pair{"cbc", Solver::cbc}, std::pair{"highs", Solver::highs},
                                 std::pair{"file", Solver::file}};

const char* name_of(Solver solver) {
  for (const auto& [name, known] : kSolvers)
    if (known == solver) return name;
  return "?";
}

Solver solver_named(const std::string& wanted) {
  for (const auto& [name, solver] : kSolvers) {
    if (name != wanted) continue;
    if (!has_solver(solver)) throw InputError("--solver", fmt::format("this build does not have {}", name));
    return solver;
  }
  throw InputError("--solver", fmt::format("\"{}\" is none of cbc, highs, file", wanted));
}

const Switch* find_switch(const std::string& name) {
  const auto found =
      std::find_if(kSwitches.begin(), kSwitches.end(), [&](const Switch& s) { return name == s.name; });
  return found == kSwitches.end() ? nullptr : &*found;
}

// The sets of switches to turn off; the empty set, everything on, comes first.
std::vector<std::vector<std::string>> switched_off(const std::vector<std::string>& without) {
  std::vector<std::vector<std::string>> off = {{}};
  for (const std::string& item : without) {
    if (item == "each") {
      for (const Switch& s : kSwitches) off.push_back({s.name});
      continue;
    }
    std::vector<std::string> names;
    std::istringstream parts(item);
    for (std::string name; std::getline(parts, name, '+');) {
      if (!find_switch(name))
        throw InputError("--without", fmt::format("\"{}\" is none of each, {}", name,
                                                  fmt::join(tightening_names(), ", ")));
      names.push_back(name);
    }
    off.push_back(names);
  }
  return off;
}

}  // namespace

std::string label(const Configuration& configuration) {
  std::string text =
      fmt::format("{} {}", configuration.formulation == Formulation::tight ? "tight" : "published",
                  name_of(configuration.solver));
  if (!configuration.without.empty())
    text += fmt::format(" without {}", fmt::join(configuration.without, ", "));
  return text;
}

std::vector<std::string> tightening_names() {
  std::vector<std::string> names;
  names.reserve(kSwitches.size());
  for (const Switch& s : kSwitches) names.emplace_back(s.name);
  return names;
}

std::vector<Configuration> configurations(const std::vector<std::string>& formulations,
                                          const std::vector<std::string>& solvers,
                                          const std::vector<std::string>& without) {
  std::vector<Configuration> all;
  const auto add = [&](const Configuration& one) {
    const bool known = std::any_of(all.begin(), all.end(),
                                   [&](const Configuration& other) { return label(other) == label(one); });
    if (!known) all.push_back(one);
  };
  for (const std::string& name : solvers) {
    const Solver solver = solver_named(name);
    for (const std::string& formulation : formulations) {
      if (formulation == "tight") {
        for (const auto& off : switched_off(without)) add({Formulation::tight, solver, off});
      } else if (formulation == "published") {
        add({Formulation::published, solver, {}});
      } else {
        throw InputError("--formulation", fmt::format("\"{}\" is none of tight, published", formulation));
      }
    }
  }
  return all;
}

bool applies(const Configuration& configuration, const Case& one) {
  return configuration.formulation == Formulation::tight || one.semantics == Semantics::published;
}

void configure(const Configuration& configuration, SolveOptions& options) {
  options.formulation = configuration.formulation;
  options.solver = configuration.solver;
  for (const std::string& name : configuration.without) options.tightenings.*find_switch(name)->flag = false;
}

}  // namespace poet::bench
