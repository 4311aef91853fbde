#pragma once

// The header of a safetensors file: JSON that may come from anywhere, and the rules that it must keep.

#include <cstdint>
#include <map>
#include <string>

#include "poet/runtime/weights/safetensors.h"

namespace poet::runtime {

/// What the reference implementation accepts, so that parsing cannot be made to take any amount of memory.
inline constexpr std::int64_t kMostHeaderBytes = 100'000'000;

struct SafetensorsHeader {
  std::map<std::string, SafetensorsPlace> tensors;  // places count from the beginning of the data
  std::map<std::string, std::string> metadata;
};

/// Checks every rule, those on places against the `data` bytes that follow the header. Throws InputError
/// "FILE: ..." for the first that is violated.
[[nodiscard]] SafetensorsHeader parse_safetensors_header(const std::string& text, std::int64_t data,
                                                         const std::string& file);

/// The format's word for an element type.
[[nodiscard]] const char* safetensors_type(DType dtype);

/// A tensor's name, which may come from anywhere, as messages quote it: on one line, and not endless.
[[nodiscard]] std::string quoted_name(const std::string& name);

}  // namespace poet::runtime
