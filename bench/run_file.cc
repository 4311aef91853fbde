#include "bench/run_file.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <ctime>
#include <fstream>
#include <limits>
#include <sstream>
#include <thread>

#include "bench/statistics.h"
#include "poet/base/error.h"
#include "poet/optimize/solvers/solver.h"

namespace poet::bench {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

std::string processor() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.rfind("model name", 0) == 0 && line.find(": ") != std::string::npos)
      return line.substr(line.find(": ") + 2);
  return "unknown";
}

Json summary_json(const std::vector<Measurement>& results) {
  Json all = Json::array();
  for (const Summary& s : summaries(results))
    all.push_back({{"set", s.set},
                   {"configuration", s.configuration},
                   {"cases", s.cases},
                   {"answered", s.answered},
                   {"proven", s.proven},
                   {"infeasible", s.infeasible},
                   {"broken", s.broken},
                   {"median_seconds_to_gap", s.median_to_gap},
                   {"mean_seconds_to_gap", s.mean_to_gap},
                   {"worst_overrun_seconds", s.worst_overrun_seconds},
                   {"peak_memory_bytes", s.peak_memory_bytes},
                   {"near_in_2_seconds", s.near_soon},
                   {"small", s.small},
                   {"small_near_in_2_seconds", s.small_near_soon},
                   {"with_best_known", s.with_best_known},
                   {"missed", s.missed}});
  return all;
}

std::vector<std::string> fields_of(const std::string& line) {
  std::vector<std::string> fields;
  std::istringstream stream(line);
  for (std::string field; std::getline(stream, field, ',');) {
    while (!field.empty() && (field.back() == '\r' || field.back() == ' ')) field.pop_back();
    fields.push_back(field);
  }
  return fields;
}

double number(const fs::path& file, const std::string& text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size())
    throw InputError(file.string(), fmt::format("\"{}\" is not a number", text));
  return value;
}

}  // namespace

Json machine_facts() {
  Json facts = {{"cores", std::thread::hardware_concurrency()},
                {"processor", processor()},
                {"memory_bytes", static_cast<std::int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE)},
                {"poet", POET_VERSION},
                {"date", fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)))},
                {"solvers", Json::array()}};
  for (Solver solver : {Solver::cbc, Solver::highs})
    if (has_solver(solver)) facts["solvers"].push_back(solver_version(solver));
  return facts;
}

void write_run(const fs::path& file, const Json& machine, const Json& options,
               const std::vector<Measurement>& results, bool finished) {
  Json json = {{"format", 1},
               {"program", "solve_bench"},
               {"machine", machine},
               {"options", options},
               {"finished", finished},
               {"summary", summary_json(results)},
               {"results", Json::array()}};
  for (const Measurement& m : results) json["results"].push_back(to_json(m));
  const fs::path fresh = file.string() + ".new";
  {
    std::ofstream stream(fresh);
    // One line per result: easy to read and to search.
    Json head = json;
    head.erase("results");
    std::string text = head.dump(1);
    text.erase(text.find_last_of('}'));
    while (!text.empty() && text.back() == '\n') text.pop_back();
    stream << text << ",\n \"results\": [";
    const char* separator = "\n  ";
    for (const Json& result : json["results"]) {
      stream << separator << result.dump();
      separator = ",\n  ";
    }
    stream << "\n ]\n}\n";
    stream.flush();
    if (!stream) throw InputError("--json", fmt::format("cannot write {}", fresh.string()));
  }
  std::error_code error;
  fs::rename(fresh, file, error);
  if (error) throw InputError("--json", fmt::format("cannot write {}: {}", file.string(), error.message()));
}

Run read_run(const fs::path& file) {
  std::ifstream stream(file);
  if (!stream) throw InputError(file.string(), "cannot be read");
  const Json json = Json::parse(stream, nullptr, false);
  if (!json.is_object() || json.value("program", "") != "solve_bench" || !json.contains("results"))
    throw InputError(file.string(), "is not a run of solve_bench");
  Run run;
  run.machine = json.value("machine", Json::object());
  run.options = json.value("options", Json::object());
  for (const Json& item : json["results"]) {
    try {
      run.results.push_back(measurement_from_json(item));
    } catch (const InputError& error) {
      throw InputError(file.string(), error.what());
    }
  }
  return run;
}

std::map<std::string, double> read_best_known(const fs::path& file) {
  std::map<std::string, double> known;
  std::ifstream stream(file);
  std::string line;
  if (!std::getline(stream, line)) return known;
  const std::vector<std::string> header = fields_of(line);
  const auto column = [&](const char* name) {
    const auto found = std::find(header.begin(), header.end(), name);
    if (found == header.end()) throw InputError(file.string(), fmt::format("has no column {}", name));
    return static_cast<std::size_t>(found - header.begin());
  };
  const std::size_t instance = column("instance");
  const std::size_t fraction = column("fraction");
  const std::size_t energy = column("energy_joules");
  while (std::getline(stream, line)) {
    const std::vector<std::string> fields = fields_of(line);
    if (fields.size() != header.size()) continue;
    known[fmt::format("published/{} f={}", fields[instance], number(file, fields[fraction]))] =
        number(file, fields[energy]);
  }
  return known;
}

void add_best_known(const std::map<std::string, double>& known, Measurement& m) {
  const auto found = known.find(case_key(m));
  if (found == known.end()) return;
  m.best_known_joules = found->second;
  if (!m.answered()) return;
  Measurement best = m;
  best.energy_joules = found->second;
  m.missed = energy_change(m, best);
}

}  // namespace poet::bench
