#pragma once

// Selects the plan by which a run goes on, from signals, a control file, the limit of a control group and the
// machine's memory pressure. The source that asks for the smallest plan decides.
//
//   signals, control file   at once, in both directions
//   limit of the group      to smaller plans at once; back once there has been room for `calm`
//   pressure                one plan smaller if it is at least `high` percent, and again after `settle`,
//                           since percentages are averages over ten seconds; one larger once it has been
//                           below `low`, or cannot be read any more, for `calm`

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "poet/base/units.h"
#include "poet/runtime/training/control_file.h"
#include "poet/runtime/training/trainer.h"

namespace poet::runtime {

struct PlanWatchOptions {
  std::optional<std::filesystem::path> control = {};  // control_file.h
  std::vector<std::filesystem::path> pressure = {};   // files as /proc/pressure/memory; the highest counts
  std::vector<std::filesystem::path> groups = {};     // folders of control groups; the least limit counts
  double high = 10;                                   // percent
  double low = 1;
  Seconds settle{10};
  Seconds calm{60};
  Seconds poll{0.5};  // pressure and groups are looked at no more often
};

/// The environment of a watch.
struct PlanWatchHooks {
  std::function<Seconds()> now;                           // since any point in time
  std::function<Bytes()> outside;                         // RAM of the process beyond that of its plan
  std::function<void(const std::string& notice)> notice;  // one line, once per event
  /// Returns how many plans smaller (larger: negative) were asked for since the last call; may be empty.
  std::function<int()> signals;
};

/// Polled between steps only; has no thread.
class PlanWatch {
 public:
  /// `budgets` from the largest to the smallest, at least one; `memory` is the RAM of each plan. Throws
  /// InputError for an invalid control file.
  PlanWatch(std::vector<Bytes> budgets, std::vector<Bytes> memory, PlanWatchOptions options,
            PlanWatchHooks hooks);

  /// Returns the plan for step `step`, if it is not `present`.
  [[nodiscard]] std::optional<PlanRequest> choose(std::int64_t step, std::size_t present);

  /// Reports that the requested switch was declined: it is not requested again for `calm`, unless another one
  /// is.
  void declined();

 private:
  struct Level {
    std::size_t plan = 0;  // the largest that is allowed
    std::string reason;    // why it is this one
  };

  void read_control(std::int64_t step);
  void take_signals(std::size_t present);
  void look_at_groups(Seconds now);
  void look_at_pressure(Seconds now, std::size_t present);
  void notice_once(std::string& last, const std::string& notice) const;

  std::vector<Bytes> budgets_, memory_;
  PlanWatchOptions options_;
  PlanWatchHooks hooks_;
  std::array<Level, 4> levels_;       // of signals, control file, groups, pressure
  std::size_t decides_ = 0;           // of these the one that decided last
  std::vector<ControlLine> control_;  // as it was understood last
  std::string control_notice_, group_notice_, pressure_notice_;
  std::optional<Seconds> polled_;
  std::optional<Seconds> room_since_;    // in the groups,
  std::size_t room_for_ = 0;             // for this plan at least
  std::optional<Seconds> calm_since_;    // without pressure
  std::optional<Seconds> stepped_down_;  // for pressure
  std::size_t asked_ = 0;                // the last request,
  std::optional<Seconds> declined_at_;   // and that it could not be carried out
};

}  // namespace poet::runtime
