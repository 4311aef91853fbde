#pragma once

// Manual pages, in the language of man(7).

#include <string>

#include "apps/shared/description.h"

namespace poet::cli {

/// poet(1): what the program is and its commands.
[[nodiscard]] std::string program_manual(const CommandDescription& program, const std::string& version);
/// poet-COMMAND(1).
[[nodiscard]] std::string command_manual(const CommandDescription& program, const CommandDescription& command,
                                         const std::string& version);

}  // namespace poet::cli
