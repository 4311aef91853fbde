#pragma once

// README.md of a folder of firmware: for somebody who has the folder and nothing else.

#include <string>
#include <vector>

#include "poet/firmware/folder.h"
#include "poet/firmware/memory.h"
#include "poet/firmware/program.h"

namespace poet::firmware {

[[nodiscard]] std::string readme(const Program& program, const Board& board,
                                 const std::vector<Memory>& memory, const Description& description);

}  // namespace poet::firmware
