#pragma once

// The file by which users or programs set the RAM of a running training.
//
//   # since step 1
//   60MB
//   30MB from step 200
//   all from step 1000

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "poet/base/units.h"

namespace poet::runtime {

struct ControlLine {
  std::int64_t step = 1;     // the first step of its validity
  std::optional<Bytes> ram;  // absent: the largest plan
};

/// Returns the content of the file, or nullopt if it does not exist. Never blocks: throws InputError for a
/// pipe or device, a file of more than a mebibyte, and one that cannot be read.
[[nodiscard]] std::optional<std::string> control_text(const std::filesystem::path& file);

/// Returns nullopt if the text is empty or incomplete: its last line has no newline. Throws InputError with
/// `place` and the line.
[[nodiscard]] std::optional<std::vector<ControlLine>> parse_control(const std::string& text,
                                                                    const std::string& place);

/// Returns the RAM of the last line that is valid at a step.
[[nodiscard]] std::optional<Bytes> ram_at(const std::vector<ControlLine>& lines, std::int64_t step);

}  // namespace poet::runtime
