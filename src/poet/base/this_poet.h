#pragma once

#include <string>

namespace poet {

/// "poet 0.1.0": what files say made them. (poet/version.h is for users, and no component includes it.)
[[nodiscard]] std::string this_poet();

}  // namespace poet
