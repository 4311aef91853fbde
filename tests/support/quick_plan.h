#pragma once

#include <utility>
#include <vector>

#include "poet/compile.h"
#include "poet/plan/allowance.h"
#include "poet/plan/file/plan_file.h"

namespace poet::test {

/// A plan found within a second, not the best: `paged` is at home on storage, the RAM is their floor and
/// `more`.
inline PlanFile quick_plan(const Instance& instance, const std::vector<ValueId>& paged, Bytes more) {
  CompileRequest request;
  request.instance = with_paged(instance, paged);
  request.limits.ram_budget = ram_floor(request.instance, Semantics::device).bytes() + more;
  request.options.time_limit_seconds = 1;
  request.options.gap = 0.5;
  request.options.explain = false;
  CompileResult result = compile(request);
  return {request.instance, Semantics::device, request.limits, std::move(result.plan),
          std::move(result.layout)};
}

}  // namespace poet::test
