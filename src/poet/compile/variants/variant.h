#pragma once

// What the request's problem may be turned into: forms of the instance, and variants of these, in which
// sources search. A plan of a variant is a plan of the request, if it keeps the request's limits.

#include <memory>
#include <vector>

#include "poet/compile/request.h"
#include "poet/cost/instance.h"
#include "poet/optimize/problem/residence.h"
#include "poet/optimize/regime.h"
#include "poet/optimize/transfer_bound.h"
#include "poet/plan/limits.h"

namespace poet {

/// A graph of the request's step, with its ops in some order.
struct Form {
  Instance instance;
  Regime regime = regime_of(0);  // of the instance's ops
  Cut cut;
  std::vector<OpId> order;        // of the graph's ops; empty: the given one, in which
  Bytes given_peak{};             // keeping everything takes so much
  Report keep_all;                // baseline energy and time, keep-all peak
  StepBound least_step;           // of every plan on the device, in the request's RAM; else zero
  PagedSet all;                   // what could be paged, if compile() chooses; else empty
  Bytes floor{};                  // of RAM, with all of that paged, if compile() chooses
  std::vector<PagedSet> choices;  // of these, to try first (residences.h)
  int number = 0;                 // in the order of their making, from 0
};

[[nodiscard]] inline double ops_of(const Form& form) {
  return static_cast<double>(form.instance.graph.ops.size());
}

/// What a variant's bound holds for, among plans of its form.
enum class Scope {
  nothing,     // the variant is stricter than the request, or one choice of paged values among many
  this_form,   // every plan: the request leaves no choice, or the variant relaxes all
  no_paging,   // plans that page no persistent value
  all_paging,  // plans that page some: every value paged, in the RAM of any choice
               // (most_saved_by_residents())
};

struct Variant {
  std::shared_ptr<const Form> form;
  PagedSet paged;  // at home on storage, if compile() chooses
  /// The form's instance with these, by which plans are judged; what is searched, the same but for costs that
  /// are higher and scratch memory that is held back.
  std::shared_ptr<const Instance> judged, searched;
  Limits limits;  // searched within
  Scope scope = Scope::nothing;
  Joules saved{};   // Scope::all_paging: what residence could save of the bound, at most
  Bytes reserve{};  // of RAM, held back for gaps between addresses
};

/// The form with `paged` on storage, within the request's limits.
[[nodiscard]] Variant variant_of(const CompileRequest& request, std::shared_ptr<const Form> form,
                                 PagedSet paged);

}  // namespace poet
