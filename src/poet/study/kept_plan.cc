#include "poet/study/kept_plan.h"

#include <cstdint>
#include <nlohmann/json.hpp>
#include <vector>

#include "poet/base/error.h"
#include "poet/cost/json_reader.h"

namespace poet {
namespace {

constexpr std::int64_t kEffortOfAMoment = 50'000'000;

}  // namespace

PlanFile placed_plan(const MethodRequest& request, const Judged& judged) {
  PlanFile file;
  file.instance = judged.paged.empty() ? request.instance : with_paged(request.instance, judged.paged);
  file.semantics = request.semantics;
  file.limits = request.limits;
  file.plan = judged.plan;
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
