#pragma once

// Files that others have named, in a folder that they must not leave.

#include <filesystem>
#include <string>

#include "poet/base/descriptor.h"

namespace poet {

/// Opens `name`, a path relative to `folder`, with the flags of open(2); O_CLOEXEC is added, and nothing is
/// created. The path cannot lead out of the folder: absolute paths and ".." are refused with EXDEV, and every
/// symbolic link on the way, to files and folders, with ELOOP, whatever it points to. This is decided while
/// the file is opened, so that a link put there meanwhile is not followed either. `folder` itself may be, or
/// have on its way, links: its user has named it. On failure the descriptor is not valid and errno says why.
[[nodiscard]] Descriptor open_beneath(const std::filesystem::path& folder, const std::filesystem::path& name,
                                      int flags);

/// Returns the rule that an errno of open_beneath() stands for: "is not in the folder", "is, or is behind, a
/// symbolic link", or the system's text.
[[nodiscard]] std::string rule_beneath(int error);

/// open_beneath() by openat() for each part of the path, for kernels before Linux 5.6 and for containers that
/// forbid openat2(). For tests.
[[nodiscard]] Descriptor open_beneath_in_steps(const std::filesystem::path& folder,
                                               const std::filesystem::path& name, int flags);

}  // namespace poet
