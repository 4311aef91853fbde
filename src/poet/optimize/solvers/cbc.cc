#include "poet/optimize/solvers/cbc.h"

#include <fmt/format.h>

#include <CbcEventHandler.hpp>
#include <CbcModel.hpp>
#include <CbcSolver.hpp>
#include <ClpEventHandler.hpp>
#include <ClpSimplex.hpp>
#include <ClpSolve.hpp>
#include <CoinPackedMatrix.hpp>
#include <OsiClpSolverInterface.hpp>
#include <algorithm>
#include <atomic>
#include <cmath>

namespace poet {
namespace {

// Cbc and Clp treat larger values as infinite.
constexpr double kHuge = 1e40;

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

template <class Simplex>
void load(Simplex& simplex, const Model& model) {
  simplex.loadProblem(matrix_of(model), coin_bounds(model.lower).data(), coin_bounds(model.upper).data(),
                      model.cost.data(), coin_bounds(model.row_lower).data(),
                      coin_bounds(model.row_upper).data());
}

// Counts the simplex iterations of a linear program and its copies; Clp copies the handler with the program.
class IterationCount : public ClpEventHandler {
 public:
  struct Shared {
    std::atomic<long> used = 0;
    long limit = -1;
    std::function<void()> at_limit;  // does not return
  };
  explicit IterationCount(Shared& shared) : shared_(&shared) {}
  ClpEventHandler* clone() const override { return new IterationCount(*this); }
  int event(Event what) override {
    constexpr int kGoOn = -1;
    if (what != endOfIteration) return kGoOn;
    const long used = ++shared_->used;
    if (shared_->limit >= 0 && used > shared_->limit) shared_->at_limit();
    return kGoOn;
  }

 private:
  Shared* shared_;
};

// Reports incumbents, bounds and nodes. Cbc clones its handlers, also into the trees of heuristics.
class Listener : public CbcEventHandler {
 public:
  struct Shared {
    Tell* tell;
    const Model* model;
    double best = kInfinity;  // the best objective reported
    double constant;
    double relaxation;  // the relaxation's bound, independent of Cbc
    IterationCount::Shared* iterations;
    std::atomic<long> nodes = 0;
  };
  explicit Listener(Shared& shared) : shared_(&shared) {}
  CbcEventHandler* clone() const override { return new Listener(*this); }
  CbcAction event(CbcEvent) override {
    const CbcModel* model = getModel();
    // In a heuristic's own tree objective, bound and columns are not the model's.
    if (model->parentModel() != nullptr) return noAction;
    const double objective = model->getObjValue();
    if (model->bestSolution() != nullptr && objective < std::min(shared_->best, kHuge)) {
      shared_->best = objective;
      shared_->tell->incumbent(*shared_->model, model->bestSolution());
    }
    // Before the root is solved and when the tree is empty, this is the incumbent's objective, not a bound.
    const double bound = model->getBestPossibleObjValue();
    const bool is_bound = std::abs(bound) < kHuge && bound < objective;
    shared_->nodes = model->getNodeCount();
    shared_->tell->progress(
        (is_bound ? std::max(bound, shared_->relaxation) : shared_->relaxation) + shared_->constant,
        shared_->nodes, shared_->iterations->used);
    return noAction;
  }

 private:
  Shared* shared_;
};

// Solves the linear relaxation in the child and sends messages: status, objective, iterations, and at an
// optimum x, reduced costs and tight cuts.
class LinearProgram {
 public:
  LinearProgram(const Model& model, const LpOptions& options, Parent& parent)
      : model_(model), options_(options), parent_(parent) {
    simplex_.setLogLevel(0);
    load(simplex_, model);
    iterations_.limit = options.work_limit;
    iterations_.at_limit = [this] {
      if (!reached_) send(LpStatus::stopped);
      parent_.finish(0);
    };
    IterationCount counter(iterations_);
    simplex_.passInEventHandler(&counter);
    constexpr int kWhenStuck = 50;  // Clp decides when to perturb
    if (options.perturb) simplex_.setPerturbation(kWhenStuck);
  }

  void solve() {
    ClpSolve how;
    how.setSolveType(ClpSolve::useDual);
    how.setPresolveType(ClpSolve::presolveOn);
    simplex_.initialSolve(how);
    if (simplex_.isProvenPrimalInfeasible()) return send(LpStatus::infeasible);
    if (!simplex_.isProvenOptimal()) return send(LpStatus::stopped);
    reached();
    if (options_.cuts) cut();
  }

 private:
  // Adds rounds of cuts; stops after kIdle rounds that hardly raise the bound.
  void cut() {
    constexpr int kRounds = 60;
    constexpr int kIdle = 3;
    constexpr double kHardly = 1e-4;
    for (int round = 0, idle = 0; round < kRounds && idle < kIdle; ++round) {
      const double before = simplex_.objectiveValue();
      const double* x = simplex_.primalColumnSolution();
      const std::vector<Linear> cuts = options_.cuts(std::vector<double>(x, x + model_.columns()));
      if (cuts.empty()) return;
      for (const Linear& one : cuts) add(one);
      simplex_.dual();
      if (simplex_.isProvenPrimalInfeasible()) return send(LpStatus::infeasible);
      if (!simplex_.isProvenOptimal()) return;
      reached();
      const double rise = simplex_.objectiveValue() - before;
      idle = rise > kHardly * std::abs(before) ? 0 : idle + 1;
    }
  }

  void add(const Linear& cut) {
    std::vector<int> columns;
    std::vector<double> entries;
    for (const auto& [column, coefficient] : cut.terms()) {
      const auto found = std::find(columns.begin(), columns.end(), column);
      if (found == columns.end()) {
        columns.push_back(column);
        entries.push_back(coefficient);
      } else {
        entries[static_cast<std::size_t>(found - columns.begin())] += coefficient;
      }
    }
    simplex_.addRow(static_cast<int>(columns.size()), columns.data(), entries.data(), 1 - cut.constant(),
                    COIN_DBL_MAX);
    cuts_.push_back(cut);
  }

  void reached() {
    reached_ = true;
    send(LpStatus::optimal);
  }

  void send(LpStatus status) {
    std::vector<double> numbers = {static_cast<double>(static_cast<int>(status)),
                                   simplex_.objectiveValue() + model_.cost_constant,
                                   static_cast<double>(iterations_.used)};
    if (status == LpStatus::optimal) {
      const auto n = static_cast<std::size_t>(model_.columns());
      numbers.insert(numbers.end(), simplex_.primalColumnSolution(), simplex_.primalColumnSolution() + n);
      numbers.insert(numbers.end(), simplex_.dualColumnSolution(), simplex_.dualColumnSolution() + n);
      for (const Linear& cut : tight_cuts()) {
        numbers.push_back(cut.constant());
        numbers.push_back(static_cast<double>(cut.terms().size()));
        for (const auto& [column, coefficient] : cut.terms()) {
          numbers.push_back(column);
          numbers.push_back(coefficient);
        }
      }
    }
    parent_.send(to_message(numbers));
  }

  std::vector<Linear> tight_cuts() const {
    constexpr double kSlack = 1e-6;
    std::vector<Linear> tight;
    const double* activity = simplex_.primalRowSolution() + model_.rows();
    for (std::size_t i = 0; i < cuts_.size(); ++i)
      if (activity[i] + cuts_[i].constant() < 1 + kSlack) tight.push_back(cuts_[i]);
    return tight;
  }

  const Model& model_;
  const LpOptions& options_;
  Parent& parent_;
  ClpSimplex simplex_;
  IterationCount::Shared iterations_;
  bool reached_ = false;  // an optimum was found, with all rows so far or fewer
  std::vector<Linear> cuts_;
};

void read_message(const std::vector<double>& numbers, std::size_t columns, LpResult& result) {
  result.status = static_cast<LpStatus>(static_cast<int>(numbers[0]));
  result.work = static_cast<long>(numbers[2]);
  if (result.status != LpStatus::optimal) return;
  result.objective = numbers[1];
  const double* next = numbers.data() + 3;
  result.x.assign(next, next + columns);
  next += columns;
  result.reduced_costs.assign(next, next + columns);
  next += columns;
  result.cuts.clear();
  for (const double* end = numbers.data() + numbers.size(); next != end;) {
    Linear& cut = result.cuts.emplace_back();
    cut.add(*next++, Term::fixed(1));
    for (auto terms = static_cast<long>(*next++); terms > 0; --terms, next += 2)
      cut.add(next[1], Term::of(static_cast<int>(next[0])));
  }
}

std::vector<std::string> words_for_cbc(const Model& model, const MipOptions& options) {
  std::vector<std::string> words = {"poet",
                                    "-log",
                                    "0",
                                    "-ratioGap",
                                    fmt::to_string(options.relative_gap),
                                    "-allowableGap",
                                    fmt::to_string(std::max(1e-9, options.absolute_gap))};
  if (options.node_limit >= 0) words.insert(words.end(), {"-maxNodes", std::to_string(options.node_limit)});
  if (options.cutoff < kInfinity)
    words.insert(words.end(), {"-cutoff", fmt::to_string(options.cutoff - model.cost_constant)});
  words.insert(words.end(), {"-preprocess", "off", "-knapsack", "off"});  // both prove false bounds
  if (!options.heuristics) words.insert(words.end(), {"-heuristicsOnOff", "off"});
  if (!options.probing) words.insert(words.end(), {"-probing", "off"});
  words.insert(words.end(), {"-solve", "-quit"});
  return words;
}

/// Loads the model; columns get names if `options` has a start, which refers to them by name.
void load_mip(OsiClpSolverInterface& osi, const Model& model, const MipOptions& options) {
  osi.messageHandler()->setLogLevel(0);
  osi.getModelPtr()->setLogLevel(0);
  load(osi, model);
  for (int c = 0; c < model.columns(); ++c)
    if (model.integer[static_cast<std::size_t>(c)]) osi.setInteger(c);
  if (!options.start.empty()) {
    osi.setIntParam(OsiNameDiscipline, 2);
    for (int c = 0; c < model.columns(); ++c) osi.setColName(c, fmt::format("c{}", c));
  }
}

/// Runs CbcMain with the options, quietly. `data` must outlive the model.
void run_cbc(CbcModel& cbc, CbcSolverUsefulData& data, const Model& model, const MipOptions& options,
             Listener& listener) {
  cbc.setLogLevel(0);
  cbc.messageHandler()->setLogLevel(0);
  cbc.solver()->messageHandler()->setLogLevel(0);
  data.noPrinting_ = true;
  CbcMain0(cbc, data);
  cbc.setLogLevel(0);
  cbc.passInEventHandler(&listener);
  if (!options.start.empty()) {
    std::vector<std::pair<std::string, double>> start;
    for (const auto& [column, value] : options.start) start.emplace_back(fmt::format("c{}", column), value);
    cbc.setMIPStart(start);
  }
  const std::vector<std::string> words = words_for_cbc(model, options);
  std::vector<const char*> arguments;
  for (const std::string& word : words) arguments.push_back(word.c_str());
  const auto no_callback = [](CbcModel*, int) { return 0; };
  CbcMain1(static_cast<int>(arguments.size()), arguments.data(), cbc, no_callback, data);
}

bool is_finished(const CbcModel& cbc) { return cbc.status() == 0 && cbc.secondaryStatus() <= 2; }

MipStatus status_of(const CbcModel& cbc) {
  if (cbc.bestSolution() != nullptr)
    return is_finished(cbc) && cbc.isProvenOptimal() ? MipStatus::optimal : MipStatus::feasible;
  const bool none = cbc.isProvenInfeasible() || (cbc.status() == 0 && cbc.secondaryStatus() <= 1);
  return none ? MipStatus::infeasible : MipStatus::unknown;
}

/// Returns Cbc's bound, or that of the relaxation if Cbc has none.
double bound_of(const CbcModel& cbc, double relaxation) {
  // The rest of the tree is infeasible or no better than the incumbent. The reported bound is then stale.
  constexpr int kNothingBetter = 1;
  const bool stale =
      cbc.bestSolution() != nullptr && is_finished(cbc) && cbc.secondaryStatus() == kNothingBetter;
  const double bound = stale ? cbc.getObjValue() : cbc.getBestPossibleObjValue();
  return std::abs(bound) >= kHuge ? relaxation : std::max(bound, relaxation);
}

}  // namespace

LpResult solve_lp(const Model& model, const LpOptions& options) {
  LpResult result;
  if (model.contradiction()) {
    result.status = LpStatus::infeasible;
    return result;
  }
  ChildWatch watch;
  watch.time_limit_seconds = options.time_limit_seconds;
  watch.limits_work = true;
  if (options.stop) watch.keep_going = [&options] { return !options.stop(); };
  watch.receive = [&](std::string&& message) {
    read_message(to_numbers(message), static_cast<std::size_t>(model.columns()), result);
    return true;
  };
  const ChildWork work = [&](Parent& parent) {
    LinearProgram(model, options, parent).solve();
    return 0;
  };
  (void)run_child(work, watch, kSolverChild);
  return result;
}

LpResult solve_lp(const Model& model, double time_limit_seconds, const std::function<bool()>& stop,
                  long work_limit) {
  LpOptions options;
  options.time_limit_seconds = time_limit_seconds;
  options.stop = stop;
  options.work_limit = work_limit;
  return solve_lp(model, options);
}

void cbc_solve(const Model& model, const MipOptions& options, Tell& tell) {
  const double constant = model.cost_constant;
  OsiClpSolverInterface osi;
  load_mip(osi, model, options);
  IterationCount::Shared iterations;
  Listener::Shared news{&tell, &model, kInfinity, constant, -kInfinity, &iterations, 0};
  iterations.limit = options.work_limit;
  iterations.at_limit = [&] { tell.out_of_work(news.nodes, iterations.used); };
  IterationCount counter(iterations);
  osi.getModelPtr()->passInEventHandler(&counter);

  // Solves the relaxation first: its bound does not depend on Cbc, and Cbc never gets an infeasible or
  // unbounded relaxation.
  osi.initialSolve();
  if (osi.isProvenPrimalInfeasible()) {
    tell.result(MipStatus::infeasible, -kInfinity, 0, iterations.used);
    return;
  }
  if (osi.isProvenDualInfeasible()) {
    tell.result(MipStatus::unknown, -kInfinity, 0, iterations.used);
    return;
  }
  if (osi.isProvenOptimal()) {
    news.relaxation = osi.getObjValue() - 1e-9 * std::abs(osi.getObjValue());
    tell.progress(news.relaxation + constant, 0, iterations.used);
  }

  CbcSolverUsefulData data;
  CbcModel cbc(osi);
  Listener listener(news);
  run_cbc(cbc, data, model, options, listener);
  if (cbc.bestSolution() != nullptr) tell.incumbent(model, cbc.bestSolution());
  tell.result(status_of(cbc), bound_of(cbc, news.relaxation) + constant, cbc.getNodeCount(), iterations.used);
}

std::string cbc_version() { return "CBC " CBC_VERSION; }

}  // namespace poet
