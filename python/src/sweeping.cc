// poet.sweep: every point of a spec, on all cores, remembered in a store.

#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "poet/base/cores.h"
#include "poet/cost/json_reader.h"
#include "poet/study/carry.h"
#include "poet/study/pareto.h"
#include "poet/study/store.h"
#include "poet/study/sweep_spec.h"
#include "poet/study/sweep_worker.h"
#include "poet/study/workers.h"
#include "poet/version.h"
#include "python/src/arguments.h"
#include "python/src/callbacks.h"

namespace poet::python {
namespace {

namespace fs = std::filesystem;

/// Every point of the spec, answered by the store or by a worker.
class SweepRun {
 public:
  SweepRun(std::vector<SweepPoint> points, const std::optional<fs::path>& store, Callbacks& callbacks)
      : points_(std::move(points)), results_(points_.size()), callbacks_(callbacks) {
    if (store) store_.emplace(*store);
  }

  void run(std::size_t jobs) {
    std::vector<std::size_t> open;
    for (std::size_t i = 0; i < points_.size(); ++i) {
      if (store_) results_[i] = store_->find(key_of(points_[i]));
      if (!results_[i]) open.push_back(i);
    }
    if (open.empty()) return;
    SweepWorker worker(version());
    const auto pool = process_pool(std::min(jobs, open.size()),
                                   [&worker](const std::string& item) { return worker.work(item); });
    std::vector<std::string> items;
    for (const std::size_t i : open) items.push_back(to_text(points_[i]));
    done_ = points_.size() - open.size();
    const auto interrupted = callbacks_.interrupted();
    pool->run(
        items, [&](const WorkAnswer& answer) { take(open[answer.item], answer); },
        [&interrupted] { return !interrupted(); });
  }

  /// Rows as JSON; what one point says about others is in them.
  [[nodiscard]] std::vector<std::string> rows() {
    std::vector<SweepResult*> found;
    for (std::optional<SweepResult>& result : results_)
      if (result) found.push_back(&*result);
    carry_between_limits(found);
    std::vector<SweepResult> results;
    for (const SweepResult* result : found) results.push_back(*result);
    const std::vector<ParetoFlags> best = pareto_flags(results);
    std::vector<std::string> rows;
    for (std::size_t i = 0; i < results.size(); ++i) {
      nlohmann::ordered_json row = to_json(results[i]);
      row["pareto_energy_ram"] = best[i].energy_ram;
      row["pareto_energy_time"] = best[i].energy_time;
      rows.push_back(json_text(row));
    }
    return rows;
  }

 private:
  void take(std::size_t point, const WorkAnswer& answer) {
    SweepResult result;
    if (answer.death.empty()) {
      result = result_from_json(parse_json(answer.text, "the worker"));
    } else {
      result = result_of(points_[point], version());
      add_failure(result, "the worker died: " + answer.death);
    }
    if (store_) store_->put(result);
    results_[point] = std::move(result);
    ++done_;
    if (const auto show = callbacks_.on_progress())
      show({std::to_string(done_) + " of " + std::to_string(points_.size()), {}, {}, {}, 0});
  }

  std::vector<SweepPoint> points_;
  std::vector<std::optional<SweepResult>> results_;
  std::optional<ResultsStore> store_;
  Callbacks& callbacks_;
  std::size_t done_ = 0;
};

/// `spec`: a file, or, where it is `text`, what one holds.
std::vector<std::string> sweep(const std::string& spec, bool text, const std::optional<fs::path>& store,
                               const py::kwargs& options) {
  Arguments arguments(options);
  const std::optional<std::int64_t> jobs = arguments.count("jobs");
  Callbacks callbacks(arguments.object("progress"));
  arguments.finish();
  std::vector<std::string> rows;
  {
    const py::gil_scoped_release unlocked;
    const SweepSpec what = text ? sweep_spec_of(spec, "spec", fs::current_path()) : read_sweep_spec(spec);
    SweepRun run(expand(what), store, callbacks);
    run.run(static_cast<std::size_t>(jobs.value_or(usable_cores())));
    rows = run.rows();
  }
  callbacks.rethrow();
  return rows;
}

}  // namespace

void add_sweeping(py::module_& module) { module.def("sweep", &sweep); }

}  // namespace poet::python
