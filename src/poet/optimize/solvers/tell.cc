#include "poet/optimize/solvers/tell.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

namespace poet {
namespace {

enum Kind { kIncumbent, kProgress, kResult, kOutOfWork };  // the first number of each message

// Progress in nodes alone is reported after this many.
constexpr long kNodesBetweenNews = 100;

double number(long count) { return static_cast<double>(count); }

std::vector<double> rounded(const Model& model, const double* x) {
  constexpr double kTolerance = 1e-6;
  const std::vector<double> raw(x, x + model.columns());
  std::vector<double> point = raw;
  for (std::size_t c = 0; c < point.size(); ++c)
    if (model.integer[c]) point[c] = std::round(point[c]);
  return violation(model, point) <= kTolerance ? point : raw;
}

}  // namespace

std::string to_message(const std::vector<double>& numbers) {
  std::string message(numbers.size() * sizeof(double), '\0');
  if (!message.empty()) std::memcpy(message.data(), numbers.data(), message.size());
  return message;
}

std::vector<double> to_numbers(const std::string& message) {
  std::vector<double> numbers(message.size() / sizeof(double));
  if (!numbers.empty()) std::memcpy(numbers.data(), message.data(), numbers.size() * sizeof(double));
  return numbers;
}

void Tell::incumbent(const Model& model, const double* x) {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::vector<double> numbers = rounded(model, x);
  const double objective = cost_of(model, numbers.data());
  if (!(objective < objective_)) return;
  objective_ = objective;
  numbers.insert(numbers.begin(), {kIncumbent, objective});
  parent_.send(to_message(numbers));
}

void Tell::progress(double bound, long nodes, long work) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (bound == bound_ && nodes < nodes_ + kNodesBetweenNews) return;
  bound_ = bound;
  nodes_ = nodes;
  parent_.send(to_message({kProgress, bound, number(nodes), number(work)}));
}

void Tell::result(MipStatus status, double bound, long nodes, long work) {
  const std::lock_guard<std::mutex> lock(mutex_);
  parent_.send(to_message({kResult, number(static_cast<long>(status)), bound, number(nodes), number(work)}));
}

void Tell::out_of_work(long nodes, long work) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    parent_.send(to_message({kOutOfWork, number(nodes), number(work)}));
  }
  parent_.finish(0);
}

MipResult gather(const MipOptions& options, const std::function<void(Tell&)>& solver) {
  MipResult result;
  const auto best = [&result] { return result.x.empty() ? kInfinity : result.objective; };
  const auto wanted = [&] { return !options.keep_going || options.keep_going(best(), result.bound); };
  bool ended = false;
  ChildWatch watch;
  watch.time_limit_seconds = options.time_limit_seconds;
  watch.limits_work = true;
  watch.keep_going = wanted;
  watch.receive = [&](std::string&& message) {
    const std::vector<double> numbers = to_numbers(message);
    const auto count = [&numbers](std::size_t i) { return static_cast<long>(numbers[i]); };
    switch (static_cast<Kind>(count(0))) {
      case kIncumbent:
        result.objective = numbers[1];
        result.x.assign(numbers.begin() + 2, numbers.end());
        return wanted();
      case kProgress:
        result.bound = numbers[1];
        result.nodes = std::max(result.nodes, count(2));
        result.work = std::max(result.work, count(3));
        return wanted();
      case kResult:
        ended = true;
        result.status = static_cast<MipStatus>(count(1));
        result.bound = std::max(result.bound, numbers[2]);
        result.nodes = count(3);
        result.work = count(4);
        return true;
      case kOutOfWork:
        result.nodes = std::max(result.nodes, count(1));
        result.work = count(2);
        return true;
    }
    return false;
  };
  const ChildEnd end = run_child(
      [&solver](Parent& parent) {
        Tell tell(parent);
        solver(tell);
        return 0;
      },
      watch, kSolverChild);
  result.solver_failed = end.how == ChildEnd::How::lost;
  if (!ended) result.status = result.x.empty() ? MipStatus::unknown : MipStatus::feasible;
  // A bound above the objective is due to tolerances.
  if (!result.x.empty()) result.bound = std::min(result.bound, result.objective);
  return result;
}

}  // namespace poet
