#include "poet/baselines/poet_schedules.h"

#include "poet/baselines/solved.h"

namespace poet {
namespace {

MethodAnswer ablation(const MethodRequest& request, bool paging, bool rematerialization,
                      bool choose_paged = false) {
  SolveOptions options = request.options;
  options.paging = paging;
  options.rematerialization = rematerialization;
  options.explain = false;
  return solved_plan(request, options, choose_paged);
}

}  // namespace

MethodAnswer poet_full(const MethodRequest& request) {
  return ablation(request, true, true, request.choose_paged);
}
MethodAnswer poet_without_paging(const MethodRequest& request) { return ablation(request, false, true); }
MethodAnswer poet_without_recomputation(const MethodRequest& request) {
  return ablation(request, true, false);
}

}  // namespace poet
