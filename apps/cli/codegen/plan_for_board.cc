#include "apps/cli/codegen/plan_for_board.h"

#include <fmt/format.h>

#include <utility>

#include "poet/base/amounts.h"
#include "poet/base/error.h"
#include "poet/firmware/card.h"
#include "poet/plan/file/plan_family.h"
#include "poet/verify/replay.h"
#include "poet/verify/replay_layout.h"

namespace poet::cli {
namespace {

void check(const PlanFile& file, const std::string& name) {
  const Report report = replay(file.instance, file.plan, file.semantics, file.limits);
  if (!report.valid) throw InputError(name, "is invalid: " + report.violation);
  const auto arena = replay_layout(file.instance, file.plan, file.layout, file.semantics, file.limits);
  if (!arena.valid) throw InputError(name, "its addresses are invalid: " + arena.violation);
}

}  // namespace

std::vector<PlanFile> checked_plans(const std::string& name, std::optional<Bytes> ram) {
  const PlanFamily family = read_plans(name);
  std::vector<PlanFile> plans;
  if (ram) {
    const std::optional<std::size_t> within = plan_within(family, *ram);
    if (!within)
      throw InputError("--ram-budget", fmt::format("{} has no plan within {}, but for {}", name,
                                                   format_ram(*ram), budgets_text(family)));
    plans.push_back(plan_of(family, *within));
  } else {
    for (std::size_t i = 0; i < family.plans.size(); ++i) plans.push_back(plan_of(family, i));
  }
  for (const PlanFile& plan : plans) check(plan, name);
  return plans;
}

PlanForBoard plan_for_board(std::vector<PlanFile> plans, const firmware::OptimizerSettings& optimizer,
                            const firmware::Board& board, std::vector<firmware::Memory>& memory) {
  for (std::size_t i = 0;; ++i) {
    runtime::set_hyperparameters(plans[i].instance.graph, optimizer.hyperparameters);
    firmware::Program program = firmware::program_of(plans[i], optimizer.schedule);
    memory = firmware::memory_of(program, board);
    try {
      firmware::check_fits(memory.front(), board);
    } catch (const InputError&) {
      if (i + 1 < plans.size()) continue;
      throw;
    }
    return {std::move(plans[i]), std::move(program)};
  }
}

PlanForBoard plan_of_card(std::vector<PlanFile> plans, const std::string& card) {
  const firmware::OptimizerSettings optimizer = firmware::optimizer_of_card(card);
  for (PlanFile& plan : plans) {
    try {
      runtime::set_hyperparameters(plan.instance.graph, optimizer.hyperparameters);
    } catch (const InputError&) {  // its optimiser is another one
      throw InputError(card, "is the image for another plan");
    }
  }
  for (std::size_t i = 0;; ++i) {
    firmware::Program program = firmware::program_of(plans[i], optimizer.schedule);
    if (i + 1 == plans.size() || firmware::is_card_of(card, program))
      return {std::move(plans[i]), std::move(program)};
  }
}

}  // namespace poet::cli
