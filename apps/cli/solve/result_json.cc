#include "apps/cli/solve/result_json.h"

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "apps/cli/solve/suggestions.h"
#include "apps/shared/option_names.h"
#include "poet/answer/answer_json.h"

namespace poet::cli {

nlohmann::ordered_json result_json(const Solved& solved) {
  nlohmann::ordered_json json = to_json(static_cast<const Answer&>(solved));
  if (const std::string& next = solved.result.outcome.next_step; !next.empty())
    json["next_step"] = with_option_names(next);
  if (const std::string& external = solved.result.outcome.external_solver; !external.empty())
    json["external_solver"] = with_option_names(external);
  const bool answered = has_plan(solved);
  json["explanation"]["reason"] = nullptr;
  if (!answered) json["explanation"]["reason"] = why_not(solved);
  json["explanation"]["way_out"] = answered ? std::vector<std::string>{} : suggestion_texts(solved);
  return json;
}

}  // namespace poet::cli
