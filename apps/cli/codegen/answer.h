#pragma once

// The report of poet codegen.

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "poet/firmware/folder.h"
#include "poet/firmware/memory.h"
#include "poet/firmware/program.h"
#include "poet/runtime/data/dataset.h"

namespace poet::cli {

[[nodiscard]] std::string answer_text(const firmware::Memory& memory, const firmware::Board& board,
                                      const firmware::Program& program, const runtime::Dataset& data,
                                      const std::filesystem::path& card);
[[nodiscard]] nlohmann::ordered_json answer_json(const firmware::Memory& memory, const firmware::Board& board,
                                                 const firmware::Program& program,
                                                 const runtime::Dataset& data,
                                                 const std::filesystem::path& card);

}  // namespace poet::cli
