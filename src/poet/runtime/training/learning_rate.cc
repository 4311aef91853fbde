#include "poet/runtime/training/learning_rate.h"

#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "poet/base/error.h"

namespace poet::runtime {

using Kind = LearningRateSchedule::Kind;

double rate_factor(const LearningRateSchedule& schedule, std::int64_t number) {
  if (number <= schedule.warmup) return static_cast<double>(number) / static_cast<double>(schedule.warmup);
  const std::int64_t done = number - schedule.warmup - 1;
  switch (schedule.kind) {
    case Kind::constant:
      return 1.0;
    case Kind::step:
      return std::pow(schedule.gamma, static_cast<double>(done / schedule.step_size));
    case Kind::cosine: {
      if (done >= schedule.length) return schedule.least;
      const double part = static_cast<double>(done) / static_cast<double>(schedule.length);
      return schedule.least + (1.0 - schedule.least) * 0.5 * (1.0 + std::cos(std::numbers::pi * part));
    }
  }
  throw InternalError("a schedule is one of these");
}

LearningRateSchedule schedule_of(const ScheduleChoice& choice) {
  LearningRateSchedule schedule;
  const std::string kind = choice.kind.value_or("constant");
  if (kind == "step")
    schedule.kind = Kind::step;
  else if (kind == "cosine")
    schedule.kind = Kind::cosine;
  else if (kind != "constant")
    throw InputError(Field{"lr_schedule"}, fmt::format("\"{}\" is none of constant, step, cosine", kind));
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
  if (schedule.kind == Kind::step) {
    if (schedule.step_size < 1) throw InputError(Field{"lr_step_size"}, "must be at least 1 update");
    if (!(schedule.gamma > 0 && schedule.gamma <= 1))
      throw InputError(Field{"lr_gamma"}, "must be above 0 and at most 1");
  }
  if (schedule.kind == Kind::cosine) {
    if (schedule.length < 1) throw InputError(Field{"lr_length"}, "must be at least 1 update");
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
