#pragma once

// What requests choose from: networks, devices, published methods.

#include <filesystem>
#include <string>

#include "apps/server/jobs/request.h"

namespace poet::server {

struct Catalogue {
  std::string models, devices,
      methods;       // JSON; the first two as the program's commands of these names write it
  KnownNames names;  // without uploads
};

/// Asks the program, which answers into a folder. Throws InputError where that cannot be started.
[[nodiscard]] Catalogue read_catalogue(const std::filesystem::path& program,
                                       const std::filesystem::path& folder);

}  // namespace poet::server
