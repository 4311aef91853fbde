// A device profile from instructions counted on a board: what ops of each kind take per op, per operation and
// per byte, and what a transfer takes, at so many instructions per second.
//
// usage: fit_rates PROFILE.json HERTZ PLAN TRACE [PLAN TRACE...]
//
// TRACE is what the firmware of PLAN writes with `make run COUNT=trace`: a line `@instruction count` for each
// instruction of the program, in order. PROFILE.json, which must be there, gets the rates and the transfers'
// times; the rest of it stays. Prints what the fit leaves, kind by kind. Exit 2: bad input.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "firmware/engine/poet_engine.h"
#include "poet/base/error.h"
#include "poet/cost/device.h"
#include "poet/cost/tabulate.h"
#include "poet/plan/file/plan_file.h"

namespace poet {
namespace {

constexpr const char* kDepthwise = " depthwise";
constexpr std::size_t kTerms = 5;  // one, operations, bytes, planes, rows

struct Sample {
  std::array<double, kTerms> term{};
  double instructions = 0;
};
using Samples = std::map<std::string, std::vector<Sample>>;  // by kind, or direction of a transfer

struct Fit {
  std::array<double, kTerms> factor{};
};

/// Least squares over the terms of `used`; nothing where they are not independent, or a factor is negative.
bool solve(const std::vector<Sample>& samples, unsigned used, Fit& fit) {
  std::array<std::array<double, kTerms + 1>, kTerms> rows{};
  for (const Sample& s : samples) {
    // Halfway between absolute and relative errors.
    const double weight = 1.0 / std::max(s.instructions, 1.0);
    for (std::size_t i = 0; i < kTerms; ++i) {
      for (std::size_t j = 0; j < kTerms; ++j) rows[i][j] += weight * s.term[i] * s.term[j];
      rows[i][kTerms] += weight * s.term[i] * s.instructions;
    }
  }
  std::vector<std::size_t> terms;
  for (std::size_t i = 0; i < kTerms; ++i)
    if ((used >> i & 1U) != 0) terms.push_back(i);
  for (std::size_t k = 0; k < terms.size(); ++k) {
    const std::size_t pivot = terms[k];
    if (!(rows[pivot][pivot] > 1e-9)) return false;
    for (const std::size_t i : terms) {
      if (i == pivot) continue;
      const double factor = rows[i][pivot] / rows[pivot][pivot];
      for (std::size_t j = 0; j <= kTerms; ++j) rows[i][j] -= factor * rows[pivot][j];
    }
  }
  fit = {};
  for (const std::size_t i : terms) {
    fit.factor[i] = rows[i][kTerms] / rows[i][i];
    if (!(fit.factor[i] >= 0)) return false;
  }
  return true;
}

double predicted(const Fit& fit, const Sample& s) {
  double sum = 0;
  for (std::size_t i = 0; i < kTerms; ++i) sum += fit.factor[i] * s.term[i];
  return sum;
}

/// The factors, none below 0, that leave the least; every choice of terms is tried.
Fit best_fit(const std::vector<Sample>& samples) {
  Fit best;
  double least = -1;
  for (unsigned used = 1; used < 1U << kTerms; ++used) {
    Fit fit;
    if (!solve(samples, used, fit)) continue;
    double left = 0;
    for (const Sample& s : samples)
      left += std::pow(predicted(fit, s) - s.instructions, 2) / std::max(s.instructions, 1.0);
    if (least >= 0 && left >= least) continue;
    least = left;
    best = fit;
  }
  return best;
}

struct Traced {
  int instruction = 0;
  double count = 0;
};

std::vector<Traced> read_trace(const std::string& name) {
  std::ifstream in(name);
  if (!in) throw InputError(name, "cannot be opened");
  std::vector<Traced> found;
  for (std::string line; std::getline(in, line);) {
    if (line.empty() || line[0] != '@') continue;
    Traced& t = found.emplace_back();
    if (std::sscanf(line.c_str(), "@%d %lf", &t.instruction, &t.count) != 2)
      throw InputError(name, "\"" + line + "\" is not @instruction count");
  }
  return found;
}

/// Puts the steps of a plan beside what its first training step took; the sum of all.
double collect(const std::string& plan_name, const std::string& trace_name, Samples& samples) {
  const PlanFile plan = read_plan(plan_name);
  const Graph& graph = plan.instance.graph;
  const std::vector<Traced> trace = read_trace(trace_name);
  std::size_t next = 0;
  double sum = 0;
  const auto is_next = [&](int instruction) {
    return next < trace.size() && trace[next].instruction == instruction;
  };
  const auto take = [&]() {
    if (next == trace.size()) throw InputError(trace_name, "ends before the plan does");
    sum += trace[next].count;
    return trace[next++].count;
  };
  bool waits = false;  // for what is transferred beside computing: its time is not the transfer's
  for (const Step& step : plan.plan.steps) waits = waits || step.kind == StepKind::wait;
  for (const Step& step : plan.plan.steps) {
    if (step.kind == StepKind::compute) {
      const Work work = work_of(graph, step.op);
      const PlanesAndRows count = planes_and_rows(graph, step.op);
      Sample sample{{1.0, static_cast<double>(work.flops.value()), static_cast<double>(work.moved.value()),
                     count.planes, count.rows},
                    take()};
      if (is_next(POET_LOSS)) sample.instructions += take();
      samples[graph.ops[step.op].kind + (is_depthwise(graph, step.op) ? kDepthwise : "")].push_back(sample);
    } else if (step.kind == StepKind::page_in || step.kind == StepKind::page_out) {
      const Bytes bytes = graph.values[step.value].bytes;
      const bool rows = graph.values[step.value].rows.has_value();
      Sample sample{{1.0, 0.0, static_cast<double>(rounded_up(bytes, Bytes(POET_BLOCK)).value())}, take()};
      if (!waits && is_next(POET_WAIT)) sample.instructions += take();
      if (!rows && !waits) samples[step.kind == StepKind::page_in ? ">in" : ">out"].push_back(sample);
    } else if (step.kind == StepKind::wait) {
      if (!is_next(POET_WAIT)) throw InputError(trace_name, "has no wait where the plan waits");
      static_cast<void>(take());
    }
  }
  return sum;
}

double rate(double per_unit, double hertz) { return per_unit > 0 ? hertz / per_unit : 0; }

int run(int count, char** arguments) {
  if (count < 5 || count % 2 == 0) {
    fmt::print(stderr, "usage: fit_rates PROFILE.json HERTZ PLAN TRACE [PLAN TRACE...]\n");
    return 2;
  }
  const std::string profile = arguments[1];
  const double hertz = std::stod(arguments[2]);
  DeviceProfile device = read_device(profile);
  Samples samples;
  for (int i = 3; i < count; i += 2)
    fmt::print("{}: {:.0f} instructions in the first step's program\n", arguments[i],
               collect(arguments[i], arguments[i + 1], samples));
  device.rates.clear();
  fmt::print("{:36} {:>8} {:>14} {:>8} {:>8} {:>9} {:>9} {:>9} {:>9}\n", "kind", "ops", "instructions", "fit",
             "per op", "per plane", "per row", "per FLOP", "per byte");
  for (const auto& [kind, list] : samples) {
    Fit fit = best_fit(list);
    double counted = 0;
    double fitted = 0;
    for (const Sample& s : list) {
      counted += s.instructions;
      fitted += predicted(fit, s);
    }
    if (!(fitted > 0)) throw InputError(kind, "no rates fit what was counted");
    for (double& factor : fit.factor) factor *= counted / fitted;  // as much in all as was counted
    fmt::print("{:36} {:>8} {:>14.0f} {:>8.3f} {:>8.0f} {:>9.1f} {:>9.1f} {:>9.3f} {:>9.3f}\n", kind,
               list.size(), counted, fitted / counted, fit.factor[0], fit.factor[3], fit.factor[4],
               fit.factor[1], fit.factor[2]);
    if (kind[0] == '>') {
      StorageDirection& direction = kind == ">in" ? device.storage->page_in : device.storage->page_out;
      direction.latency = Seconds(fit.factor[0] / hertz);
      direction.bytes_per_second = rate(fit.factor[2], hertz);
      continue;
    }
    const std::size_t suffix = kind.find(kDepthwise);
    device.rates.push_back({kind.substr(0, suffix), suffix != std::string::npos,
                            Seconds(fit.factor[0] / hertz), Seconds(fit.factor[3] / hertz),
                            Seconds(fit.factor[4] / hertz), rate(fit.factor[1], hertz),
                            rate(fit.factor[2], hertz)});
  }
  std::ofstream out(profile);
  out << to_json(device).dump(1) << '\n';
  out.close();
  if (!out) throw InputError(profile, "cannot be written");
  return 0;
}

}  // namespace
}  // namespace poet

int main(int count, char** arguments) {
  try {
    return poet::run(count, arguments);
  } catch (const std::exception& error) {
    fmt::print(stderr, "fit_rates: {}\n", error.what());
    return 2;
  }
}
