// The binary form: sections, each with its checksum. The device's decoder reads them here as well, so that
// there is one reader of the format.

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "poet/base/error.h"
#include "poet/cost/instance_json.h"
#include "poet/cost/instance_parts.h"
#include "poet/plan/canonical.h"
#include "poet/plan/decoder/poet_plan.h"
#include "poet/plan/file/bytes_out.h"
#include "poet/plan/file/events.h"
#include "poet/plan/file/limits_json.h"
#include "poet/plan/file/plan_file.h"
#include "poet/plan/layout/addresses.h"
#include "poet/plan/machine.h"

namespace poet {

using Json = nlohmann::ordered_json;

namespace {

using Octets = std::vector<std::uint8_t>;

std::uint32_t checksum(const Octets& bytes) { return poet_plan_crc32(bytes.data(), bytes.size()); }

bool has_paged(const Graph& graph) {
  return std::any_of(graph.values.begin(), graph.values.end(), [](const Value& v) { return v.paged; });
}

// Where transfers take no time of their own, whoever carries the plan out completes each at once.
std::uint32_t flags_of(const Instance& instance, Semantics semantics) {
  return (has_waits(instance, semantics) ? 0 : POET_PLAN_BLOCKING) |
         (has_paged(instance.graph) ? POET_PLAN_PAGED : 0);
}

// ---- writing

Octets cbor(const Json& json) {
  Octets bytes;
  Json::to_cbor(json, bytes);
  return bytes;
}

struct Section {
  std::uint32_t tag;
  Octets payload;
};

Octets image_of(const std::vector<Section>& sections, std::uint32_t version) {
  BytesOut out;
  out.append({'P', 'O', 'E', 'T'});
  out.number(version, 2);
  out.number(sections.size(), 2);
  for (const Section& section : sections) {
    BytesOut covered;
    covered.number(section.tag, 4);
    covered.number(section.payload.size(), 4);
    covered.append(section.payload);
    covered.number(checksum(covered.bytes), 4);
    out.append(covered.bytes);
  }
  return out.bytes;
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
  ensure(file.plan.steps == with_frees(file.instance, file.plan, file.semantics).steps,
         "a plan in binary form frees its values as early as possible");
  const Bytes alignment = file.instance.costs.alignment;
  InstanceParts parts = split_instance(to_json(file.instance));
  write_limits(parts.costs, file.semantics, file.limits);
  Octets graph = cbor(parts.graph);
  std::vector<Section> sections = {{POET_PLAN_SCHEDULE, schedule_payload(file, checksum(graph))},
                                   {POET_PLAN_ADDRESSES, addresses_of(file.layout, alignment)}};
  if (!for_device) {
    sections.push_back({POET_PLAN_GRAPH, std::move(graph)});
    sections.push_back({POET_PLAN_COSTS, cbor(parts.costs)});
  }
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

// ---- reading

Octets section(const Octets& image, std::uint32_t tag, const char* name, const std::string& place) {
  const std::uint8_t* payload = nullptr;
  std::uint32_t length = 0;
  switch (const int code = poet_plan_section(image.data(), image.size(), tag, &payload, &length)) {
    case POET_PLAN_OK:
      return {payload, payload + length};
    case POET_PLAN_BAD_VERSION:
      throw InputError(place,
                       fmt::format("version {} of the plan format; this program reads up to version {}",
                                   image[4] + 256 * image[5], POET_PLAN_VERSION));
    case POET_PLAN_NO_SECTION:
      if (tag == POET_PLAN_GRAPH)
        throw InputError(
            place, "has no GRAPH section: it is for a device; the plan file that it was made with has one");
      throw InputError(place, fmt::format("has no {} section", name));
    case POET_PLAN_NOT_A_PLAN:
    case POET_PLAN_TRUNCATED:
      throw InputError(place, poet_plan_message(code));
    default:
      throw InputError(place, fmt::format("{}: {}", name, poet_plan_message(code)));
  }
}

/// Takes nothing but the depth of nesting, which the parser follows by recursion.
class DepthCheck : public nlohmann::json_sax<Json> {
 public:
  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool string(string_t&) override { return true; }
  bool binary(binary_t&) override { return false; }
  bool key(string_t&) override { return true; }
  bool start_object(std::size_t) override { return ++depth_ <= kDeepest; }
  bool end_object() override { return --depth_ >= 0; }
  bool start_array(std::size_t) override { return ++depth_ <= kDeepest; }
  bool end_array() override { return --depth_ >= 0; }
  bool parse_error(std::size_t, const std::string&, const nlohmann::json::exception&) override {
    return false;
  }

 private:
  static constexpr int kDeepest = 100;
  int depth_ = 0;
};

Json from_cbor(const Octets& bytes, const char* name, const std::string& place) {
  DepthCheck check;
  if (Json::sax_parse(bytes, &check, Json::input_format_t::cbor)) {
    try {
      return Json::from_cbor(bytes);
    } catch (const Json::exception&) {
    }
  }
  throw InputError(place, fmt::format("{}: is not CBOR", name));
}

}  // namespace

Octets to_binary(const PlanFile& file) { return write(file, false); }

Octets to_device_image(const PlanFile& file) { return write(file, true); }

PlanFile plan_from_binary(const Octets& bytes, const std::string& place) {
  const Octets graph = section(bytes, POET_PLAN_GRAPH, "GRAPH", place);
  const Octets costs = section(bytes, POET_PLAN_COSTS, "COSTS", place);
  static_cast<void>(section(bytes, POET_PLAN_SCHEDULE, "SCHEDULE", place));
  static_cast<void>(section(bytes, POET_PLAN_ADDRESSES, "ADDRESSES", place));
  poet_plan opened;
  if (const int code = poet_plan_open(&opened, bytes.data(), bytes.size()); code != POET_PLAN_OK)
    throw InputError(place, poet_plan_message(code));
  if (opened.graph_crc != checksum(graph))
    throw InputError(place, "SCHEDULE: belongs to another graph: its checksum is not that of GRAPH");

  PlanFile file;
  const InstanceParts parts{from_cbor(graph, "GRAPH", place), from_cbor(costs, "COSTS", place)};
  file.instance = instance_from_json(merge_instance(parts, place), place);
  const JsonField limits(parts.costs, place + ": COSTS");
  file.semantics = read_semantics(limits);
  file.limits = read_limits(limits);

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
  return file;
}

}  // namespace poet
