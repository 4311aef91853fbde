#pragma once

// The plan that firmware is made of: read, checked, chosen among several.

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

/// The plans of a file that the verifier accepts, from the largest RAM budget to the smallest; with `ram` the
/// largest within it alone. Throws InputError.
[[nodiscard]] std::vector<PlanFile> checked_plans(const std::string& name, std::optional<Bytes> ram);

/// The first that fits the board, and what it takes of it; its updates have these settings. Throws InputError
/// for settings that they cannot have, and with the reason why the last plan does not fit.
[[nodiscard]] PlanForBoard plan_for_board(std::vector<PlanFile> plans,
                                          const firmware::OptimizerSettings& optimizer,
                                          const firmware::Board& board,
                                          std::vector<firmware::Memory>& memory);

/// The one that the card's image was made for, with the settings that the image names. Throws InputError.
[[nodiscard]] PlanForBoard plan_of_card(std::vector<PlanFile> plans, const std::string& card);

}  // namespace poet::cli
