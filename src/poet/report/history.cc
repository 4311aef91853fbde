#include "poet/report/history.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>

#include "poet/graph/dataflow.h"
#include "poet/report/layer_name.h"

namespace poet {
namespace {

class Historian {
 public:
  explicit Historian(const Picture& picture)
      : picture_(picture),
        instance_(picture.plan.instance),
        graph_(instance_.graph),
        flow_(dataflow(graph_)),
        computed_(graph_.ops.size(), 0),
        open_(graph_.values.size(), -1) {}

  History run() {
    const std::vector<Step>& steps = picture_.plan.plan.steps;
    history_.steps = std::min(steps.size(), picture_.trace.steps.size());
    for (number_ = 0; number_ < history_.steps; ++number_) {
      take(steps[number_]);
      if (picture_.trace.ram[number_] > history_.peak) {
        history_.peak = picture_.trace.ram[number_];
        history_.peak_step = number_;
      }
      history_.whole.end = std::max(history_.whole.end, now().end);
    }
    // In the stretch that was replayed; a step that broke a rule may have begun a transfer.
    for (const Trace::TimedTransfer& transfer : picture_.trace.channel) {
      if (transfer.step >= history_.steps) continue;
      history_.whole.end = std::max(history_.whole.end, transfer.interval.end);
      history_.transferring += transfer.interval.end - transfer.interval.begin;
    }
    for (LiveInterval& live : history_.live) {
      if (live.end == kOpen) live.end = history_.steps;
    }
    add_loaded();
    return std::move(history_);
  }

 private:
  static constexpr std::size_t kOpen = static_cast<std::size_t>(-1);

  [[nodiscard]] const Trace::Interval& now() const { return picture_.trace.steps[number_]; }

  void take(const Step& step) {
    switch (step.kind) {
      case StepKind::compute:
        compute(step.op);
        break;
      case StepKind::page_in:
        begin(step.value, is_home(step.value) ? Action::load : Action::page_in);
        move(step, is_home(step.value) ? Action::load : Action::page_in,
             instance_.costs.values[step.value].page_in);
        break;
      case StepKind::page_out:
        move(step, is_home(step.value) ? Action::home : Action::page_out,
             instance_.costs.values[step.value].page_out);
        break;
      case StepKind::wait:
        wait(step);
        break;
      case StepKind::free:
        if (open_[step.value] >= 0) history_.live[static_cast<std::size_t>(open_[step.value])].end = number_;
        open_[step.value] = -1;
        break;
    }
  }

  [[nodiscard]] bool is_home(ValueId v) const { return graph_.values[v].paged; }

  void add_loaded() {
    history_.loaded.assign(history_.steps + 1, Bytes(0));
    for (const LiveInterval& live : history_.live) {
      if (live.from != Action::load) continue;
      history_.loaded[live.begin] += instance_.costs.values[live.value].bytes;
      history_.loaded[live.end] -= instance_.costs.values[live.value].bytes;
    }
    for (std::size_t i = 1; i < history_.steps; ++i) history_.loaded[i] += history_.loaded[i - 1];
    history_.loaded.pop_back();
  }

  void compute(OpId op) {
    const Action action = computed_[op] != 0 ? Action::recompute : Action::compute;
    computed_[op] = 1;
    Event event{action, number_, op, ValueId(), now(), Bytes(), instance_.costs.ops[op].energy};
    for (const ValueId v : flow_.writes[op]) {
      event.bytes += instance_.costs.values[v].bytes;
      if (open_[v] < 0) begin(v, action);
    }
    history_.computing += now().end - now().begin;
    history_.events.push_back(event);
  }

  void begin(ValueId v, Action from) {
    open_[v] = static_cast<int>(history_.live.size());
    history_.live.push_back({v, from, number_, kOpen});
  }

  void move(const Step& step, Action action, const TransferCost& cost) {
    const std::vector<Trace::TimedTransfer>& channel = picture_.trace.channel;
    while (moved_ < channel.size() && channel[moved_].step < number_) ++moved_;
    const Trace::Interval interval =
        moved_ < channel.size() && channel[moved_].step == number_ ? channel[moved_].interval : now();
    const Bytes bytes = instance_.costs.values[step.value].bytes;
    history_.events.push_back({action, number_, OpId(), step.value, interval, bytes, cost.energy});
  }

  void wait(const Step& step) {
    const double seconds = now().end - now().begin;
    if (seconds <= 0) return;
    const Bytes bytes = instance_.costs.values[step.value].bytes;
    const Joules energy = Seconds(seconds) * instance_.costs.timing.idle;
    history_.events.push_back({Action::wait, number_, OpId(), step.value, now(), bytes, energy});
  }

  const Picture& picture_;
  const Instance& instance_;
  const Graph& graph_;
  const Dataflow flow_;
  IdVector<OpId, char> computed_;
  IdVector<ValueId, int> open_;  // the running allocation; -1: not in RAM
  std::size_t moved_ = 0;        // moves of the channel that are told
  std::size_t number_ = 0;       // of the step at hand
  History history_;
};

/// What is no printable UTF-8 is a "?".
std::vector<std::string> characters_of(const std::string& text) {
  std::vector<std::string> characters;
  for (std::size_t i = 0; i < text.size();) {
    const auto lead = static_cast<unsigned char>(text[i]);
    const std::size_t size = lead < 0x80                   ? 1
                             : lead >= 0xC2 && lead < 0xE0 ? 2
                             : lead >= 0xE0 && lead < 0xF0 ? 3
                             : lead >= 0xF0 && lead < 0xF5 ? 4
                                                           : 0;
    bool good = size > 0 && i + size <= text.size() && lead >= 0x20 && lead != 0x7F;
    for (std::size_t k = 1; good && k < size; ++k)
      good = (static_cast<unsigned char>(text[i + k]) & 0xC0) == 0x80;
    if (good && size > 1) {
      const auto next = static_cast<unsigned char>(text[i + 1]);
      // Overlong forms, surrogates, beyond Unicode, and the control characters U+0080 to U+009F.
      good = !(lead == 0xE0 && next < 0xA0) && !(lead == 0xED && next >= 0xA0) &&
             !(lead == 0xF0 && next < 0x90) && !(lead == 0xF4 && next >= 0x90) &&
             !(lead == 0xC2 && next < 0xA0);
      // U+FFFE and U+FFFF are no characters to XML.
      if (lead == 0xEF && next == 0xBF) good = good && static_cast<unsigned char>(text[i + 2]) < 0xBE;
    }
    characters.push_back(good ? text.substr(i, size) : "?");
    i += good ? size : 1;
  }
  return characters;
}

}  // namespace

History history_of(const Picture& picture) { return Historian(picture).run(); }

double Scale::begin(std::size_t step) const {
  if (axis_ == Axis::step) return static_cast<double>(step);
  return step < steps_.size() ? steps_[step].begin : whole_.end;
}

double Scale::end(std::size_t step) const {
  if (axis_ == Axis::step) return static_cast<double>(step + 1);
  return step < steps_.size() ? steps_[step].end : whole_.end;
}

double Scale::length() const { return axis_ == Axis::step ? static_cast<double>(steps_.size()) : whole_.end; }

Trace::Interval Scale::place(const Event& event) const {
  if (axis_ == Axis::time) return event.interval;
  const double first = static_cast<double>(event.step);
  if (!is_transfer(event.action)) return {first, first + 1};
  const double begin = std::max(first, at(event.interval.begin));
  return {begin, std::max(begin + 1, at(event.interval.end))};
}

// Where on the axis of steps a moment lies: in the first step that is not over by then.
double Scale::at(double seconds) const {
  const auto step = std::partition_point(steps_.begin(), steps_.end(),
                                         [&](const Trace::Interval& one) { return one.end < seconds; });
  const double number = static_cast<double>(step - steps_.begin());
  if (step == steps_.end() || step->end <= step->begin) return number;
  return number + std::clamp((seconds - step->begin) / (step->end - step->begin), 0.0, 1.0);
}

std::string breach_of(const Picture& picture) {
  return picture.report.valid ? picture.arena.violation : picture.report.violation;
}

std::string subject_of(const Instance& instance) {
  const std::string& network = instance.model.empty() ? instance.graph.name : instance.model;
  const std::string name = network.empty() ? "unnamed network" : network;
  return instance.platform.empty() ? name : name + " on " + instance.platform;
}

std::string printable(const std::string& text, std::size_t longest) {
  std::vector<std::string> characters = characters_of(text);
  if (characters.size() > longest) {
    characters.resize(std::max<std::size_t>(longest, 4) - 3);
    characters.emplace_back("...");
  }
  return fmt::format("{}", fmt::join(characters, ""));
}

std::string printable_name(const std::string& name, std::size_t longest, bool unicode) {
  return fmt::format("{}", fmt::join(layer_name(characters_of(name), longest, unicode ? "\u2026" : "~"), ""));
}

}  // namespace poet
