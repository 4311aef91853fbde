// Several plans in one binary file: the graph and its costs once, then an image of each plan, as a file of
// that plan alone would have it.

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "poet/base/error.h"
#include "poet/cost/instance_json.h"
#include "poet/cost/instance_parts.h"
#include "poet/plan/decoder/poet_plan.h"
#include "poet/plan/file/bytes_out.h"
#include "poet/plan/file/family_rules.h"
#include "poet/plan/file/limits_json.h"
#include "poet/plan/file/plan_family.h"
#include "poet/plan/file/plan_image.h"

namespace poet {

using Json = nlohmann::ordered_json;

namespace {

constexpr std::size_t kLengthBytes = 4;  // before each image

Octets limits_of(const FamilyPlan& plan, Semantics semantics) {
  Json json = Json::object();
  write_limits(json, semantics, plan.limits);
  json.erase("semantics");  // of all plans
  json["paged"] = ids_json(plan.paged);
  return to_cbor(json);
}

/// The images one after another, each behind its length.
std::vector<Octets> images_in(const Octets& payload, const std::string& place) {
  std::vector<Octets> images;
  for (std::size_t at = 0; at < payload.size();) {
    std::size_t length = 0;
    const std::size_t left = payload.size() - at;
    for (std::size_t i = 0; i < kLengthBytes && i < left; ++i)
      length |= std::size_t{payload[at + i]} << 8 * i;
    if (left < kLengthBytes || length > left - kLengthBytes)
      throw InputError(place, "PLANS: a plan reaches beyond its end");
    const auto begin = payload.begin() + static_cast<std::ptrdiff_t>(at + kLengthBytes);
    images.emplace_back(begin, begin + static_cast<std::ptrdiff_t>(length));
    at += kLengthBytes + length;
  }
  if (images.size() < 2) throw InputError(place, "PLANS: holds fewer than two plans");
  if (images.size() > kMostPlans)
    throw InputError(
        place, fmt::format("PLANS: holds {} plans; at most {} go into one file", images.size(), kMostPlans));
  return images;
}

}  // namespace

Octets to_binary(const PlanFamily& family) {
  if (family.plans.size() == 1) return to_binary(plan_of(family, 0));
  InstanceParts parts = split_instance(to_json(family.instance));
  parts.costs["semantics"] = to_string(family.semantics);
  Octets graph = to_cbor(parts.graph);
  const std::uint32_t of_graph = checksum(graph);
  BytesOut plans;
  for (std::size_t i = 0; i < family.plans.size(); ++i) {
    std::vector<Section> more = {{POET_PLAN_LIMITS, limits_of(family.plans[i], family.semantics)}};
    if (family.plans[i].made) more.push_back({POET_PLAN_MADE, to_cbor(to_json(*family.plans[i].made))});
    const Octets image = plan_image(plan_of(family, i), of_graph, more);
    plans.number(image.size(), kLengthBytes);
    plans.append(image);
  }
  return image_of({{POET_PLAN_GRAPH, std::move(graph)},
                   {POET_PLAN_COSTS, to_cbor(parts.costs)},
                   {POET_PLAN_PLANS, std::move(plans.bytes)}},
                  POET_PLAN_FAMILY);
}

PlanFamily plans_from_binary(const Octets& bytes, const std::string& place) {
  if (version_of(bytes) != POET_PLAN_FAMILY) {
    std::vector<PlanFile> one;
    one.push_back(plan_from_binary(bytes, place));
    return family_of(std::move(one), place);
  }
  const Octets graph = section_of(bytes, POET_PLAN_GRAPH, "GRAPH", place);
  const Octets costs = section_of(bytes, POET_PLAN_COSTS, "COSTS", place);
  const std::vector<Octets> images = images_in(section_of(bytes, POET_PLAN_PLANS, "PLANS", place), place);
  const InstanceParts parts{from_cbor(graph, "GRAPH", place), from_cbor(costs, "COSTS", place)};
  PlanFamily family;
  family.instance = instance_from_json(merge_instance(parts, place), place);
  family.semantics = read_semantics(JsonField(parts.costs, place + ": COSTS"));
  check_none_paged(family.instance, place + ": GRAPH");

  // Limits first: what is paged has to be known to be right before it is used.
  for (std::size_t i = 0; i < images.size(); ++i) {
    const std::string here = fmt::format("{}: plan {}", place, i + 1);
    const Json json = from_cbor(section_of(images[i], POET_PLAN_LIMITS, "LIMITS", here), "LIMITS", here);
    const JsonField limits(json, here + ": LIMITS");
    family.plans.push_back({read_paged(limits, family.instance.graph), read_limits(limits), {}, {}});
    family.plans.back().made = made_of_image(images[i], here);
  }
  check_family(family, place);
  PlanFile file;
  file.semantics = family.semantics;
  file.instance = family.instance;
  for (std::size_t i = 0; i < images.size(); ++i) {
    file.instance = with_paged(std::move(file.instance), family.plans[i].paged);
    read_plan_image(images[i], checksum(graph), fmt::format("{}: plan {}", place, i + 1), file);
    family.plans[i].plan = std::move(file.plan);
    family.plans[i].layout = std::move(file.layout);
  }
  return family;
}

}  // namespace poet
