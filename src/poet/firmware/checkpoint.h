#pragma once

#include <filesystem>

#include "poet/firmware/card.h"

namespace poet::firmware {

/// Parameters and optimiser state as a checkpoint of poet run's. Throws InputError where it cannot be
/// written.
void write_checkpoint(const std::filesystem::path& file, const Graph& graph, const CardState& state);

}  // namespace poet::firmware
