#pragma once

#include <string>

namespace poet {

/// Returns "poet 0.1.0", which files name as their origin. (poet/version.h is for users; no component
/// includes it.)
[[nodiscard]] std::string this_poet();

}  // namespace poet
