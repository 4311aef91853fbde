#pragma once

// The server's folder: networks, plans and names of clients, which other users of the machine have no
// business with. What the server and its jobs create there is private by the umask that poet serve sets.

#include <filesystem>

namespace poet::server {

/// Creates the folder with mode 0700 if it is missing, and returns its absolute path. In a folder that is
/// there, takes the group's and others' rights from what a server has made in it earlier; the folder's own
/// mode is its owner's choice. Throws InputError.
[[nodiscard]] std::filesystem::path private_data(const std::filesystem::path& folder);

}  // namespace poet::server
