#include "poet/runtime/data/numbers.h"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>

namespace poet::runtime {
namespace {

float number_at(std::span<const std::byte> numbers, std::size_t at) {
  float number = 0;
  std::memcpy(&number, numbers.data() + at, sizeof(number));
  return number;
}

}  // namespace

std::string broken_rule(const DataInput& targets, std::int64_t sample, std::span<const std::byte> numbers) {
  for (std::size_t at = 0; at < numbers.size(); at += sizeof(float)) {
    const float number = number_at(numbers, at);
    if (!targets.is_probability) {
      if (std::isfinite(number)) continue;
      return fmt::format("has {} at sample {}; the network takes finite numbers as '{}'", number, sample,
                         targets.name);
    }
    if (std::fpclassify(number) == FP_SUBNORMAL)
      return fmt::format("has the int32 {} at sample {}; the network takes 0 to 1 as '{}', as float32",
                         std::bit_cast<std::int32_t>(number), sample, targets.name);
    if (!(number >= 0 && number <= 1))
      return fmt::format("has {} at sample {}; the network takes 0 to 1 as '{}'", number, sample,
                         targets.name);
  }
  return "";
}

std::string first_not_finite(std::span<const std::byte> numbers) {
  for (std::size_t at = 0; at < numbers.size(); at += sizeof(float))
    if (const float number = number_at(numbers, at); !std::isfinite(number)) return fmt::format("{}", number);
  return "";
}

}  // namespace poet::runtime
