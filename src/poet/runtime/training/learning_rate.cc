#include "poet/runtime/training/learning_rate.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "poet/base/error.h"
#include "poet/base/nearest.h"
#include "poet/runtime/training/schedule_in_c.h"

namespace poet::runtime {

using Kind = LearningRateSchedule::Kind;

namespace {

constexpr std::int64_t kMostUpdates = std::numeric_limits<std::uint32_t>::max();  // that boards count

void check_updates(const char* field, std::int64_t updates) {
  if (updates < 1) throw InputError(Field{field}, "must be at least 1 update");
  if (updates > kMostUpdates)
    throw InputError(Field{field}, fmt::format("must be at most {} updates", kMostUpdates));
}

}  // namespace

poet_schedule schedule_in_c(const LearningRateSchedule& schedule) {
  poet_schedule c{};
  c.warmup = static_cast<std::uint32_t>(schedule.warmup);
  switch (schedule.kind) {
    case Kind::constant:
      c.kind = POET_RATE_CONSTANT;
      break;
    case Kind::step:
      c.kind = POET_RATE_STEP;
      c.length = static_cast<std::uint32_t>(schedule.step_size);
      c.number = schedule.gamma;
      break;
    case Kind::cosine:
      c.kind = POET_RATE_COSINE;
      c.length = static_cast<std::uint32_t>(schedule.length);
      c.number = schedule.least;
      break;
  }
  return c;
}

LearningRateSchedule schedule_from_c(const poet_schedule& c) {
  LearningRateSchedule schedule;
  schedule.warmup = c.warmup;
  if (c.kind == POET_RATE_STEP) {
    schedule.kind = Kind::step;
    schedule.step_size = c.length;
    schedule.gamma = c.number;
  } else if (c.kind == POET_RATE_COSINE) {
    schedule.kind = Kind::cosine;
    schedule.length = c.length;
    schedule.least = c.number;
  }
  return schedule;
}

double rate_factor(const LearningRateSchedule& schedule, std::int64_t number) {
  const poet_schedule c = schedule_in_c(schedule);
  return poet_rate_factor(&c, static_cast<std::uint32_t>(std::min(number, kMostUpdates)));
}

LearningRateSchedule schedule_of(const ScheduleChoice& choice) {
  LearningRateSchedule schedule;
  static const std::vector<std::string> names = {"constant", "step", "cosine"};
  constexpr std::array kKinds = {Kind::constant, Kind::step, Kind::cosine};
  if (choice.kind) {
    const std::optional<std::size_t> at = place_in(*choice.kind, names);
    if (!at) throw InputError(Field{"lr_schedule"}, not_one_of(*choice.kind, names));
    schedule.kind = kKinds[*at];
  }
  const auto belongs = [&](const char* field, bool given, Kind to, const char* name) {
    if (given && schedule.kind != to)
      throw InputError(Field{field}, fmt::format("is for `lr_schedule` {}", name));
  };
  belongs("lr_step_size", choice.step_size.has_value(), Kind::step, "step");
  belongs("lr_gamma", choice.gamma.has_value(), Kind::step, "step");
  belongs("lr_length", choice.length.has_value(), Kind::cosine, "cosine");
  belongs("lr_least", choice.least.has_value(), Kind::cosine, "cosine");
  if (schedule.kind == Kind::step && !choice.step_size)
    throw InputError(Field{"lr_schedule"}, "step needs `lr_step_size`");
  if (schedule.kind == Kind::cosine && !choice.length)
    throw InputError(Field{"lr_schedule"}, "cosine needs `lr_length`");
  schedule.warmup = choice.warmup.value_or(schedule.warmup);
  schedule.step_size = choice.step_size.value_or(schedule.step_size);
  schedule.length = choice.length.value_or(schedule.length);
  schedule.gamma = choice.gamma.value_or(schedule.gamma);
  schedule.least = choice.least.value_or(schedule.least);
  check_schedule(schedule);
  return schedule;
}

void check_schedule(const LearningRateSchedule& schedule) {
  if (schedule.warmup < 0) throw InputError(Field{"lr_warmup"}, "must be at least 0");
  if (schedule.warmup > 0) check_updates("lr_warmup", schedule.warmup);
  if (schedule.kind == Kind::step) {
    check_updates("lr_step_size", schedule.step_size);
    if (!(schedule.gamma > 0 && schedule.gamma <= 1))
      throw InputError(Field{"lr_gamma"}, "must be above 0 and at most 1");
  }
  if (schedule.kind == Kind::cosine) {
    check_updates("lr_length", schedule.length);
    if (!(schedule.least >= 0 && schedule.least <= 1))
      throw InputError(Field{"lr_least"}, "must be from 0 to 1, a part of the learning rate");
  }
}

std::string describe_schedule(const LearningRateSchedule& schedule) {
  std::string text = "constant";
  if (schedule.kind == Kind::step)
    text = fmt::format("step gamma={} step_size={}", schedule.gamma, schedule.step_size);
  if (schedule.kind == Kind::cosine)
    text = fmt::format("cosine least={} length={}", schedule.least, schedule.length);
  if (schedule.warmup == 0) return text;
  return fmt::format("{} warmup={}", text, schedule.warmup);
}

}  // namespace poet::runtime
