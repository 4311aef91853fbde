#include "poet/report/picture.h"

#include <utility>

namespace poet {

Picture picture_of(PlanFile plan, std::string title) {
  Picture picture;
  picture.title = std::move(title);
  picture.plan = std::move(plan);
  const PlanFile& file = picture.plan;
  picture.keep_all = replay_keep_all(file.instance, file.semantics, &picture.keep_all_trace);
  picture.report = replay(file.instance, file.plan, file.semantics, file.limits, &picture.trace);
  if (picture.report.valid) {
    picture.arena = replay_layout(file.instance, file.plan, file.layout, file.semantics, file.limits);
    return picture;
  }
  Trace trace;
  Report whole = replay(file.instance, file.plan, file.semantics, no_limits(), &trace);
  if (whole.valid) {
    whole.valid = false;
    whole.violation = std::move(picture.report.violation);
    picture.report = std::move(whole);
    picture.trace = std::move(trace);
  }
  return picture;
}

}  // namespace poet
