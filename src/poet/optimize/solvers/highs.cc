#include "poet/optimize/solvers/highs.h"

#ifdef POET_HAS_HIGHS

#include <interfaces/highs_c_api.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <stdexcept>

namespace poet {
namespace {

struct Destroy {
  void operator()(void* highs) const { Highs_destroy(highs); }
};
using Handle = std::unique_ptr<void, Destroy>;

struct Context {
  const Model* model;
  Tell* tell;
  long work_limit;
  long nodes = 0;
  long work = 0;
};

void on_news(int kind, const char*, const HighsCallbackDataOut* out, HighsCallbackDataIn*, void* data) {
  Context& context = *static_cast<Context*>(data);
  if (kind == kHighsCallbackSimplexInterrupt) {
    // Counts iterations within one linear program; completed ones of a tree are already in `work`.
    if (context.work_limit >= 0 && context.work + out->simplex_iteration_count > context.work_limit)
      context.tell->out_of_work(context.nodes, context.work + out->simplex_iteration_count);
    return;
  }
  context.nodes = std::max(context.nodes, static_cast<long>(out->mip_node_count));
  context.work = std::max(context.work, static_cast<long>(out->mip_total_lp_iterations));
  if (kind == kHighsCallbackMipImprovingSolution && out->mip_solution != nullptr)
    context.tell->incumbent(*context.model, out->mip_solution);
  if (std::isfinite(out->mip_dual_bound))
    context.tell->progress(out->mip_dual_bound, context.nodes, context.work);
  if (context.work_limit >= 0 && context.work > context.work_limit)
    context.tell->out_of_work(context.nodes, context.work);
}

void check(HighsInt status, const char* what) {
  if (status == kHighsStatusError) throw std::runtime_error(std::string("HiGHS: ") + what);
}

// HiGHS has no cutoff for integer programs; a row serves as one.
struct Rows {
  std::vector<HighsInt> start, index;
  std::vector<double> value, lower, upper;

  Rows(const Model& model, double cutoff) : lower(model.row_lower), upper(model.row_upper) {
    start.assign(model.row_start.begin(), model.row_start.end());
    index.assign(model.entry_column.begin(), model.entry_column.end());
    value = model.entry_value;
    if (cutoff == kInfinity) return;
    for (std::size_t c = 0; c < model.cost.size(); ++c) {
      if (model.cost[c] == 0) continue;
      index.push_back(static_cast<HighsInt>(c));
      value.push_back(model.cost[c]);
    }
    lower.push_back(-kInfinity);
    upper.push_back(cutoff - model.cost_constant);
    start.push_back(static_cast<HighsInt>(value.size()));
  }
};

void pass_model(void* highs, const Model& model, double cutoff) {
  const Rows rows(model, cutoff);
  std::vector<HighsInt> integrality(model.integer.size());
  for (std::size_t c = 0; c < integrality.size(); ++c)
    integrality[c] = model.integer[c] ? kHighsVarTypeInteger : kHighsVarTypeContinuous;
  check(Highs_passMip(highs, model.columns(), static_cast<HighsInt>(rows.lower.size()),
                      static_cast<HighsInt>(rows.value.size()), kHighsMatrixFormatRowwise,
                      kHighsObjSenseMinimize, model.cost_constant, model.cost.data(), model.lower.data(),
                      model.upper.data(), rows.lower.data(), rows.upper.data(), rows.start.data(),
                      rows.index.data(), rows.value.data(), integrality.data()),
        "the model is refused");
}

void set_options(void* highs, const MipOptions& options) {
  check(Highs_setBoolOptionValue(highs, "output_flag", 0), "output_flag");
  check(Highs_setDoubleOptionValue(highs, "mip_rel_gap", options.relative_gap), "mip_rel_gap");
  check(Highs_setDoubleOptionValue(highs, "mip_abs_gap", std::max(1e-9, options.absolute_gap)),
        "mip_abs_gap");
  check(Highs_setIntOptionValue(highs, "threads", 1), "threads");
  if (options.node_limit >= 0) {
    const long most = std::numeric_limits<HighsInt>::max();
    check(Highs_setIntOptionValue(highs, "mip_max_nodes",
                                  static_cast<HighsInt>(std::min(options.node_limit, most))),
          "mip_max_nodes");
  }
}

void pass_start(void* highs, const MipOptions& options) {
  if (options.start.empty()) return;
  std::vector<HighsInt> columns;
  std::vector<double> values;
  for (const auto& [column, value] : options.start) {
    columns.push_back(column);
    values.push_back(value);
  }
  // A start that HiGHS rejects is ignored.
  (void)Highs_setSparseSolution(highs, static_cast<HighsInt>(columns.size()), columns.data(), values.data());
}

MipStatus status_of(HighsInt model_status, bool found) {
  if (model_status == kHighsModelStatusInfeasible) return MipStatus::infeasible;
  if (model_status == kHighsModelStatusOptimal && found) return MipStatus::optimal;
  return found ? MipStatus::feasible : MipStatus::unknown;
}

}  // namespace

bool has_highs() { return true; }

void highs_solve(const Model& model, const MipOptions& options, Tell& tell) {
  const Handle highs(Highs_create());
  if (!highs) throw std::runtime_error("HiGHS: no instance");
  set_options(highs.get(), options);
  pass_model(highs.get(), model, options.cutoff);
  pass_start(highs.get(), options);
  Context context{&model, &tell, options.work_limit};
  check(Highs_setCallback(highs.get(), on_news, &context), "callbacks");
  for (const HighsInt kind : {kHighsCallbackMipImprovingSolution, kHighsCallbackMipLogging,
                              kHighsCallbackMipInterrupt, kHighsCallbackSimplexInterrupt})
    check(Highs_startCallback(highs.get(), static_cast<int>(kind)), "a callback");
  check(Highs_run(highs.get()), "the run failed");

  HighsInt primal_status = kHighsSolutionStatusNone;
  (void)Highs_getIntInfoValue(highs.get(), "primal_solution_status", &primal_status);
  const bool found = primal_status == kHighsSolutionStatusFeasible;
  if (found) {
    const auto rows = static_cast<std::size_t>(Highs_getNumRow(highs.get()));
    std::vector<double> x(model.cost.size()), x_dual(model.cost.size()), row(rows), row_dual(rows);
    check(Highs_getSolution(highs.get(), x.data(), x_dual.data(), row.data(), row_dual.data()),
          "no solution");
    tell.incumbent(model, x.data());
  }
  double bound = -kInfinity;
  std::int64_t nodes = 0;
  const bool whole = Highs_getDoubleInfoValue(highs.get(), "mip_dual_bound", &bound) == kHighsStatusOk;
  (void)Highs_getInt64InfoValue(highs.get(), "mip_node_count", &nodes);
  const MipStatus status = status_of(Highs_getModelStatus(highs.get()), found);
  if (!whole || !std::isfinite(bound)) bound = -kInfinity;
  // A model without integers has no tree and no MIP bound.
  const bool any_integer = std::count(model.integer.begin(), model.integer.end(), 0) <
                           static_cast<std::ptrdiff_t>(model.integer.size());
  if (!any_integer) {
    bound = -kInfinity;
    if (status == MipStatus::optimal)
      (void)Highs_getDoubleInfoValue(highs.get(), "objective_function_value", &bound);
  }
  tell.result(status, bound, static_cast<long>(std::max<std::int64_t>(nodes, 0)), context.work);
}

std::string highs_version() { return std::string("HiGHS ") + Highs_version(); }

}  // namespace poet

#else

#include "poet/base/error.h"

namespace poet {

bool has_highs() { return false; }

void highs_solve(const Model&, const MipOptions&, Tell&) {
  throw InternalError("highs_solve: this build has no HiGHS");
}

std::string highs_version() { return "no HiGHS"; }

}  // namespace poet

#endif
