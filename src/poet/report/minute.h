#pragma once

#include <ctime>
#include <string>

namespace poet {

/// "2026-11-26 18:47 UTC". SOURCE_DATE_EPOCH, by which builds are made the same again, is every time where it
/// is set.
[[nodiscard]] std::string minute_text(std::time_t seconds);

}  // namespace poet
