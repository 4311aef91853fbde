#pragma once

// A plan as pictures tell it: which value was in RAM from when to when, what ran and what moved. Derived from
// the steps that the verifier replayed and from the times that it gave them.

#include <cstddef>
#include <string>
#include <vector>

#include "poet/report/picture.h"

namespace poet {

enum class Axis { time, step };

/// home, load: page-outs and page-ins of persistent values that live on storage.
enum class Action { compute, recompute, page_out, page_in, wait, home, load };
inline constexpr std::size_t kActions = 7;

[[nodiscard]] constexpr bool is_transfer(Action action) {
  return action == Action::page_out || action == Action::page_in || action == Action::home ||
         action == Action::load;
}

struct Event {
  Action action;
  std::size_t step = 0;
  OpId op;                   // compute, recompute
  ValueId value;             // the others
  Trace::Interval interval;  // seconds: of the engine, of the channel, or of the wait
  Bytes bytes{};             // of the results, or of the value
  Joules energy{};           // without waking up
};

/// One allocation of a value.
struct LiveInterval {
  ValueId value;
  Action from = Action::compute;  // or recompute, page_in or load: how it got there
  std::size_t begin = 0;          // the step that takes the memory
  std::size_t end = 0;            // the step that gives it back; the number of replayed steps if none does
};

struct History {
  std::vector<Event> events;       // in order of steps; waits that took no time are left out
  std::vector<LiveInterval> live;  // by begin
  std::vector<Bytes> loaded;       // persistent values from storage in RAM while each step runs
  std::size_t steps = 0;           // that were replayed; all of them unless a rule was violated
  Trace::Interval whole;           // seconds, from 0 to the last thing that happened
  double computing = 0;            // seconds
  double transferring = 0;         // seconds of the channel, waking up included
  std::size_t peak_step = 0;       // the first at which RAM is highest
  Bytes peak{};                    // persistent bytes included
};

/// O(steps + edges).
[[nodiscard]] History history_of(const Picture& picture);

/// Moments of a picture on its axis: seconds, or numbers of steps. Step k takes the place from k to k + 1.
class Scale {
 public:
  Scale(const Trace& trace, const History& history, Axis axis)
      : steps_(trace.steps), whole_(history.whole), axis_(axis) {}

  [[nodiscard]] double begin(std::size_t step) const;  // also of the step after the last
  [[nodiscard]] double end(std::size_t step) const;
  /// An event's place. On the axis of steps a transfer reaches from the step that issues it to the one during
  /// which it ends.
  [[nodiscard]] Trace::Interval place(const Event& event) const;
  [[nodiscard]] double length() const;

 private:
  [[nodiscard]] double at(double seconds) const;

  const std::vector<Trace::Interval>& steps_;
  const Trace::Interval whole_;
  const Axis axis_;
};

/// What is wrong with the plan or, if nothing, with its addresses; empty when nothing is.
[[nodiscard]] std::string breach_of(const Picture& picture);

/// "resnet18_cifar on m4", or what the instance has of it.
[[nodiscard]] std::string subject_of(const Instance& instance);

/// Valid UTF-8 in one line without control characters: names come from files. What is not is a "?"; longer
/// texts than `longest` characters have "..." at their end.
[[nodiscard]] std::string printable(const std::string& text, std::size_t longest);
/// The same of the name of an op or value, shortened as layer_name() does, with an ellipsis or, in ASCII,
/// "~".
[[nodiscard]] std::string printable_name(const std::string& name, std::size_t longest, bool unicode = true);

}  // namespace poet
