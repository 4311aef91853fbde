// The benchmark of planning: what becomes of plans on the way to a device. Every plan is solved for, placed,
// encoded, read back and replayed; a table goes to stdout, progress to stderr, everything to a JSON file.
// Exit code 1 where a plan does not come back as it was.

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>

#include "apps/shared/parser.h"
#include "bench/cases.h"
#include "poet/base/error.h"
#include "poet/compile.h"
#include "poet/plan/decoder/poet_plan.h"
#include "poet/plan/file/plan_file.h"

namespace poet::bench {
namespace {

using Json = nlohmann::ordered_json;

struct Options {
  CaseOptions cases;
  double time_limit = 5;
  double fragmentation_mark = 1.02;
  std::string json;
};

double seconds_of(const std::function<void()>& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

std::uint32_t section_bytes(const std::vector<std::uint8_t>& image, std::uint32_t tag) {
  const std::uint8_t* payload = nullptr;
  std::uint32_t length = 0;
  ensure(poet_plan_section(image.data(), image.size(), tag, &payload, &length) == POET_PLAN_OK,
         "a written section can be read");
  return length;
}

/// One row: null where there is no schedule.
Json measured(const Case& one, const Options& options) {
  Subject subject = one.load(true);
  CompileRequest request;
  request.semantics = one.semantics;
  request.limits = limits_of(one, subject.instance, subject.ram.at(one.fraction));
  request.instance = std::move(subject.instance);
  request.options.time_limit_seconds = options.time_limit;
  const CompileResult result = compile(request);

  Json row = {
      {"name", one.name}, {"fraction", one.fraction}, {"status", to_string(result.certificate.status)}};
  row["ram_budget_bytes"] = request.limits.ram_budget.value();
  if (result.plan.steps.empty()) return row;
  const Instance& instance = request.instance;
  const Bytes peak = result.report.peak_ram - instance.costs.persistent;
  row["allocations"] = result.layout.allocations.size();
  row["recomputations"] = result.report.recomputations;
  row["transfers"] = result.report.page_ins + result.report.page_outs;
  row["peak_bytes"] = peak.value();
  row["arena_bytes"] = result.arena.arena.value();
  row["arena_bound_bytes"] = result.layout.lower_bound.value();
  row["solves"] = result.solves;
  row["saved_by_transfers"] = 1 - result.report.energy / result.schedule_report.energy;

  Layout layout;
  row["place_seconds"] =
      seconds_of([&] { layout = place(instance, result.plan, request.semantics, {.enough = peak}); });
  const PlanFile file{instance, request.semantics, request.limits, result.plan, layout};
  const std::vector<std::uint8_t> image = to_binary(file);
  row["schedule_section_bytes"] = section_bytes(image, POET_PLAN_SCHEDULE);
  row["address_section_bytes"] = section_bytes(image, POET_PLAN_ADDRESSES);
  row["file_bytes"] = image.size();
  bool valid = false;
  row["verify_seconds"] = seconds_of([&] {
    const PlanFile read = plan_from_binary(image, "image");
    valid = replay(read.instance, read.plan, read.semantics, read.limits).valid &&
            replay_layout(read.instance, read.plan, read.layout, read.semantics, read.limits).valid;
  });
  row["verified"] = valid;
  return row;
}

double fragmentation(const Json& row) {
  const double peak = row["peak_bytes"].get<double>();
  return peak > 0 ? row["arena_bytes"].get<double>() / peak : 1;
}

std::string line(const Json& row) {
  std::string head = fmt::format("{:<28} {:>5} {:<10}", row["name"].get<std::string>(),
                                 row["fraction"].get<double>(), row["status"].get<std::string>());
  if (!row.contains("verified")) return head;
  return head +
         fmt::format(" {:>6} {:>6} {:>6} {:>8.4f} {:>7} {:>6} {:>6} {:>7.2f} {:>8.3f} {:>8.3f}",
                     row["allocations"].get<int>(), row["recomputations"].get<int>(),
                     row["transfers"].get<int>(), fragmentation(row), row["solves"].get<int>(),
                     row["schedule_section_bytes"].get<int>(), row["address_section_bytes"].get<int>(),
                     row["address_section_bytes"].get<double>() / std::max(1, row["allocations"].get<int>()),
                     row["place_seconds"].get<double>(), row["verify_seconds"].get<double>()) +
         (row["verified"].get<bool>() ? "" : " INVALID");
}

std::string summary(const Json& rows, const Options& options) {
  int planned = 0, verified = 0, tight = 0, again = 0;
  double worst = 0, slowest_place = 0, slowest_verify = 0, most_per_allocation = 0, most_saved = 0;
  for (const Json& row : rows) {
    if (!row.contains("verified")) continue;
    ++planned;
    verified += row["verified"].get<bool>();
    tight += fragmentation(row) <= options.fragmentation_mark;
    again += row["solves"].get<int>() > 1;
    worst = std::max(worst, fragmentation(row));
    slowest_place = std::max(slowest_place, row["place_seconds"].get<double>());
    slowest_verify = std::max(slowest_verify, row["verify_seconds"].get<double>());
    most_saved = std::max(most_saved, row["saved_by_transfers"].get<double>());
    most_per_allocation = std::max(
        most_per_allocation, row["address_section_bytes"].get<double>() / row["allocations"].get<int>());
  }
  return fmt::format(
      "{} of {} cases planned, {} verified from their binary form; arena / peak <= {} in {}, at most {:.4f}; "
      "{} solved again\nplacing at most {:.2f} s, reading and verifying at most {:.2f} s; at most {:.2f} "
      "bytes per "
      "allocation; transfers at better moments save at most {:.2f}%\n",
      planned, rows.size(), verified, options.fragmentation_mark, tight, worst, again, slowest_place,
      slowest_verify, most_per_allocation, 100 * most_saved);
}

int run(int argc, char** argv) {
  Options options;
  options.cases.sets = {"zoo"};
  options.cases.fractions = {1, 0.5, 0.25, 0};
  options.cases.random_semantics = Semantics::device;
  cli::CommandLine program("plan_bench", "plan_bench: what becomes of schedules on the way to a device");
  const cli::Parser parser = program.parser();
  parser.option("--set", options.cases.sets, "zoo (default), published, random", "NAME,...")
      .separated_by(',');
  parser.option("--only", options.cases.only, "parts of SET/NAME", "PART,...").separated_by(',');
  parser.option("--fractions", options.cases.fractions, "f of the RAM budget (1,0.5,0.25,0)", "F,...")
      .separated_by(',');
  parser.option("--random-ops", options.cases.random_ops, "sizes in the set random (1000,10000)", "N,...")
      .separated_by(',');
  parser.option("--random-seeds", options.cases.random_seeds, "seeds in the set random (1)", "N,...")
      .separated_by(',');
  parser.option("--time-limit", options.time_limit, "seconds for each solve (5)", "SECONDS");
  parser.option("--json", options.json, "every figure, into this file", "FILE");
  if (const auto answer = program.parse(argc, argv)) {
    fmt::print("{}", *answer);
    return 0;
  }
  const auto note = [](const std::string& text) { fmt::print(stderr, "{}\n", text); };
  Json rows = Json::array();
  fmt::print("{:<28} {:>5} {:<10} {:>6} {:>6} {:>6} {:>8} {:>7} {:>6} {:>6} {:>7} {:>8} {:>8}\n", "case", "f",
             "status", "allocs", "recomp", "moves", "arena/pk", "solves", "sched", "addr", "B/alloc",
             "place s", "verify s");
  for (const Case& one : cases(options.cases, note)) {
    rows.push_back(measured(one, options));
    fmt::print("{}\n", line(rows.back()));
    std::fflush(stdout);
    if (!options.json.empty()) std::ofstream(options.json) << rows.dump(1) << '\n';
  }
  fmt::print("{}", summary(rows, options));
  const auto broken = [](const Json& row) {
    return row.contains("verified") && !row["verified"].get<bool>();
  };
  return std::any_of(rows.begin(), rows.end(), broken) ? 1 : 0;
}

}  // namespace
}  // namespace poet::bench

int main(int argc, char** argv) {
  try {
    return poet::bench::run(argc, argv);
  } catch (const poet::InputError& error) {
    fmt::print(stderr, "plan_bench: {}\n", error.what());
    return 2;
  }
}
