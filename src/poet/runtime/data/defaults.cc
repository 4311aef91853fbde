#include "poet/runtime/data/defaults.h"

#include <fmt/format.h>

#include <cstdint>
#include <cstring>

#include "poet/base/error.h"

namespace poet::runtime {
namespace {

std::int64_t length(const DataInput& input) { return input.sample.empty() ? 1 : input.sample.back(); }

template <class T>
void write(std::byte* to, std::int64_t i, T number) {
  std::memcpy(to + i * static_cast<std::int64_t>(sizeof(T)), &number, sizeof(T));
}

}  // namespace

bool has_default(const DataInput& input) {
  return input.role == InputRole::positions || input.role == InputRole::token_types ||
         input.role == InputRole::mask;
}

void check_default(const DataInput& input) {
  const bool fits = input.range == 0 || length(input) <= input.range;
  if (input.role != InputRole::positions || fits) return;
  throw InputError(
      fmt::format("input '{}'", input.name),
      fmt::format("has {} positions, but the table of positions has {} rows", length(input), input.range));
}

void write_default(const DataInput& input, std::byte* to) {
  const std::int64_t count = element_count(input.sample);
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t number = input.role == InputRole::positions     ? i % length(input)
                                : input.role == InputRole::token_types ? 0
                                                                       : 1;
    switch (input.dtype) {
      case DType::float32:
        write(to, i, static_cast<float>(number));
        break;
      case DType::uint8:
        write(to, i, static_cast<std::uint8_t>(number));
        break;
      case DType::int64:
        write(to, i, number);
        break;
      case DType::int32:
        write(to, i, static_cast<std::int32_t>(number));
        break;
      case DType::bfloat16:
        throw InternalError("an input is bfloat16");
    }
  }
}

}  // namespace poet::runtime
