#include "poet/runtime/profile/op_times.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <utility>

#include "poet/base/median.h"
#include "poet/base/quantile.h"
#include "poet/cost/tabulate.h"
#include "poet/cost/variation.h"
#include "poet/runtime/executor/memory.h"

namespace poet::runtime {
namespace {

constexpr int kLeastRepetitions = 3;
constexpr int kMostRepetitions = 2000;
constexpr std::uint64_t kSeed = 1;
constexpr std::size_t kSwept = std::size_t{64} << 20;  // larger than the caches of the boards in question

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

double relative_spread(const std::vector<double>& numbers, double centre) {
  std::vector<double> distances;
  for (const double number : numbers) distances.push_back(std::abs(number - centre));
  return centre > 0 ? median(std::move(distances)) / centre : 0;
}

/// Ops of one kind and shape class, and every measured run of any of them.
struct Class {
  OpTime time;
  std::vector<double> runs;
  std::vector<double> parts;  // of the step that each run was in; empty when not in context
};

/// The classes of a graph, and which one each op is in. `input` ops are in none: reading data is no compute.
class Classes {
 public:
  explicit Classes(const Graph& graph) : of_(graph.ops.size(), -1) {
    std::map<std::pair<std::string, std::string>, int> known;
    for (const OpId op : ids<OpId>(graph.ops.size())) {
      const std::string& kind = graph.ops[op].kind;
      if (kind == "input") continue;
      const std::string shapes = shape_class(graph, op);
      const auto [place, is_new] = known.emplace(std::pair(kind, shapes), std::ssize(classes_));
      if (is_new) {
        classes_.emplace_back();
        classes_.back().time = {.kind = kind, .shape_class = shapes, .example = op};
      }
      of_[op] = place->second;
      ++classes_[static_cast<std::size_t>(place->second)].time.ops;
    }
  }

  [[nodiscard]] bool has(OpId op) const { return of_[op] >= 0; }
  Class& of(OpId op) { return classes_[static_cast<std::size_t>(of_[op])]; }
  std::vector<Class>& all() { return classes_; }

  [[nodiscard]] std::vector<OpTime> close() {
    std::vector<OpTime> times;
    for (Class& c : classes_) {
      c.time.samples = static_cast<int>(c.runs.size());
      if (!c.runs.empty()) {
        c.time.median = Seconds(median(c.runs));
        c.time.spread = relative_spread(c.runs, c.time.median.value());
        const std::vector<double>& figures = c.parts.empty() ? c.runs : c.parts;
        const double middle = median(figures);
        if (middle > 0) c.time.p95_over_median = quantile(figures, kHighQuantile) / middle;
      }
      times.push_back(c.time);
    }
    return times;
  }

 private:
  IdVector<OpId, int> of_;
  std::vector<Class> classes_;
};

int repetitions_for(Seconds budget, double one) {
  const double fitting = one > 0 ? budget.value() / one : kMostRepetitions;
  return static_cast<int>(std::clamp<double>(fitting, kLeastRepetitions, kMostRepetitions));
}

void measure_in_steps(TrainingStep& step, const OpTimesOptions& options, Classes& classes, OpTimes& found) {
  step.run();  // touches the memory
  const Clock::time_point second = Clock::now();
  step.run();
  found.repetitions = repetitions_for(options.budget, seconds_since(second));
  std::vector<double> makespans;
  for (int r = 0; r < found.repetitions; ++r) {
    if (options.interrupted && options.interrupted() && r >= kLeastRepetitions) break;
    step.run();
    makespans.push_back(step.makespan().value());
    const std::vector<PreparedStep>& steps = step.steps();
    for (std::size_t i = 0; i < steps.size(); ++i)
      if (steps[i].kind == StepKind::compute && classes.has(steps[i].op)) {
        classes.of(steps[i].op).runs.push_back(step.seconds()[i]);
        classes.of(steps[i].op).parts.push_back(step.seconds()[i] / makespans.back());
      }
    if (options.on_repetition) options.on_repetition(r + 1, found.repetitions);
  }
  found.repetitions = static_cast<int>(makespans.size());
  found.step = Seconds(median(makespans));
  found.step_p95_over_median = quantile(std::move(makespans), kHighQuantile) / found.step.value();
}

/// What delays a step comes now in this op, now in that one: medians of single ops add up to less than the
/// median step. All are scaled by one factor, so that they add up to it.
void scale_to(Seconds step, std::vector<OpTime>& times) {
  Seconds sum{};
  for (const OpTime& time : times) sum += static_cast<double>(time.ops) * time.median;
  if (!(sum > Seconds(0))) return;
  const double factor = step / sum;
  for (OpTime& time : times) time.median = factor * time.median;
}

/// Ops weigh by the time that they take: those of some microseconds vary most and matter least.
double variation_of(const std::vector<OpTime>& times) {
  double weighted = 0;
  double sum = 0;
  for (const OpTime& time : times) {
    const double seconds = time.ops * time.median.value();
    weighted += seconds * time.p95_over_median;
    sum += seconds;
  }
  return sum > 0 ? weighted / sum : 1;
}

/// Memory of one op's own operands and scratch.
class OwnOperands {
 public:
  OwnOperands(const Graph& graph, const Op& op, Bytes workspace)
      : memory_(total(graph, op) + rounded_up(workspace, kLine)) {
    std::byte* next = memory_.bytes().data();
    std::fill(memory_.bytes().begin(), memory_.bytes().end(), std::byte{0});
    const auto take = [&next](Bytes bytes) {
      std::byte* here = next;
      next += rounded_up(bytes, kLine).value();
      return here;
    };
    std::map<ValueId, void*> known;
    const auto addresses = [&](const std::vector<ValueId>& values, std::vector<void*>& list) {
      for (const ValueId v : values) {
        const ValueId s = storage(graph, v);
        if (!known.contains(s)) known[s] = take(graph.values[s].bytes);
        list.push_back(known[s]);
      }
    };
    addresses(op.inputs, inputs_);
    addresses(op.outputs, outputs_);
    addresses(op.updates, updates_);
    call_ = {inputs_, outputs_, updates_, take(workspace), 1, kSeed};
  }
  [[nodiscard]] const KernelCall& call() const { return call_; }

 private:
  static constexpr Bytes kLine{64};
  static Bytes total(const Graph& graph, const Op& op) {
    Bytes sum{};
    for (const std::vector<ValueId>* list : {&op.inputs, &op.outputs, &op.updates})
      for (const ValueId v : *list) sum += rounded_up(graph.values[storage(graph, v)].bytes, kLine);
    return sum;
  }
  Memory memory_;
  std::vector<void*> inputs_, outputs_, updates_;
  KernelCall call_;
};

void sweep_caches(std::vector<char>& swept) {
  for (std::size_t i = 0; i < swept.size(); i += 64) ++swept[i];
}

void measure_alone(const Graph& graph, const OpTimesOptions& options, Classes& classes, OpTimes& found) {
  std::vector<char> swept(kSwept, 0);
  const Seconds each =
      (1.0 / static_cast<double>(std::max<std::size_t>(1, classes.all().size()))) * options.budget;
  found.repetitions = kLeastRepetitions;
  int done = 0;
  for (Class& c : classes.all()) {
    const bool hurry = options.interrupted && options.interrupted();
    const std::unique_ptr<Kernel> kernel = make_kernel(graph, c.time.example, options.kernels);
    const OwnOperands operands(graph, graph.ops[c.time.example], kernel->workspace());
    kernel->run(operands.call());
    const Clock::time_point begin = Clock::now();
    while (std::ssize(c.runs) < kLeastRepetitions ||
           (!hurry && seconds_since(begin) < each.value() && std::ssize(c.runs) < kMostRepetitions)) {
      sweep_caches(swept);
      const Clock::time_point run = Clock::now();
      kernel->run(operands.call());
      c.runs.push_back(seconds_since(run));
    }
    if (options.on_repetition) options.on_repetition(++done, static_cast<int>(classes.all().size()));
  }
}

}  // namespace

OpTimes measure_ops(const Graph& training, TrainingStep* step, const OpTimesOptions& options) {
  Classes classes(training);
  for (Class& c : classes.all()) {
    c.time.workspace = make_kernel(training, c.time.example, options.kernels)->workspace();
  }
  OpTimes found;
  found.in_context = step != nullptr;
  if (step != nullptr)
    measure_in_steps(*step, options, classes, found);
  else
    measure_alone(training, options, classes, found);
  found.times = classes.close();
  found.op_p95_over_median = variation_of(found.times);
  if (found.in_context) scale_to(found.step, found.times);
  return found;
}

}  // namespace poet::runtime
