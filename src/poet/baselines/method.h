#pragma once

// What every method of this folder takes and gives. One file per method; methods() lists them.
//
// A method proposes plans, it does not judge them: which of its plans hold the limits, and what they cost, is
// the verifier's to say (study/run_method.h). So a paper's "try these parameters and keep the best" is a list
// of plans here.

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "poet/cost/instance.h"
#include "poet/optimize/outcome.h"
#include "poet/plan/allowance.h"
#include "poet/plan/limits.h"
#include "poet/plan/plan.h"

namespace poet {

struct MethodRequest {
  const Instance& instance;  // verified
  Limits limits;
  Semantics semantics = Semantics::device;
  /// For methods that solve programs: gap, time limit, threads, solver. For all: progress and interruption,
  /// both polled where a method takes long.
  SolveOptions options;
  /// On a device: persistent values may live on storage. Methods that cannot do that keep them in RAM.
  bool choose_paged = false;
};

struct MethodAnswer {
  std::vector<Plan> plans;      // canonical; most promising first where that is known
  std::vector<ValueId> paged;   // they are plans of with_paged(instance, paged)
  std::string reason;           // without plans: why; part of a sentence, "no ... fits"
  bool treats_graph = true;     // false: the method is not defined for this graph or these rules
  std::string note;             // what was made of the graph: "on a chain of 8 blocks"; or empty
  std::optional<Joules> bound;  // of methods that prove one: no plan of their kind needs less energy
};

/// Of a method that is not defined for the graph or the rules.
[[nodiscard]] inline MethodAnswer not_defined(std::string reason) {
  MethodAnswer answer;
  answer.treats_graph = false;
  answer.reason = std::move(reason);
  return answer;
}

struct Method {
  std::string_view name;    // as in files and on the command line: "chen-sqrt"
  std::string_view title;   // as in tables and pictures: "Chen sqrt(n)"
  std::string_view source;  // authors, year, where
  bool recomputes = false;
  bool pages = false;
  MethodAnswer (*run)(const MethodRequest& request) = nullptr;
  bool pages_persistent = false;  // obeys MethodRequest::choose_paged
};

/// All methods, POET last, in the order in which tables show them.
[[nodiscard]] std::span<const Method> methods();

/// By name. Throws InputError that lists the known names.
[[nodiscard]] const Method& find_method(std::string_view name);

/// Bytes that the budget leaves for what a schedule decides about: the budget less what is persistent.
[[nodiscard]] inline Bytes transient_budget(const MethodRequest& request) {
  return transient_budget(request.instance.costs, request.limits);
}

}  // namespace poet
