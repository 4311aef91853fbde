#pragma once

// The output of --loss-out.

#include <filesystem>

#include "apps/shared/training/session.h"

namespace poet::cli {

/// Writes the run's steps as a table (.csv), or its loss curve with validations as points (.svg, .png, .pdf,
/// .gp). Throws InputError if that fails.
void write_losses(const Session& session, const std::filesystem::path& file);

}  // namespace poet::cli
