#include "bench/child.h"

#include <algorithm>
#include <chrono>
#include <mutex>
#include <new>
#include <nlohmann/json.hpp>

#include "poet/verify/accepted.h"

namespace poet::bench {
namespace {

using Json = nlohmann::ordered_json;

class Reporter {
 public:
  explicit Reporter(Parent& parent) : parent_(parent) {}

  void send(const char* kind, const Json& content) { parent_.send(Json{{kind, content}}.dump()); }

  void send(const Progress& progress) {
    {
      const std::lock_guard lock(mutex_);
      if (progress.incumbent_joules == joules_ && progress.bound_joules == bound_) return;
      joules_ = progress.incumbent_joules;
      bound_ = progress.bound_joules;
    }
    const auto figure = [](const std::optional<double>& f) { return f ? Json(*f) : Json(nullptr); };
    send("point", Json::array({progress.elapsed_seconds, figure(progress.incumbent_joules),
                               figure(progress.bound_joules)}));
  }

 private:
  Parent& parent_;
  std::mutex mutex_;
  std::optional<double> joules_, bound_;  // sent last
};

CompileRequest prepare(const Case& one, const KnownRam& known, Reporter& reporter) {
  const bool search_range = !known.budget && !known.range;
  Subject subject = one.load(search_range);
  const RamRange range = known.range ? *known.range : subject.ram;
  const Report keep_all = replay_keep_all(subject.instance, one.semantics);

  CompileRequest request;
  request.semantics = one.semantics;
  request.limits = limits_of(one, subject.instance, known.budget ? *known.budget : range.at(one.fraction));
  request.instance = std::move(subject.instance);

  Json facts = {{"ops", request.instance.graph.ops.size()},
                {"budget", request.limits.ram_budget.value()},
                {"baseline", keep_all.energy.value()}};
  if (range.most.value() > 0) {
    facts["least"] = range.least.value();
    facts["most"] = range.most.value();
  }
  if (request.limits.deadline) facts["deadline"] = request.limits.deadline->value();
  reporter.send("prepared", facts);
  return request;
}

Json describe(const CompileResult& result, double wall_seconds) {
  const Outcome& outcome = result.outcome;
  const Certificate& certificate = result.certificate;
  Json json = {{"status", to_string(certificate.status)},
               {"message", outcome.explanation.reason},
               {"wall", wall_seconds},
               {"solve", outcome.solve_seconds},
               {"bound", certificate.bounds.every_plan.value()},
               {"nodes", outcome.nodes},
               {"solver", outcome.solver}};
  if (!outcome.schedule.stages.empty()) {
    json["energy"] = result.report.energy.value();
    json["overhead"] = result.overhead;
    json["gap"] = certificate.gap;
    json["staged_gap"] = certificate.staged_gap;
    json["peak_ram"] = result.report.peak_ram.value();
  }
  return json;
}

void solve(const Case& one, const Configuration& configuration, const KnownRam& ram,
           const ChildOptions& options, Reporter& reporter) {
  CompileRequest request = prepare(one, ram, reporter);
  configure(configuration, request.options);
  request.options.gap = options.gap;
  request.options.time_limit_seconds = one.time_limit_seconds;
  request.options.threads = options.threads;
  if (configuration.solver == Solver::file) request.options.file.command = options.solver_command;
  request.options.on_progress = [&](const Progress& progress) { reporter.send(progress); };
  const auto start = std::chrono::steady_clock::now();
  const CompileResult result = compile(request);
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - start;
  reporter.send("result", describe(result, wall.count()));
}

}  // namespace

void solve_for(Parent& parent, const Case& one, const Configuration& configuration, const KnownRam& ram,
               const ChildOptions& options) {
  Reporter reporter(parent);
  const auto fail = [&](const char* status, const std::string& message) {
    reporter.send("error", {{"status", status}, {"message", message}});
  };
  try {
    solve(one, configuration, ram, options, reporter);
  } catch (const std::bad_alloc&) {
    fail("failed", "out of memory");
  } catch (const RejectedPlan& error) {
    fail("rejected", error.what());
  } catch (const std::exception& error) {
    fail("failed", error.what());
  }
}

}  // namespace poet::bench
