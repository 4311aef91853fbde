#pragma once

#include <cstdint>
#include <filesystem>

#include "poet/firmware/card.h"

namespace poet::firmware {

/// Parameters and optimiser state as a checkpoint of poet run's, which goes on from it. Throws InputError
/// where it cannot be written.
void write_checkpoint(const std::filesystem::path& file, const Graph& graph, std::int64_t batch_size,
                      const CardState& state);

}  // namespace poet::firmware
