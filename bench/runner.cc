#include "bench/runner.h"

#include <fmt/format.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <nlohmann/json.hpp>
#include <vector>

#include "poet/base/error.h"

namespace poet::bench {
namespace {

using Json = nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;

// The greedy search for the least RAM of 10,000 ops takes its time.
constexpr double kPreparationSeconds = 900;

volatile std::sig_atomic_t g_interrupted = 0;

double load_average() {
  double load = 0;
  return getloadavg(&load, 1) == 1 ? load : 0;
}

// What the child has told so far.
struct Told {
  std::optional<Clock::time_point> prepared_at;
  std::vector<Point> points;
  std::optional<Json> result;
};

void fail(Measurement& m, const std::string& status, const std::string& message) {
  m.status = status;
  m.message = message;
}

template <class T>
std::optional<T> optional_field(const Json& json, const char* field) {
  if (!json.contains(field) || json[field].is_null()) return std::nullopt;
  return json[field].get<T>();
}

void take(const Json& line, Told& told, Measurement& m) {
  if (line.contains("prepared")) {
    const Json& facts = line["prepared"];
    told.prepared_at = Clock::now();
    m.ops = facts["ops"];
    m.ram_budget_bytes = facts["budget"].get<std::int64_t>();
    m.baseline_joules = facts["baseline"].get<double>();
    m.least_ram_bytes = optional_field<std::int64_t>(facts, "least");
    m.most_ram_bytes = optional_field<std::int64_t>(facts, "most");
    m.deadline_seconds = optional_field<double>(facts, "deadline");
  } else if (line.contains("point")) {
    Point point;
    point.seconds = line["point"][0];
    if (!line["point"][1].is_null()) point.joules = line["point"][1].get<double>();
    if (!line["point"][2].is_null()) point.bound = line["point"][2].get<double>();
    told.points.push_back(point);
  } else if (line.contains("result")) {
    told.result = line["result"];
  } else {
    fail(m, line.at("error").at("status"), line.at("error").at("message"));
  }
}

void hear(const std::string& message, Told& told, Measurement& m) {
  try {
    take(Json::parse(message), told, m);
  } catch (const nlohmann::json::exception& error) {
    fail(m, "failed", fmt::format("unreadable report of the solve: {}", error.what()));
  }
}

void take_result(const Json& result, Told& told, Measurement& m) {
  m.status = result["status"];
  m.message = result["message"];
  m.wall_seconds = result["wall"];
  m.nodes = result["nodes"];
  m.solver = result["solver"];
  m.bound_joules = optional_field<double>(result, "bound");
  m.energy_joules = optional_field<double>(result, "energy");
  m.overhead = optional_field<double>(result, "overhead");
  m.gap = optional_field<double>(result, "gap");
  m.peak_ram_bytes = optional_field<std::int64_t>(result, "peak_ram");
  if (m.energy_joules) {
    m.verifier_accepts = true;  // compile() throws otherwise
    if (*m.energy_joules > 0 && m.bound_joules)
      m.energy_gap = std::max(0.0, (*m.energy_joules - *m.bound_joules) / *m.energy_joules);
    told.points.push_back({result["solve"], m.energy_joules, m.bound_joules});
  }
}

void explain_silence(const ChildEnd& end, double limit_seconds, const Told& told, Measurement& m) {
  if (end.how == ChildEnd::How::stopped) {
    fail(m, "overrun",
         told.prepared_at ? fmt::format("killed {:.3g} s after it started", limit_seconds)
                          : fmt::format("preparing took more than {:.0f} s", kPreparationSeconds));
  } else if (end.signal != 0) {
    fail(m, "crashed", strsignal(end.signal));
  } else {
    fail(m, "failed", fmt::format("ended without a result, exit code {}", end.exit_code));
  }
}

}  // namespace

bool interrupted() {
  static const bool installed = [] {
    struct sigaction action {};
    action.sa_handler = [](int) { g_interrupted = 1; };
    sigaction(SIGINT, &action, nullptr);
    sigaction(SIGTERM, &action, nullptr);
    return true;
  }();
  return installed && g_interrupted != 0;
}

std::optional<Measurement> measure(const Case& one, const Configuration& configuration, KnownRam& ram,
                                   const RunOptions& options) {
  if (interrupted()) return std::nullopt;
  Measurement m;
  m.set = one.set;
  m.name = one.name;
  m.fraction = one.fraction;
  m.configuration = label(configuration);
  m.time_limit_seconds = one.time_limit_seconds;
  m.load = load_average();

  Told told;
  const double limit = one.time_limit_seconds + options.grace_seconds;
  const Clock::time_point start = Clock::now();
  ChildWatch watch;
  watch.receive = [&](std::string&& message) {
    hear(message, told, m);
    return !told.result && m.status.empty();  // all is said
  };
  watch.keep_going = [&] {
    const std::chrono::duration<double> used = Clock::now() - told.prepared_at.value_or(start);
    return !interrupted() && used.count() <= (told.prepared_at ? limit : kPreparationSeconds);
  };
  ChildSettings settings;
  if (options.memory_limit) settings.memory_limit_bytes = options.memory_limit->value();
  const ChildWork work = [&](Parent& parent) {
    solve_for(parent, one, configuration, ram, options.child);
    return 0;
  };
  const ChildEnd end = run_child(work, watch, settings);
  const Clock::time_point ended_at = Clock::now();
  const bool has_spoken = told.result || !m.status.empty();
  if (interrupted() && !has_spoken) return std::nullopt;

  if (told.prepared_at) {
    m.wall_seconds = std::chrono::duration<double>(ended_at - *told.prepared_at).count();
    ram.budget = Bytes(*m.ram_budget_bytes);
    if (m.least_ram_bytes) ram.range = RamRange{Bytes(*m.least_ram_bytes), Bytes(*m.most_ram_bytes)};
  }
  if (told.result) {
    take_result(*told.result, told, m);
  } else if (m.status.empty()) {
    explain_silence(end, limit, told, m);
  }
  if (m.status == "rejected") m.verifier_accepts = false;
  m.overrun_seconds = std::max(0.0, m.wall_seconds - one.time_limit_seconds);
  m.cpu_seconds = end.cpu_seconds;
  m.peak_memory_bytes = end.peak_bytes;
  digest(told.points, options.marks, m);
  return m;
}

}  // namespace poet::bench
