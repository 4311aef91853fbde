// The binary form: sections, each with its checksum. The device's decoder reads them here as well, so that
// there is one reader of the format.

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "poet/base/error.h"
#include "poet/cost/instance_json.h"
#include "poet/cost/instance_parts.h"
#include "poet/plan/canonical.h"
#include "poet/plan/decoder/poet_plan.h"
#include "poet/plan/file/bytes_out.h"
#include "poet/plan/file/events.h"
#include "poet/plan/file/limits_json.h"
#include "poet/plan/file/plan_file.h"
#include "poet/plan/file/plan_image.h"
#include "poet/plan/layout/addresses.h"
#include "poet/plan/machine.h"

namespace poet {
namespace {

bool has_paged(const Graph& graph) {
  return std::any_of(graph.values.begin(), graph.values.end(), [](const Value& v) { return v.paged; });
}

// Where transfers take no time of their own, whoever carries the plan out completes each at once.
std::uint32_t flags_of(const Instance& instance, Semantics semantics) {
  return (has_waits(instance, semantics) ? 0 : POET_PLAN_BLOCKING) |
         (has_paged(instance.graph) ? POET_PLAN_PAGED : 0);
}

Octets schedule_payload(const PlanFile& file, std::uint32_t graph_checksum) {
  const Graph& graph = file.instance.graph;
  BytesOut out;
  out.number(flags_of(file.instance, file.semantics), 1);
  out.varint(graph.ops.size());
  out.varint(graph.values.size());
  out.number(graph_checksum, 4);
  out.append(events_of(file.plan, graph.values.size()));
  return out.bytes;
}

Octets write(const PlanFile& file, bool for_device) {
  InstanceParts parts = split_instance(to_json(file.instance));
  write_limits(parts.costs, file.semantics, file.limits);
  Octets graph = to_cbor(parts.graph);
  const std::uint32_t of_graph = checksum(graph);
  std::vector<Section> more;
  if (!for_device) {
    more.push_back({POET_PLAN_GRAPH, std::move(graph)});
    more.push_back({POET_PLAN_COSTS, to_cbor(parts.costs)});
    if (file.made) more.push_back({POET_PLAN_MADE, to_cbor(to_json(*file.made))});
  }
  return plan_image(file, of_graph, more);
}

}  // namespace

Octets plan_image(const PlanFile& file, std::uint32_t graph_checksum, const std::vector<Section>& more) {
  ensure(file.plan.steps == with_frees(file.instance, file.plan, file.semantics).steps,
         "a plan in binary form frees its values as early as possible");
  const Bytes alignment = file.instance.costs.alignment;
  std::vector<Section> sections = {{POET_PLAN_SCHEDULE, schedule_payload(file, graph_checksum)},
                                   {POET_PLAN_ADDRESSES, addresses_of(file.layout, alignment)}};
  sections.insert(sections.end(), more.begin(), more.end());
  // Files without paged values stay readable to older programs.
  Octets image = image_of(sections, has_paged(file.instance.graph) ? POET_PLAN_VERSION : 1);

  poet_plan opened;
  ensure(poet_plan_open(&opened, image.data(), image.size()) == POET_PLAN_OK, "a written plan can be read");
  const Plan plan = with_frees(file.instance, steps_of(opened), file.semantics);
  ensure(plan.steps == file.plan.steps, "a plan in binary form comes back as it was");
  std::vector<Allocation> allocations = allocations_of(file.instance, plan, file.semantics);
  ensure(allocations.size() == file.layout.allocations.size(), "a layout has the allocations of its plan");
  const Layout layout = layout_at(std::move(allocations), opened, alignment, "addresses");
  ensure(layout.allocations == file.layout.allocations && layout.arena == file.layout.arena,
         "a layout in binary form comes back as it was");
  return image;
}

void read_plan_image(const Octets& image, std::uint32_t graph_checksum, const std::string& place,
                     PlanFile& file) {
  static_cast<void>(section_of(image, POET_PLAN_SCHEDULE, "SCHEDULE", place));
  static_cast<void>(section_of(image, POET_PLAN_ADDRESSES, "ADDRESSES", place));
  poet_plan opened;
  if (const int code = poet_plan_open(&opened, image.data(), image.size()); code != POET_PLAN_OK)
    throw InputError(place, poet_plan_message(code));
  if (opened.graph_crc != graph_checksum)
    throw InputError(place, "SCHEDULE: belongs to another graph: its checksum is not that of GRAPH");
  const Graph& network = file.instance.graph;
  if (opened.ops != network.ops.size() || opened.values != network.values.size())
    throw InputError(place,
                     fmt::format("SCHEDULE: is for {} ops and {} values, GRAPH has {} and {}", opened.ops,
                                 opened.values, network.ops.size(), network.values.size()));
  if (opened.flags != flags_of(file.instance, file.semantics))
    throw InputError(place, "SCHEDULE: its flags contradict the device and semantics in COSTS");
  file.plan = with_frees(file.instance, steps_of(opened), file.semantics);
  file.layout = layout_at(allocations_of(file.instance, file.plan, file.semantics), opened,
                          file.instance.costs.alignment, place + ": ADDRESSES");
}

std::optional<Made> made_of_image(const Octets& image, const std::string& place) {
  if (!has_section(image, POET_PLAN_MADE)) return std::nullopt;
  const nlohmann::ordered_json json =
      from_cbor(section_of(image, POET_PLAN_MADE, "MADE", place), "MADE", place);
  return read_made(JsonField(json, place + ": MADE"));
}

Octets to_binary(const PlanFile& file) { return write(file, false); }

Octets to_device_image(const PlanFile& file) { return write(file, true); }

PlanFile plan_from_binary(const Octets& bytes, const std::string& place) {
  if (version_of(bytes) == POET_PLAN_FAMILY) throw InputError(place, kSeveralPlans);
  const Octets graph = section_of(bytes, POET_PLAN_GRAPH, "GRAPH", place);
  const Octets costs = section_of(bytes, POET_PLAN_COSTS, "COSTS", place);
  PlanFile file;
  const InstanceParts parts{from_cbor(graph, "GRAPH", place), from_cbor(costs, "COSTS", place)};
  const JsonField limits(parts.costs, place + ": COSTS");
  file.instance = instance_from_json(merge_instance(parts, place), place);
  file.semantics = read_semantics(limits);
  file.limits = read_limits(limits);
  file.made = made_of_image(bytes, place);
  read_plan_image(bytes, checksum(graph), place, file);
  return file;
}

}  // namespace poet
