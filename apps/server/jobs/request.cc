#include "apps/server/jobs/request.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "apps/server/jobs/digest.h"
#include "apps/server/jobs/fields.h"
#include "apps/server/jobs/sweep_request.h"
#include "poet/base/error.h"
#include "poet/base/parse_amounts.h"
#include "poet/baselines/method.h"
#include "poet/cost/device.h"
#include "poet/cost/json_reader.h"
#include "poet/version.h"

namespace poet::server {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::int64_t kMost = std::int64_t{1} << 53;
constexpr std::size_t kMostName = 256;
constexpr std::size_t kMostInputs = 1024;  // that a command line has room for
constexpr std::size_t kMostDimensions = 32;

bool is_name(const std::string& text, std::string_view besides) {
  return !text.empty() && text.size() <= kMostName && text.front() != '-' &&
         std::all_of(text.begin(), text.end(), [&](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
                  c == '-' || c == '.' || besides.find(c) != std::string_view::npos;
         });
}

/// A number, or text that is an amount.
std::string amount(const JsonField& field) {
  if (field.json().is_string() && field.name().size() > kMostName) field.fail("is too long for an amount");
  if (field.json().is_string()) return field.name();
  if (field.json().is_number_integer()) return std::to_string(field.integer(0, kMost));
  return fmt::format("{}", field.number());
}

Json device(const JsonField& field, const KnownNames& names) {
  if (field.json().is_string()) return field.one_of(names.devices);
  (void)device_from_json(field.json(), field.place());
  return field.json();
}

/// What `read` makes of each field of an object whose fields are a network's inputs.
template <class Read>
Json of_inputs(const JsonField& field, Read read) {
  if (!field.json().is_object() || field.json().size() > kMostInputs)
    field.fail(fmt::format("must be an object of at most {} inputs", kMostInputs));
  const auto is_no_character_of_names = [](char c) { return c == '=' || (c >= 0 && c < ' ') || c == 0x7f; };
  Json json = Json::object();
  for (const auto& [name, ignored] : field.json().items()) {
    if (name.empty() || name.size() > kMostName ||
        std::any_of(name.begin(), name.end(), is_no_character_of_names))
      field.fail("has an input of a name that cannot be");
    json[name] = read(field.at(name));
  }
  return json;
}

Json shape(const JsonField& field) {
  if (field.json().size() > kMostDimensions)
    field.fail(fmt::format("must have at most {} dimensions", kMostDimensions));
  return field.integers(1, kMost);
}

Json value_of(const Field& rule, const JsonField& field, const Bounds& bounds, const KnownNames& names) {
  switch (rule.kind) {
    case FieldKind::model:
      return field.one_of(names.models);
    case FieldKind::upload:
      if (!is_digest(field.name()) || !names.is_upload(field.name()))
        field.fail("is not the id of an uploaded file");
      return field.name();
    case FieldKind::device:
      return device(field, names);
    case FieldKind::choice:
      return field.one_of(rule.choices);
    case FieldKind::patterns:
      if (!is_name(field.name(), "*?[]!,/:")) field.fail("must be names with * and ?, separated by commas");
      return field.name();
    case FieldKind::names: {
      Json list = Json::array();
      for (const JsonField& each : field.items()) {
        const Json method = each.one_of(names.methods);
        if (std::find(list.begin(), list.end(), method) != list.end()) each.fail("is there already");
        list.push_back(method);
      }
      if (list.empty()) field.fail("must name at least one");
      return list;
    }
    case FieldKind::bytes:
      return parse_bytes(field.place(), amount(field)).value();
    case FieldKind::split:
      if (field.json() == "auto" || field.json() == "off") return field.json();
      return parse_bytes(field.place(), amount(field)).value();
    case FieldKind::seconds:
      return parse_duration(field.place(), amount(field)).value();
    case FieldKind::fraction:
      return parse_fraction(field.place(), amount(field));
    case FieldKind::factor:
      return field.positive();
    case FieldKind::count:
      return field.integer(1, rule.name == std::string_view("threads") ? bounds.most_threads : 65536);
    case FieldKind::flag:
    case FieldKind::allowed:
    case FieldKind::request:
      return field.boolean();
    case FieldKind::shapes:
      return of_inputs(field, shape);
    case FieldKind::values:
      return of_inputs(field, [](const JsonField& each) { return each.number(); });
  }
  throw InternalError("a field is of some kind");
}

void settle_effort(const JsonField& root, nlohmann::json& json, const Bounds& bounds) {
  if (!json.contains("threads")) json["threads"] = bounds.most_threads;
  if (!json.contains("time_limit")) json["time_limit"] = bounds.usual_time.value();
  if (json["time_limit"].get<double>() > bounds.most_time.value())
    root.fail_at("time_limit",
                 fmt::format("must be at most {:g} s on this server", bounds.most_time.value()));
}

void check_together(const JsonField& root, const std::string& kind, const nlohmann::json& json) {
  const int networks = static_cast<int>(json.contains("model")) + static_cast<int>(json.contains("onnx")) +
                       static_cast<int>(json.contains("instance"));
  if (networks != 1)
    root.fail(kind == "import" ? "must have onnx" : "must have one of model, onnx and instance");
  if (kind == "import") return;
  if (json.contains("instance") == json.contains("device"))
    root.fail_at("device", json.contains("device") ? "must be absent: an instance has its costs"
                                                   : "is missing: a device's name or a profile");
  if (!json.contains("ram_budget")) root.fail_at("ram_budget", "is missing: bytes, or text as \"300KiB\"");
}

Json read_fields(const JsonField& root, const std::string& kind, const Bounds& bounds,
                 const KnownNames& names) {
  nlohmann::json sorted = {{"kind", kind}};  // by name
  for (const auto& [name, value] : root.json().items()) {
    if (name == "kind") continue;
    const auto rule = std::find_if(fields().begin(), fields().end(),
                                   [&name = name](const Field& each) { return name == each.name; });
    if (rule == fields().end() || !belongs_to(*rule, kind))
      root.fail_at(name, fmt::format("is not a field of a job of kind {}", kind));
    if (!value.is_null()) sorted[name] = value_of(*rule, root.at(name), bounds, names);
  }
  check_together(root, kind, sorted);
  if (kind != "import") settle_effort(root, sorted, bounds);
  return sorted;
}

Json read_verify(const JsonField& root, const KnownNames& names) {
  root.only({"kind", "plan"});
  const JsonField plan = root.at("plan");
  if (!is_digest(plan.name()) || !names.is_upload(plan.name()))
    plan.fail("is not the id of an uploaded file");
  return {{"kind", "verify"}, {"plan", plan.name()}};
}

}  // namespace

const std::vector<std::string>& job_kinds() {
  static const std::vector<std::string> kinds = {"solve", "explain", "compare", "import", "verify", "sweep"};
  return kinds;
}

Order read_request(const std::string& text, const Bounds& bounds, const KnownNames& names) {
  const Json json = parse_json(text, "request");
  const JsonField root(json, "request");
  const std::string kind = root.has("kind") ? root.at("kind").one_of(job_kinds()) : "solve";
  Json request;
  if (kind == "verify")
    request = read_verify(root, names);
  else if (kind == "sweep")
    request = read_sweep(root, bounds, names);
  else
    request = read_fields(root, kind, bounds, names);
  Order order;
  order.kind = kind;
  order.request = json_text(request);
  order.id = digest(std::string(version()) + "\n" + order.request).substr(0, 32);
  return order;
}

std::string pointer_in(std::string_view place) {
  const std::size_t slash = place.find('/');
  std::string pointer(slash == std::string_view::npos ? std::string_view() : place.substr(slash));
  // Of a profile within a request: "/device: /name".
  for (std::size_t at = 0; (at = pointer.find(": /")) != std::string::npos;) pointer.erase(at, 2);
  return pointer;
}

}  // namespace poet::server
