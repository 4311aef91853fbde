#pragma once

// How the learning rate changes from update to update: a factor on the optimiser's, told by the number of the
// update alone, so that a run that goes on needs nothing but that.

#include <cstdint>
#include <optional>
#include <string>

namespace poet::runtime {

struct LearningRateSchedule {
  enum class Kind {
    constant,
    step,    // times `gamma` after every `step_size` updates
    cosine,  // down to `least` along half a cosine over `length` updates, and then `least`
  };
  Kind kind = Kind::constant;
  std::int64_t warmup = 0;  // updates over which the rate rises to what the schedule begins with
  std::int64_t step_size = 0;
  double gamma = 0.1;
  std::int64_t length = 0;  // the warm-up not included
  double least = 0.0;       // part of the rate

  bool operator==(const LearningRateSchedule&) const = default;
};

/// As a user says it; absent where nothing is said.
struct ScheduleChoice {
  std::optional<std::string> kind{};  // constant, step, cosine
  std::optional<std::int64_t> warmup{}, step_size{}, length{};
  std::optional<double> gamma{}, least{};
};

/// Throws InputError naming the field (`lr_schedule`, `lr_warmup`, ...) that is out of range, is missing, or
/// is another kind's.
[[nodiscard]] LearningRateSchedule schedule_of(const ScheduleChoice& choice);

/// Of update `number`, from 1 on: number / warmup up to the warm-up's last one, which has the whole rate;
/// update warmup + 1 is the schedule's first, as PyTorch's StepLR and CosineAnnealingLR count from there.
[[nodiscard]] double rate_factor(const LearningRateSchedule& schedule, std::int64_t number);

/// Throws InputError naming the field that is out of range.
void check_schedule(const LearningRateSchedule& schedule);

/// "cosine least=0 length=900 warmup=100", "constant".
[[nodiscard]] std::string describe_schedule(const LearningRateSchedule& schedule);

}  // namespace poet::runtime
