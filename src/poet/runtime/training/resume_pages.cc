#include "poet/runtime/training/resume_pages.h"

#include <fmt/format.h>

#include <algorithm>

#include "poet/base/error.h"
#include "poet/runtime/training/learning_rate.h"
#include "poet/runtime/training/plan_digest.h"

namespace poet::runtime {

RunState state_of(const StepRecord& record) {
  RunState state;
  state.step = record.step;
  state.seed = record.seed;
  state.loss = record.loss;
  state.circumstances = record.circumstances;
  return state;
}

void check_same_network(const StepRecord& left, const Graph& training, const std::filesystem::path& file) {
  if (left.network != network_digest(training))
    throw InputError(file.string(),
                     "holds a run of another network, or of one in other parts or another order");
}

std::size_t same_plan(const StepRecord& left, const std::vector<std::uint64_t>& plans,
                      const std::filesystem::path& file) {
  const auto found = std::find(plans.begin(), plans.end(), left.plan);
  if (found == plans.end())
    throw InputError(file.string(), "holds a run by another plan: going on takes the same plan file");
  return static_cast<std::size_t>(found - plans.begin());
}

void check_same_circumstances(const StepRecord& left, const std::map<std::string, std::string>& now,
                              const std::filesystem::path& file) {
  for (const auto& [name, value] : now) {
    const auto found = left.circumstances.find(name);
    // Runs from before there were schedules had none but this one.
    const std::string other = name == "schedule" ? describe_schedule({}) : "none";
    const std::string& before = found == left.circumstances.end() ? other : found->second;
    if (before != value)
      throw InputError(file.string(),
                       fmt::format("holds a run that differs in its {}: {}, not {}", name, before, value));
  }
}

}  // namespace poet::runtime
