#pragma once

// Reading, checking and choosing the plan of a firmware.

#include <optional>
#include <string>
#include <vector>

#include "poet/base/units.h"
#include "poet/firmware/folder.h"
#include "poet/firmware/memory.h"
#include "poet/firmware/program.h"
#include "poet/plan/file/plan_file.h"

namespace poet::cli {

struct PlanForBoard {
  PlanFile file;
  firmware::Program program;
};

/// Reads and verifies the plans of a file, from the largest RAM budget to the smallest; with `ram` only the
/// largest within it. Throws InputError.
[[nodiscard]] std::vector<PlanFile> checked_plans(const std::string& name, std::optional<Bytes> ram);

/// Returns the first plan that fits the board, with its memory use, its updates with these settings. Throws
/// InputError for invalid settings, or with the reason why the last plan does not fit.
[[nodiscard]] PlanForBoard plan_for_board(std::vector<PlanFile> plans,
                                          const firmware::OptimizerSettings& optimizer,
                                          const firmware::Board& board,
                                          std::vector<firmware::Memory>& memory);

/// Returns the plan that the card image was made for, with the image's settings. Throws InputError.
[[nodiscard]] PlanForBoard plan_of_card(std::vector<PlanFile> plans, const std::string& card);

}  // namespace poet::cli
