#pragma once

// The file in which a person or a program says, while a run goes on, how much RAM it may have.
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
  std::int64_t step = 1;     // from this one on
  std::optional<Bytes> ram;  // nothing: all that the plans may have
};

/// What the file says as it stands; nothing where it is not there. Waits for nobody: throws InputError for
/// what is no regular file (a pipe, a device), for one of more than a mebibyte, and one that cannot be read.
[[nodiscard]] std::optional<std::string> control_text(const std::filesystem::path& file);

/// Nothing where the text says nothing, or is not there as a whole: a last line without its end. Throws
/// InputError with `place` and the line.
[[nodiscard]] std::optional<std::vector<ControlLine>> parse_control(const std::string& text,
                                                                    const std::string& place);

/// The line that counts for a step: of those that have begun the last one.
[[nodiscard]] std::optional<Bytes> ram_at(const std::vector<ControlLine>& lines, std::int64_t step);

}  // namespace poet::runtime
