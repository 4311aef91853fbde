#pragma once

// The interface of all methods. One file per method; methods() lists them.
//
// A method proposes plans; the verifier decides which are feasible and what they cost (study/run_method.h).
// So a paper's "try these parameters and keep the best" is a list of plans here.

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "poet/cost/cuts.h"
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
  /// Gap, time limit, threads and solver of methods that solve programs; progress and interruption of all,
  /// polled by long-running methods.
  SolveOptions options;
  /// On a device: persistent values may be at home on storage. Methods that do not support that keep them in
  /// RAM.
  bool choose_paged = false;
  /// Other graphs of the same step, for methods that choose one; may be null. The others take `instance`.
  const Cuts* cuts = nullptr;
};

struct MethodAnswer {
  std::vector<Plan> plans;  // canonical; most promising first if known
  /// Another graph than the request's instance, of which the plans are.
  std::shared_ptr<const Instance> instance = nullptr;
  Cut cut = {};                 // of that graph
  std::vector<ValueId> paged;   // the plans are for with_paged(instance, paged)
  std::string reason;           // why there is no plan; part of a sentence, "no ... fits"
  bool treats_graph = true;     // false: the method is not defined for this graph or these semantics
  std::string note;             // remark on the graph: "on a chain of 8 blocks"; may be empty
  std::optional<Joules> bound;  // proven lower bound on the energy of plans of this kind, if any
};

/// Returns the answer of a method that is not defined for the graph or the semantics.
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
  bool pages_persistent = false;  // supports MethodRequest::choose_paged
};

/// Returns all methods, POET last, in the order of tables.
[[nodiscard]] std::span<const Method> methods();

/// Returns a method by name. Throws InputError with the known names.
[[nodiscard]] const Method& find_method(std::string_view name);

/// Returns the bytes that the budget leaves for transient values: the budget less persistent bytes.
[[nodiscard]] inline Bytes transient_budget(const MethodRequest& request) {
  return transient_budget(request.instance.costs, request.limits);
}

}  // namespace poet
