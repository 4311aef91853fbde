#include "poet/cost/variation_json.h"

#include <fmt/format.h>

#include <array>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

namespace poet {
namespace {

constexpr std::array<std::pair<std::string_view, double TimeVariation::*>, 4> kFactors = {
    {{"step", &TimeVariation::step},
     {"op", &TimeVariation::op},
     {"page_in", &TimeVariation::page_in},
     {"page_out", &TimeVariation::page_out}}};

}  // namespace

TimeVariation read_variation(const JsonField& json) {
  json.only({"step", "op", "page_in", "page_out"});
  TimeVariation variation;
  for (const auto& [name, factor] : kFactors) {
    if (!json.has(name)) continue;
    const double found = json.at(name).number();
    if (!(found >= 1)) json.at(name).fail("must be >= 1: no quantile above the median is below it");
    if (!(found <= kMostVariation)) json.at(name).fail(fmt::format("must be <= {:g}", kMostVariation));
    variation.*factor = found;
  }
  return variation;
}

nlohmann::ordered_json to_json(const TimeVariation& variation) {
  nlohmann::ordered_json json = nlohmann::ordered_json::object();
  for (const auto& [name, factor] : kFactors) json[std::string(name)] = variation.*factor;
  return json;
}

}  // namespace poet
