#pragma once

// Where the files that come with poet are: `devices/*.json` and `published/*.json`.

#include <filesystem>
#include <optional>

namespace poet {

/// Returns the data folder, an absolute path: POET_DATA_DIR if that environment variable is set and not
/// empty, else the first of these that exists: `data` beside the shared library that poet is in; the source
/// tree, for programs that run from the build folder; `share/poet` of the tree that the executable or the
/// Python package is installed in; the install location that the build was configured with;
/// /usr/local/share/poet, /usr/share/poet. Throws InputError if POET_DATA_DIR names no folder, or if none of
/// them exists.
std::filesystem::path data_dir();

/// Returns the data folder of this build or installation, ignoring POET_DATA_DIR, or nullopt if there is
/// none. For files that a user's data folder lacks.
std::optional<std::filesystem::path> own_data_dir();

/// Returns whether this code runs from the folder that it was built in. Only then are the build and source
/// folders trusted: on another machine anyone may own folders of these names.
bool runs_from_build();

/// Returns the folder of the firmware's C sources: `firmware` in data_dir() (installed) or beside it (source
/// tree). Throws as data_dir().
std::filesystem::path firmware_dir();

}  // namespace poet
