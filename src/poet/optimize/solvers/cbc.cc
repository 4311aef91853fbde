#include "poet/optimize/solvers/cbc.h"

#include <CbcEventHandler.hpp>
#include <CbcModel.hpp>
#include <CbcSolver.hpp>
#include <ClpEventHandler.hpp>
#include <ClpSimplex.hpp>
#include <ClpSolve.hpp>
#include <CoinPackedMatrix.hpp>
#include <OsiClpSolverInterface.hpp>
#include <algorithm>
#include <cmath>

namespace poet {
namespace {

double coin_bound(double value) {
  if (value == kInfinity) return COIN_DBL_MAX;
  if (value == -kInfinity) return -COIN_DBL_MAX;
  return value;
}

std::vector<double> coin_bounds(const std::vector<double>& values) {
  std::vector<double> bounds(values.size());
  std::transform(values.begin(), values.end(), bounds.begin(), coin_bound);
  return bounds;
}

CoinPackedMatrix matrix_of(const Model& model) {
  std::vector<CoinBigIndex> starts(model.row_start.begin(), model.row_start.end());
  CoinPackedMatrix rows(false, model.columns(), model.rows(),
                        static_cast<CoinBigIndex>(model.entry_value.size()), model.entry_value.data(),
                        model.entry_column.data(), starts.data(), nullptr);
  rows.reverseOrdering();
  return rows;
}

// Passes progress out and the wish to stop in. Cbc clones its handlers.
class Listener : public CbcEventHandler {
 public:
  Listener(const MipOptions& options, double constant) : options_(&options), constant_(constant) {}
  CbcEventHandler* clone() const override { return new Listener(*this); }
  CbcAction event(CbcEvent) override {
    if (!options_->keep_going) return noAction;
    const CbcModel* model = getModel();
    if (model->parentModel() !=
        nullptr)  // a heuristic's own tree: its objective and bound are not the model's
      return options_->keep_going(kInfinity, -kInfinity) ? noAction : stop;
    const double objective = model->getObjValue();
    const double bound = model->getBestPossibleObjValue();
    return options_->keep_going(std::abs(objective) > 1e40 ? kInfinity : objective + constant_,
                                std::abs(bound) > 1e40 ? -kInfinity : bound + constant_)
               ? noAction
               : stop;
  }

 private:
  const MipOptions* options_;
  double constant_;
};

// Lets a linear program be stopped between iterations.
class LpListener : public ClpEventHandler {
 public:
  explicit LpListener(const std::function<bool()>& stop) : stop_(&stop) {}
  ClpEventHandler* clone() const override { return new LpListener(*this); }
  int event(Event) override { return *stop_ && (*stop_)() ? 1 : -1; }

 private:
  const std::function<bool()>* stop_;
};

}  // namespace

LpResult solve_lp(const Model& model, double time_limit_seconds, const std::function<bool()>& stop) {
  LpResult result;
  if (model.contradiction()) {
    result.status = LpResult::Status::infeasible;
    return result;
  }
  ClpSimplex simplex;
  simplex.setLogLevel(0);
  simplex.loadProblem(matrix_of(model), coin_bounds(model.lower).data(), coin_bounds(model.upper).data(),
                      model.cost.data(), coin_bounds(model.row_lower).data(),
                      coin_bounds(model.row_upper).data());
  simplex.setMaximumWallSeconds(std::max(0.01, time_limit_seconds));  // negative would mean no limit
  LpListener listener(stop);
  simplex.passInEventHandler(&listener);
  ClpSolve how;
  how.setSolveType(ClpSolve::useDual);
  how.setPresolveType(ClpSolve::presolveOn);
  simplex.initialSolve(how);
  if (simplex.isProvenPrimalInfeasible()) {
    result.status = LpResult::Status::infeasible;
  } else if (simplex.isProvenOptimal()) {
    result.status = LpResult::Status::optimal;
    result.objective = simplex.objectiveValue() + model.cost_constant;
    const auto n = static_cast<std::size_t>(model.columns());
    result.x.assign(simplex.primalColumnSolution(), simplex.primalColumnSolution() + n);
    result.reduced_costs.assign(simplex.dualColumnSolution(), simplex.dualColumnSolution() + n);
  }
  return result;
}

MipResult solve_mip(const Model& model, const MipOptions& options) {
  MipResult result;
  if (model.contradiction()) {
    result.status = MipResult::Status::infeasible;
    return result;
  }
  OsiClpSolverInterface osi;
  osi.messageHandler()->setLogLevel(0);
  osi.getModelPtr()->setLogLevel(0);
  osi.loadProblem(matrix_of(model), coin_bounds(model.lower).data(), coin_bounds(model.upper).data(),
                  model.cost.data(), coin_bounds(model.row_lower).data(),
                  coin_bounds(model.row_upper).data());
  for (int c = 0; c < model.columns(); ++c)
    if (model.integer[static_cast<std::size_t>(c)]) osi.setInteger(c);
  if (!options.start.empty()) {
    osi.setIntParam(OsiNameDiscipline, 2);
    for (int c = 0; c < model.columns(); ++c) osi.setColName(c, "c" + std::to_string(c));
  }

  CbcModel cbc(osi);
  cbc.setLogLevel(0);
  cbc.messageHandler()->setLogLevel(0);
  cbc.solver()->messageHandler()->setLogLevel(0);
  CbcSolverUsefulData data;
  data.noPrinting_ = true;
  CbcMain0(cbc, data);
  cbc.setLogLevel(0);
  cbc.setUseElapsedTime(true);
  Listener listener(options, model.cost_constant);
  cbc.passInEventHandler(&listener);
  if (!options.start.empty()) {
    std::vector<std::pair<std::string, double>> start;
    for (const auto& [column, value] : options.start) start.emplace_back("c" + std::to_string(column), value);
    cbc.setMIPStart(start);
  }
  std::vector<std::string> words = {"poet",
                                    "-log",
                                    "0",
                                    "-timeMode",
                                    "elapsed",
                                    "-seconds",
                                    std::to_string(std::max(0.1, options.time_limit_seconds)),
                                    "-ratioGap",
                                    std::to_string(options.relative_gap),
                                    "-allowableGap",
                                    std::to_string(std::max(1e-9, options.absolute_gap))};
  if (options.node_limit >= 0) words.insert(words.end(), {"-maxNodes", std::to_string(options.node_limit)});
  if (options.cutoff < kInfinity)
    words.insert(words.end(), {"-cutoff", std::to_string(options.cutoff - model.cost_constant)});
  if (options.threads > 1) words.insert(words.end(), {"-threads", std::to_string(options.threads)});
  // Without integer preprocessing: on these models it saves nothing, and Cbc 2.10.8 crashes in
  // CglPreProcess::postProcess when the time limit strikes early. Without probing: when it finds that nothing
  // can beat the incumbent it leaves crossed bounds behind, on which Clp 1.17.6 aborts.
  words.insert(words.end(), {"-preprocess", "off", "-probing", "off", "-solve", "-quit"});
  std::vector<const char*> arguments;
  for (const std::string& word : words) arguments.push_back(word.c_str());
  const auto no_callback = [](CbcModel*, int) { return 0; };
  CbcMain1(static_cast<int>(arguments.size()), arguments.data(), cbc, no_callback, data);

  result.nodes = cbc.getNodeCount();
  const bool found = cbc.bestSolution() != nullptr;
  const bool finished = cbc.status() == 0 && cbc.secondaryStatus() <= 2;
  if (found) {
    result.x.assign(cbc.bestSolution(), cbc.bestSolution() + model.columns());
    result.objective = cbc.getObjValue() + model.cost_constant;
    result.status =
        finished && cbc.isProvenOptimal() ? MipResult::Status::optimal : MipResult::Status::feasible;
  } else if (cbc.isProvenInfeasible() || (cbc.status() == 0 && cbc.secondaryStatus() <= 1)) {
    result.status = MipResult::Status::infeasible;
  }
  const double bound = cbc.getBestPossibleObjValue();
  if (std::abs(bound) < 1e40) result.bound = bound + model.cost_constant;
  // Secondary status 1: what is left of the tree is infeasible or no better than the incumbent. The reported
  // bound is then a stale one.
  constexpr int kNothingBetter = 1;
  if (found && finished && cbc.secondaryStatus() == kNothingBetter) result.bound = result.objective;
  return result;
}

std::string cbc_version() { return "CBC " CBC_VERSION; }

}  // namespace poet
