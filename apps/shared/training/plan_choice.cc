#include "apps/shared/training/plan_choice.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>
#include <utility>

#include "apps/shared/live_line.h"
#include "apps/shared/terminal.h"
#include "poet/base/amounts.h"
#include "poet/runtime/sensors/process_memory.h"

namespace poet::cli {
namespace {

/// On a line of its own.
void say(const std::string& text) {
  if (is_live(stderr)) remove_line(stderr);
  std::fputs(message_text("poet: " + text, stderr).c_str(), stderr);
  std::fflush(stderr);
}

std::string describe(const runtime::PlanChange& change, const std::vector<Bytes>& budgets) {
  if (!change.declined.empty())
    return fmt::format("step {}: keeps the plan for {} ({}): {}", format_count(change.step),
                       format_bytes(budgets[change.from]), change.reason, change.declined);
  return fmt::format("step {}: switches to the plan for {} ({}), which took {}", format_count(change.step),
                     format_bytes(budgets[change.to]), change.reason, format_seconds(change.took, 2));
}

/// What is in RAM by this plan of the family.
Bytes memory_of(const PlanFamily& plans, const FamilyPlan& plan) {
  Bytes resident = plans.instance.costs.persistent;
  for (const ValueId v : plan.paged) resident -= plans.instance.costs.values[v].bytes;
  return plan.layout.arena + resident;
}

Seconds seconds_now() {
  return Seconds(std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count());
}

}  // namespace

PlanChoice::PlanChoice(const PlanFamily& plans, const RunChoice& training, bool quiet) : quiet_(quiet) {
  std::vector<Bytes> memory;
  for (const FamilyPlan& plan : plans.plans) {
    budgets_.push_back(plan.limits.ram_budget);
    memory.push_back(memory_of(plans, plan));
  }
  if (budgets_.size() < 2) return;
  runtime::PlanWatchHooks hooks;
  hooks.now = seconds_now;
  hooks.outside = [this] { return std::max(Bytes(0), runtime::process_memory().resident - inside_); };
  hooks.signals = PlanSignals::take;
  hooks.notice = [this](const std::string& notice) {
    if (!quiet_) say(notice);
  };
  watch_.emplace(budgets_, std::move(memory), training.watch, std::move(hooks));
}

std::optional<std::size_t> PlanChoice::first(std::int64_t step) {
  if (!watch_) return std::nullopt;
  first_ = watch_->choose(step, 0);
  return first_ ? first_->plan : 0;
}

void PlanChoice::add_to(runtime::TrainOptions& options, const runtime::Trainer& trainer) {
  if (!watch_) return;
  // A run that is resumed has its plan already.
  const runtime::TrainerSetup& setup = trainer.setup();
  if (first_ && !quiet_ && !setup.goes_on && setup.plan == first_->plan)
    say(fmt::format("step {}: starts with the plan for {} ({})", format_count(trainer.state().step + 1),
                    format_bytes(budgets_[setup.plan]), first_->reason));
  options.choose_plan = [this, &trainer](std::int64_t step, std::size_t plan) {
    inside_ = trainer.setup().map.arena + trainer.setup().map.persistent;
    return watch_->choose(step, plan);
  };
  options.on_plan = [this](const runtime::PlanChange& change) {
    if (!change.declined.empty()) watch_->declined();
    if (!quiet_) say(describe(change, budgets_));
  };
}

}  // namespace poet::cli
