#pragma once

// What --loss-out writes.

#include <filesystem>

#include "apps/shared/training/session.h"

namespace poet::cli {

/// The run step by step as a table (.csv), or its losses as a curve with those of the validations as points
/// (.svg, .png, .pdf, .gp). Throws InputError where the file cannot be written.
void write_losses(const Session& session, const std::filesystem::path& file);

}  // namespace poet::cli
