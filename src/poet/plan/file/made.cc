#include "poet/plan/file/made.h"

#include <nlohmann/json.hpp>

namespace poet {

using Json = nlohmann::ordered_json;

ByteUnits units_of(const std::optional<Made>& made, Bytes ram_budget) {
  if (!made || !made->binary_units) return units_of(ram_budget);
  return *made->binary_units ? ByteUnits::binary : ByteUnits::decimal;
}

Json to_json(const Made& made) {
  Json json = {{"by", made.by}};
  if (!made.command.empty()) json["command"] = made.command;
  json["status"] = made.status;
  if (made.bound) json["bound_joules"] = made.bound->value();
  json["paging"] = made.paging;
  json["rematerialization"] = made.rematerialization;
  if (made.binary_units) json["binary_units"] = *made.binary_units;
  return json;
}

Made read_made(const JsonField& json) {
  json.only({"by", "command", "status", "bound_joules", "paging", "rematerialization", "binary_units"});
  Made made;
  made.by = json.at("by").text();
  if (json.has("command")) made.command = json.at("command").text();
  made.status = json.at("status").text();
  if (made.status != "optimal" && made.status != "feasible")
    json.at("status").fail("must be optimal or feasible");
  if (json.has("bound_joules")) made.bound = Joules(json.at("bound_joules").non_negative());
  made.paging = json.at("paging").boolean();
  made.rematerialization = json.at("rematerialization").boolean();
  if (json.has("binary_units")) made.binary_units = json.at("binary_units").boolean();
  return made;
}

}  // namespace poet
