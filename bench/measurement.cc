#include "bench/measurement.h"

#include <fmt/format.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "poet/base/error.h"

namespace poet::bench {
namespace {

using Json = nlohmann::ordered_json;

template <class T>
void write(Json& json, const char* field, const T& value) {
  json[field] = value;
}

template <class T>
void write(Json& json, const char* field, const std::optional<T>& value) {
  json[field] = value ? Json(*value) : Json(nullptr);
}

void write(Json& json, const char* field, const std::vector<Point>& points) {
  json[field] = Json::array();
  for (const Point& p : points)
    json[field].push_back(
        {p.seconds, p.joules ? Json(*p.joules) : Json(nullptr), p.bound ? Json(*p.bound) : Json(nullptr)});
}

template <class T>
void read(const Json& json, T& value) {
  value = json.get<T>();
}

template <class T>
void read(const Json& json, std::optional<T>& value) {
  if (!json.is_null()) value = json.get<T>();
}

void read(const Json& json, std::vector<Point>& points) {
  for (const Json& item : json) {
    Point point;
    read(item.at(0), point.seconds);
    read(item.at(1), point.joules);
    read(item.at(2), point.bound);
    points.push_back(point);
  }
}

// One list of fields for writing and reading.
template <class M, class Visitor>
void visit(M& m, const Visitor& field) {
  field("set", m.set);
  field("name", m.name);
  field("fraction", m.fraction);
  field("configuration", m.configuration);
  field("ops", m.ops);
  field("least_ram_bytes", m.least_ram_bytes);
  field("most_ram_bytes", m.most_ram_bytes);
  field("ram_budget_bytes", m.ram_budget_bytes);
  field("deadline_seconds", m.deadline_seconds);
  field("baseline_joules", m.baseline_joules);
  field("time_limit_seconds", m.time_limit_seconds);
  field("status", m.status);
  field("message", m.message);
  field("verifier_accepts", m.verifier_accepts);
  field("energy_joules", m.energy_joules);
  field("bound_joules", m.bound_joules);
  field("overhead", m.overhead);
  field("gap", m.gap);
  field("energy_gap", m.energy_gap);
  field("peak_ram_bytes", m.peak_ram_bytes);
  field("best_known_joules", m.best_known_joules);
  field("missed", m.missed);
  field("seconds_to_first", m.seconds_to_first);
  field("first_excess", m.first_excess);
  field("seconds_to_near", m.seconds_to_near);
  field("seconds_to_gap", m.seconds_to_gap);
  field("seconds_to_energy_gap", m.seconds_to_energy_gap);
  field("seconds_to_proof", m.seconds_to_proof);
  field("wall_seconds", m.wall_seconds);
  field("overrun_seconds", m.overrun_seconds);
  field("cpu_seconds", m.cpu_seconds);
  field("nodes", m.nodes);
  field("peak_memory_bytes", m.peak_memory_bytes);
  field("solver", m.solver);
  field("load", m.load);
  field("trace", m.trace);
}

constexpr double kNear = 0.05;
constexpr double kFallWorthKeeping = 0.9;

// How much more than `final` costs above the baseline; 0 when both cost what is unavoidable.
double excess(double joules, double final, double baseline) {
  const double more = joules - final;
  if (more <= 1e-9 * baseline) return 0;
  return final > baseline ? more / (final - baseline) : std::numeric_limits<double>::infinity();
}

}  // namespace

std::string case_key(const Measurement& m) { return fmt::format("{}/{} f={}", m.set, m.name, m.fraction); }

std::string key(const Measurement& m) { return case_key(m) + " " + m.configuration; }

double gap_of(double joules, double bound, double baseline) {
  const double open = joules - bound;
  return open <= 1e-9 * baseline ? 0 : open / (joules - baseline);
}

Json to_json(const Measurement& m) {
  Json json = Json::object();
  visit(m, [&](const char* name, const auto& value) { write(json, name, value); });
  return json;
}

Measurement measurement_from_json(const Json& json) {
  Measurement m;
  visit(m, [&](const char* name, auto& value) {
    try {
      read(json.at(name), value);
    } catch (const nlohmann::json::exception&) {
      throw InputError(fmt::format("result field \"{}\"", name), "is missing or of another type");
    }
  });
  return m;
}

void digest(const std::vector<Point>& points, const Marks& marks, Measurement& m) {
  if (!m.baseline_joules) return;
  const double baseline = *m.baseline_joules;
  double kept_gap = std::numeric_limits<double>::infinity();
  std::optional<double> kept_joules;
  for (const Point& p : points) {
    if (!p.joules) continue;
    if (!m.seconds_to_first) {
      m.seconds_to_first = p.seconds;
      if (m.energy_joules) m.first_excess = excess(*p.joules, *m.energy_joules, baseline);
    }
    if (!m.seconds_to_near && m.energy_joules && excess(*p.joules, *m.energy_joules, baseline) <= kNear)
      m.seconds_to_near = p.seconds;
    double gap = std::numeric_limits<double>::infinity();
    if (p.bound) {
      gap = gap_of(*p.joules, *p.bound, baseline);
      if (!m.seconds_to_gap && gap <= marks.mark) m.seconds_to_gap = p.seconds;
      if (!m.seconds_to_proof && gap <= marks.gap && m.status == "optimal") m.seconds_to_proof = p.seconds;
      if (!m.seconds_to_energy_gap && *p.joules - *p.bound <= marks.energy_mark * *p.joules)
        m.seconds_to_energy_gap = p.seconds;
    }
    if (p.joules != kept_joules || gap < kFallWorthKeeping * kept_gap || &p == &points.back()) {
      m.trace.push_back(p);
      kept_gap = gap;
      kept_joules = p.joules;
    }
  }
}

}  // namespace poet::bench
