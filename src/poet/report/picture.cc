#include "poet/report/picture.h"

#include <limits>
#include <utility>

namespace poet {

Picture picture_of(PlanFile plan, std::string title) {
  Picture picture;
  picture.title = std::move(title);
  picture.plan = std::move(plan);
  const PlanFile& file = picture.plan;
  picture.report = replay(file.instance, file.plan, file.semantics, file.limits, &picture.trace);
  if (picture.report.valid) {
    picture.arena = replay_layout(file.instance, file.plan, file.layout, file.semantics, file.limits);
    return picture;
  }
  const Limits none{Bytes(std::numeric_limits<std::int64_t>::max()), std::nullopt, std::nullopt};
  Trace trace;
  Report whole = replay(file.instance, file.plan, file.semantics, none, &trace);
  if (whole.valid) {
    whole.valid = false;
    whole.broken = std::move(picture.report.broken);
    picture.report = std::move(whole);
    picture.trace = std::move(trace);
  }
  return picture;
}

}  // namespace poet
