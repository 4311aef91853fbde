#pragma once

// The history of a plan for pictures: live ranges of values, computations and transfers, derived from the
// steps that the verifier replayed and their times.

#include <cstddef>
#include <string>
#include <vector>

#include "poet/report/picture.h"

namespace poet {

enum class Axis { time, step };

/// home, load: page-outs and page-ins of persistent values at home on storage.
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
  Action from = Action::compute;  // or recompute, page_in or load: the action that allocated it
  std::size_t begin = 0;          // the step that allocates it
  std::size_t end = 0;            // the step that frees it; the number of replayed steps if none does
};

struct History {
  std::vector<Event> events;       // in order of steps, without waits that took no time
  std::vector<LiveInterval> live;  // by begin
  std::vector<Bytes> loaded;       // persistent values from storage in RAM while each step runs
  std::size_t steps = 0;           // replayed; all unless a rule was violated
  Trace::Interval whole;           // seconds, from 0 to the end of the last event
  double computing = 0;            // seconds
  double transferring = 0;         // seconds of the channel, waking up included
  std::size_t peak_step = 0;       // the first at which RAM is highest
  Bytes peak{};                    // persistent bytes included
};

/// O(steps + edges).
[[nodiscard]] History history_of(const Picture& picture);

/// Positions on a picture's axis: seconds, or numbers of steps, where step k extends from k to k + 1.
class Scale {
 public:
  Scale(const Trace& trace, const History& history, Axis axis)
      : steps_(trace.steps), whole_(history.whole), axis_(axis) {}

  [[nodiscard]] double begin(std::size_t step) const;  // also of the step after the last
  [[nodiscard]] double end(std::size_t step) const;
  /// Returns the interval of an event. On the axis of steps a transfer extends from the step that issues it
  /// to the one during which it ends.
  [[nodiscard]] Trace::Interval place(const Event& event) const;
  [[nodiscard]] double length() const;

 private:
  [[nodiscard]] double at(double seconds) const;

  const std::vector<Trace::Interval>& steps_;
  const Trace::Interval whole_;
  const Axis axis_;
};

/// Returns the rule violated by the plan or else by its addresses; empty if both are valid.
[[nodiscard]] std::string breach_of(const Picture& picture);

/// Returns "resnet18_cifar on m4", or the part of it that the instance has.
[[nodiscard]] std::string subject_of(const Instance& instance);

/// Returns `text` (names come from files) as valid UTF-8 on one line without control characters; invalid
/// bytes become "?". Text longer than `longest` characters is truncated with "...".
[[nodiscard]] std::string printable(const std::string& text, std::size_t longest);
/// The same of the name of an op or value, shortened as layer_name() does, with an ellipsis or, in ASCII,
/// "~".
[[nodiscard]] std::string printable_name(const std::string& name, std::size_t longest, bool unicode = true);

}  // namespace poet
