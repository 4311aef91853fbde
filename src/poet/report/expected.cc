#include "poet/report/expected.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "poet/base/amounts.h"

namespace poet {
namespace {

using Json = nlohmann::ordered_json;

std::string spread_text(const TimeSpread& spread) {
  return fmt::format("median {}, mean {}, 95% of steps within {}", format_seconds(spread.median),
                     format_seconds(spread.mean), format_seconds(spread.high));
}

Json spread_json(const TimeSpread& spread) {
  return {{"median", spread.median.value()}, {"mean", spread.mean.value()}, {"p95", spread.high.value()}};
}

}  // namespace

std::string expected_text(const SimulatedSteps& expected, std::optional<Seconds> deadline) {
  std::string text = spread_text(expected.runtime);
  if (expected.stalled.high > Seconds(0)) text += "; waiting for storage: " + spread_text(expected.stalled);
  if (deadline)
    text += fmt::format("; {} of steps by the deadline", format_percent(expected.share_within(*deadline)));
  return text;
}

Json expected_json(const SimulatedSteps& expected, std::optional<Seconds> deadline) {
  return {{"steps", expected.runtimes.size()},
          {"runtime_seconds", spread_json(expected.runtime)},
          {"stalled_seconds", spread_json(expected.stalled)},
          {"on_time", deadline ? Json(expected.share_within(*deadline)) : Json(nullptr)}};
}

}  // namespace poet
