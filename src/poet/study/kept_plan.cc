#include "poet/study/kept_plan.h"

#include <cstdint>
#include <nlohmann/json.hpp>
#include <vector>

#include "poet/base/amounts.h"
#include "poet/base/error.h"
#include "poet/base/this_poet.h"
#include "poet/cost/json_reader.h"
#include "poet/optimize/certificate.h"

namespace poet {
namespace {

constexpr std::int64_t kEffortOfAMoment = 50'000'000;

/// What the method may do, and what it proved: of every plan where it is POET itself, else of its own kind.
Made made_by(const Method& method, const MethodRequest& request, const Judged& judged) {
  Made made;
  made.by = this_poet();
  made.status =
      to_string(judged.gap && *judged.gap <= request.options.gap ? Status::optimal : Status::feasible);
  if (method.name == "poet") made.bound = judged.bound;
  made.paging = method.pages;
  made.rematerialization = method.recomputes;
  made.binary_units = byte_units() == ByteUnits::binary;
  return made;
}

}  // namespace

PlanFile placed_plan(const Method& method, const MethodRequest& request, const Judged& judged) {
  PlanFile file;
  const Instance& graph = judged.instance ? *judged.instance : request.instance;
  file.instance = judged.paged.empty() ? graph : with_paged(graph, judged.paged);
  file.semantics = request.semantics;
  file.limits = request.limits;
  file.plan = judged.plan;
  file.made = made_by(method, request, judged);
  const Bytes peak = judged.report.peak_ram - file.instance.costs.persistent;
  file.layout = place(file.instance, file.plan, file.semantics, {.enough = peak, .effort = kEffortOfAMoment});
  return file;
}

std::string plan_text(const PlanFile& plan) {
  try {
    const std::vector<std::uint8_t> bytes = to_binary(plan);
    return {bytes.begin(), bytes.end()};
  } catch (const InternalError&) {
    return json_text(to_json(plan));
  }
}

}  // namespace poet
