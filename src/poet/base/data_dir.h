#pragma once

// Where the files that come with poet are: `devices/*.json` and `published/*.json`.

#include <filesystem>
#include <optional>

namespace poet {

/// The data folder, an absolute path. The environment variable POET_DATA_DIR decides when it is set and not
/// empty; otherwise the first of these that exists: `data` beside the shared library that poet is in; for
/// what runs from the build folder, the source tree; `share/poet` of the tree that the executable or the
/// Python package is installed in; the install location that the build was configured with;
/// /usr/local/share/poet, /usr/share/poet. Throws InputError
/// when POET_DATA_DIR names no folder, or when there is none anywhere.
std::filesystem::path data_dir();

/// The data folder that came with this code, whatever POET_DATA_DIR says; nothing where there is none. For
/// files of a build or an installation, which a folder of one's own lacks.
std::optional<std::filesystem::path> own_data_dir();

/// Whether this code runs from the folder that it was built in. Only then may files of the build and of its
/// sources be used: on another machine anybody may own folders of these names.
bool runs_from_build();

/// The C that firmware is made of: the folder `firmware` in data_dir(), as after installation, or beside it,
/// as in the source tree. Throws as data_dir().
std::filesystem::path firmware_dir();

}  // namespace poet
