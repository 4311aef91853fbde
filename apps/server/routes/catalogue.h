#pragma once

// The catalogue of networks, devices and published methods.

#include <filesystem>
#include <string>

#include "apps/server/jobs/request.h"

namespace poet::server {

struct Catalogue {
  std::string models, devices,
      methods;       // JSON; the first two are the output of the program's commands of these names
  KnownNames names;  // without uploads
};

/// Reads the catalogue from the program, by way of a folder. Throws InputError if it cannot be started.
[[nodiscard]] Catalogue read_catalogue(const std::filesystem::path& program,
                                       const std::filesystem::path& folder);

}  // namespace poet::server
