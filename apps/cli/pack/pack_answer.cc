#include "apps/cli/pack/pack_answer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>

#include "apps/shared/answer_line.h"
#include "poet/base/amounts.h"

namespace poet::cli {
namespace {

constexpr double kFarOrigin = 100;  // lengths of the time axis

using Json = nlohmann::ordered_json;

std::string bytes_text(std::int64_t bytes) { return fmt::format("{} bytes", format_count(bytes)); }

/// What is proven is so for the offsets that the table fixes: "" if there are none.
std::string fixed_text(std::int64_t fixed) {
  if (fixed == 0) return "";
  return fixed == 1 ? " with this fixed offset" : fmt::format(" with these {} fixed offsets", fixed);
}

std::string status_text(const PackProblem& problem, const PackSolution& solution) {
  const bool limited = problem.capacity || !problem.banks.empty();
  const std::string where = problem.banks.empty() ? "the capacity" : "the banks";
  const auto fixed = std::count_if(problem.buffers.begin(), problem.buffers.end(),
                                   [](const RequestedBuffer& buffer) { return buffer.offset.has_value(); });
  const bool all_fixed = fixed > 0 && fixed == std::ssize(problem.buffers);
  if (all_fixed && is_packed(solution.verdict))
    return "checked: no two overlap" + (limited ? ", all are within " + where : "");
  switch (solution.verdict) {
    case PackVerdict::optimal:
      return "optimal: no arena is smaller" + fixed_text(fixed);
    case PackVerdict::feasible:
      return limited ? "feasible: within " + where : "feasible: the smallest arena found";
    case PackVerdict::infeasible:
      return "infeasible: proven, no packing is within " + where + fixed_text(fixed);
    case PackVerdict::unknown:
      return "unknown: no packing within " + where + " was found, none is ruled out";
  }
  return "";
}

}  // namespace

std::string pack_text(const PackProblem& problem, const PackSolution& solution, double seconds) {
  std::string text = status_line(status_text(problem, solution));
  if (problem.banks.empty()) {
    if (!is_packed(solution.verdict) && solution.least_height < kAnywhere)
      text +=
          answer_line("Found", fmt::format("an arena of {}, above the capacity of {}",
                                           bytes_text(solution.least_height), bytes_text(*problem.capacity)));
    if (is_packed(solution.verdict))
      text += answer_line("Arena", bytes_text(solution.least_height) +
                                       (problem.capacity ? " of " + bytes_text(*problem.capacity) : ""));
    text += answer_line("Lower bound", bytes_text(solution.lower_bound));
  }
  for (std::size_t b = 0; b < solution.heights.size() && b < problem.banks.size(); ++b)
    text +=
        answer_line("Bank", fmt::format("{}: {} of {}", problem.banks[b].name,
                                        bytes_text(solution.heights[b]), bytes_text(problem.banks[b].bytes)));
  const auto buffers = static_cast<std::int64_t>(problem.buffers.size());
  return text +
         answer_line("Search", fmt::format("{} buffers, {} nodes in {}", format_count(buffers),
                                           format_count(solution.nodes), format_seconds(Seconds(seconds))));
}

Json pack_json(const PackProblem& problem, const PackSolution& solution, double seconds) {
  Json json = {{"format", 1}, {"status", to_string(solution.verdict)}};
  if (problem.banks.empty()) {
    json["height_bytes"] = solution.least_height < kAnywhere ? Json(solution.least_height) : Json();
    json["lower_bound_bytes"] = solution.lower_bound;
    json["capacity_bytes"] = problem.capacity ? Json(*problem.capacity) : Json();
  } else {
    json["banks"] = Json::array();
    for (std::size_t b = 0; b < problem.banks.size(); ++b)
      json["banks"].push_back(
          {{"name", problem.banks[b].name},
           {"capacity_bytes", problem.banks[b].bytes},
           {"height_bytes", solution.heights.empty() ? Json() : Json(solution.heights[b])}});
  }
  json["buffers"] = Json::array();
  for (std::size_t b = 0; b < solution.buffers.size(); ++b) {
    Json buffer = {{"id", problem.buffers[b].id}, {"offset", solution.buffers[b].offset}};
    if (!problem.banks.empty()) buffer["bank"] = problem.banks[solution.buffers[b].bank].name;
    json["buffers"].push_back(std::move(buffer));
  }
  json["nodes"] = solution.nodes;
  json["seconds"] = seconds;
  return json;
}

MemoryMap pack_map(const PackProblem& problem, const PackSolution& solution) {
  MemoryMap map;
  std::int64_t begin = std::numeric_limits<std::int64_t>::max(),
               end = std::numeric_limits<std::int64_t>::min();
  for (const RequestedBuffer& buffer : problem.buffers) {
    begin = std::min(begin, buffer.lower);
    end = std::max(end, buffer.upper);
  }
  if (problem.buffers.empty()) {
    begin = 0;
    end = 1;
  }
  map.title = fmt::format("{} buffers", format_count(static_cast<std::int64_t>(problem.buffers.size())));
  map.length = static_cast<double>(end) - static_cast<double>(begin);
  // Times as the table has them, unless that takes more digits than a figure's numbers have.
  const bool is_far = std::abs(static_cast<double>(begin)) > kFarOrigin * map.length;
  const std::int64_t origin = is_far ? begin : 0;
  if (is_far) map.title += fmt::format(", times from {}", format_count(begin));
  map.begin = static_cast<double>(begin - origin);
  for (const Bank& bank : problem.banks)
    map.panels.push_back({bank.name, static_cast<double>(bank.bytes), {}});
  if (problem.banks.empty()) {
    map.panels.push_back({"arena", std::nullopt, {}});
    if (problem.capacity) map.panels.front().capacity = static_cast<double>(*problem.capacity);
  }
  for (std::size_t b = 0; b < problem.buffers.size(); ++b) {
    const RequestedBuffer& buffer = problem.buffers[b];
    if (buffer.bytes == 0) continue;
    const auto [offset, bank] = solution.buffers[b];
    for (const Lifetime& life :
         periods_of({.lower = buffer.lower, .upper = buffer.upper, .gaps = buffer.gaps}))
      map.panels[bank].boxes.push_back({static_cast<double>(life.lower - origin),
                                        static_cast<double>(life.upper - origin), static_cast<double>(offset),
                                        static_cast<double>(offset + buffer.bytes)});
  }
  return map;
}

}  // namespace poet::cli
