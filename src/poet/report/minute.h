#pragma once

#include <ctime>
#include <string>

namespace poet {

/// Returns "2026-11-26 18:47 UTC". SOURCE_DATE_EPOCH (reproducible builds) replaces `seconds` if it is set.
[[nodiscard]] std::string minute_text(std::time_t seconds);

}  // namespace poet
