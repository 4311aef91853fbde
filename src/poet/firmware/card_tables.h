#pragma once

// Tables by index on a card, as firmware/engine/poet_tables.c has them.

#include <cstddef>
#include <filesystem>
#include <vector>

#include "poet/firmware/card.h"
#include "poet/firmware/card_image.h"
#include "poet/firmware/program.h"

namespace poet::firmware {

void write_table(Image& image, const TableHome& table, const std::vector<std::byte>& bytes);

/// All rows after state.step into its contents: what that step's journal has goes before what is in the
/// table, which a power cut may have left half copied. Throws InputError naming the tensor where a row is
/// damaged, or of a later step.
void read_tables(const std::filesystem::path& file, Image& image, const Graph& graph, const Program& program,
                 CardState& state);

}  // namespace poet::firmware
